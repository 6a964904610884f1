"""`racwire lab …`: run the practice cluster from the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import racwire_lab
from racwire_lab.lab_errors import LabError, LabUsageError
from tui.cli.errors import UsageError
from tui.cli.options import ENTERED, without_lab

if TYPE_CHECKING:
    from racwire_lab import Lab

# Only `racwire lab` needs racwire_lab.status and racwire_lab.up_options; `racwire --lab` would wait for them.
_EXIT_OK, _EXIT_FAILED, _EXIT_USAGE = 0, 2, 64
_NO_LAB = "There is no practice cluster; start one with `racwire lab up`."
_WHICH_NODE = "node, such as rac1 or 1"
_NODE_HELP = "node of the fault, such as rac2 or 2"
_NETWORK_HELP = "private network of the fault: 1 or eth1, 2 or eth2"

_ABOUT = """\
Run a practice cluster on this machine, and break it.

Its RAC nodes are network namespaces with real NICs, a real network and ssh
between them. oifcfg, olsnodes, crsctl, srvctl and ocrconfig act as those of
Oracle Grid Infrastructure 19c. Its database instances exchange real blocks over
the private networks, and answer a real Oracle client with what they counted.
The practice cluster touches nothing outside it.

With --lab, racwire uses the settings file of the practice cluster, not yours;
`racwire lab status` names that file, and --settings FILE overrides it."""

_EXAMPLES = """\
examples:
  racwire lab up                  start two nodes, in a second
  racwire check --lab             check them: everything passes
  racwire lab break switch-mtu    a switch port that drops jumbo frames
  racwire check --lab             check them again: the fault is found
  racwire lab shell rac1          open a shell on a node
  racwire lab mend                fix all faults
  racwire lab reboot rac2         reboot a node
  racwire lab down                stop the cluster and remove all its files

exit codes: 0 done; 2 not possible; 64 no such fault, node or network."""


def add_options(lab: argparse.ArgumentParser) -> None:
    """Add the commands of `racwire lab`."""
    from racwire_lab import switch_options
    from racwire_lab.status import profile_lines
    from racwire_lab.up_options import UP_EXAMPLES, add_up_options

    lab.description = _ABOUT
    lab.epilog = _EXAMPLES
    commands = lab.add_subparsers(title="commands", dest="lab_command", metavar="COMMAND")

    notes = "\n".join(("Profiles for --like:", *profile_lines()))
    add_up_options(_command(commands, "up", "start the practice cluster", UP_EXAMPLES, notes))
    _command(
        commands,
        "down",
        "stop the practice cluster and remove all its files",
        """\
racwire lab down
racwire lab down && racwire lab up --nodes 4""",
        "The command succeeds also when there is no practice cluster.",
    )
    status = _command(
        commands,
        "status",
        "list the nodes and the faults of the practice cluster",
        """\
racwire lab status
racwire lab status --format json
racwire lab status --losses 20""",
        codes="0 printed; 2 there is no practice cluster",
    )
    status.add_argument(
        "--losses", metavar="S", nargs="?", const="60",
        help="count the blocks lost in the last S seconds (60), and say which fault dropped them",
    )  # fmt: skip
    status.add_argument("--format", choices=("text", "json"), default="text", help="format (default text)")

    break_ = _command(
        commands,
        "break",
        "add a fault to the practice cluster",
        """\
racwire lab break switch-mtu
racwire lab break link-down --node rac1 --network eth1
racwire lab break loss-in --node rac2 --share 2""",
        "Several faults at once are possible, also at the same place.\n\n"
        f"`racwire lab faults` explains the faults:\n{textwrap.fill(', '.join(racwire_lab.FAULTS), 78)}",
    )
    break_.add_argument("fault", metavar="FAULT", help="the fault: see `racwire lab faults`")
    place = break_.add_argument_group("where")
    place.add_argument("--node", metavar="N", help=_NODE_HELP)
    place.add_argument("--network", metavar="N", help=_NETWORK_HELP)
    break_.add_argument(
        "--share", metavar="PERCENT", type=float, help="share of the packets that the fault drops, in percent"
    )

    mend = _command(
        commands,
        "mend",
        "fix one fault everywhere, or all faults",
        """\
racwire lab mend loss
racwire lab mend""",
    )
    mend.add_argument("fault", metavar="FAULT", nargs="?", help="the fault to fix (default: all faults)")
    _command(
        commands,
        "faults",
        "list the faults: what each does, and where by default",
        """\
racwire lab faults
racwire lab faults | less""",
    )

    shell = _command(
        commands,
        "shell",
        "run a shell or a command on a node",
        """\
racwire lab shell rac1
racwire lab shell rac1 --as grid
racwire lab shell rac2 ip -br address""",
    )
    shell.add_argument("--as", dest="as_user", metavar="USER", default="", help="user of the node (default: root)")
    shell.add_argument("node", metavar="NODE", help=_WHICH_NODE)
    shell.add_argument("argv", metavar="COMMAND", nargs=argparse.REMAINDER, help="the command (default: a shell)")

    reboot = _command(
        commands,
        "reboot",
        "reboot a node",
        """\
racwire lab reboot rac2
racwire lab shell rac2 reboot""",
        "The node starts with the configuration in its files. It loses every process, and\n"
        "every configuration that its files do not contain. Both examples do the same.",
    )
    reboot.add_argument("node", metavar="NODE", help=_WHICH_NODE)

    switch_options.add_options(
        _command(
            commands,
            "switch",
            "list the private switch ports, change them, or show their counters",
            switch_options.EXAMPLES,
            switch_options.ABOUT,
        ),
        _command(
            commands,
            "hand",
            "do at the switch what a person does there by hand",
            switch_options.HAND_EXAMPLES,
            switch_options.HAND_ABOUT,
        ),
    )

    load = _command(
        commands,
        "load",
        "print how many blocks a second the instances exchange, or change it",
        """\
racwire lab load
racwire lab load 2000
racwire lab load off
racwire lab load default""",
        "N blocks of 8 KB a second in all: the instances really send them over the\n"
        "private networks. The output has the rate that their own counters show.",
    )
    load.add_argument("load", metavar="N", nargs="?", help="blocks a second of all instances, off, or default")


def run(args: argparse.Namespace) -> int:
    """Run a parsed `lab` command and return its exit code: 0 done, 2 not possible, 64 usage."""
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "up": _up,
        "down": _down,
        "status": _status,
        "break": _break,
        "mend": _mend,
        "faults": _faults,
        "shell": _shell,
        "reboot": _reboot,
        "switch": _switch,
        "hand": _hand,
        "load": _load,
    }
    if args.lab_command != "shell":
        os.environ.pop("RACWIRE_DB_PASSWORD", None)  # the processes of the practice cluster must not inherit it
    if args.lab_command is None:
        _print_status(f"No command for the practice cluster: run racwire lab {'|'.join(commands)}.")
        return _EXIT_USAGE
    if "RACWIRE_LAB" in os.environ and args.lab_command != "faults":
        _print_status("This shell is inside a practice node: leave it with `exit`, and run the command outside.")
        return _EXIT_FAILED
    try:
        return commands[args.lab_command](args)
    except LabError as error:
        _print_status(str(error))
        return _EXIT_USAGE if isinstance(error, LabUsageError) else _EXIT_FAILED


def _up(args: argparse.Namespace) -> int:
    from racwire_lab.up_options import up_as

    running = racwire_lab.find()
    lab = up_as(args, _print_status)
    if running is not None:
        _print_status(f"The practice cluster is already up: {', '.join(lab.nodes)}.")
    database = f" and database {lab.database_version}" if lab.database else ""
    print(f"{', '.join(lab.nodes)} are up, with MTU {lab.mtu} on the private networks{database}.")
    check = "racwire check --lab"
    if lab.users:
        check += f" --as {lab.users[0]}"
    _print_status(f"Next: `{check}`, `racwire lab break switch-mtu`, and at the end `racwire lab down`.")
    return _EXIT_OK


def _down(_: argparse.Namespace) -> int:
    print("The practice cluster is down." if racwire_lab.down() else "There was no practice cluster.")
    return _EXIT_OK


def _status(args: argparse.Namespace) -> int:
    from racwire_lab.cluster.losses import checked_seconds, since
    from racwire_lab.loss_lines import loss_lines
    from racwire_lab.status import status_document, status_lines

    lab = racwire_lab.find()
    losses = lab.losses(*since(checked_seconds(args.losses))) if lab and args.losses else None
    if args.format == "json":
        print(json.dumps(status_document(lab) | ({"losses": asdict(losses)} if losses else {}), indent=2))
    elif lab is not None:
        print("\n".join([*status_lines(lab), *(loss_lines(losses, lab.nodes) if losses else ())]))
    if lab is None:
        _print_status(_NO_LAB)
        return _EXIT_FAILED
    return _EXIT_OK


def _break(args: argparse.Namespace) -> int:
    before = _running()
    after = before.break_(args.fault, args.node, args.network, args.share)
    new = [fault for fault in after.faults if fault not in before.faults]
    if new:
        print(f"Broken: {after.described(new[0])}. {racwire_lab.FAULTS[new[0].fault].summary}")
        _print_status(f"Next: `racwire check --lab`; to fix the fault: `racwire lab mend {args.fault}`.")
    else:
        print(f"The fault {args.fault} is already there.")
    return _EXIT_OK


def _mend(args: argparse.Namespace) -> int:
    before = _running()
    after = before.mend(args.fault)
    fixed = [before.described(fault) for fault in before.faults if fault not in after.faults]
    print(f"Fixed: {', '.join(fixed)}." if fixed else "There was no fault to fix.")
    return _EXIT_OK


def _faults(_: argparse.Namespace) -> int:
    for fault in racwire_lab.FAULTS.values():
        print(f"{fault.name}\n    {fault.summary}")
        print(textwrap.fill(fault.effect, 100, initial_indent="    ", subsequent_indent="    "))
        share = f", {fault.share:g} %" if fault.share else ""
        print(f"    Default place: {fault.default_place}{share}.{f' Needs {fault.needs}.' if fault.needs else ''}\n")
    return _EXIT_OK


def _shell(args: argparse.Namespace) -> int:
    lab = _running()
    user, argv = args.as_user, args.argv
    if argv[:1] == ["--as"]:  # after NODE, argparse takes the option for a part of COMMAND
        if len(argv) == 1:
            raise LabUsageError("--as needs the name of a user: `racwire lab shell rac1 --as grid`.")
        user, argv = argv[1], argv[2:]
    variables = lab.environment(args.node, user)
    argv = argv or [variables.get("SHELL") or os.environ.get("SHELL", "/bin/sh")]
    command = lab.enter(args.node, argv, user)
    sys.stdout.flush()
    os.execve(command[0], command, {**os.environ, **variables})


def _reboot(args: argparse.Namespace) -> int:
    node = _running().reboot(args.node)
    print(f"{node} is up again, with the configuration in its files.")
    _print_status(
        f"Next: `racwire lab shell {node} ip -br link`. Clusterware starts by itself if its autostart is enabled."
    )
    return _EXIT_OK


def _switch(args: argparse.Namespace) -> int:
    from racwire_lab.switch_options import switch_lines

    print("\n".join(switch_lines(_running(), args)))
    return _EXIT_OK


def _hand(args: argparse.Namespace) -> int:
    from racwire_lab.switch_options import hand_lines

    print("\n".join(hand_lines(_running(), args)))
    return _EXIT_OK


def _load(args: argparse.Namespace) -> int:
    from racwire_lab.cluster.load import checked_load

    lab = _running()
    if args.load is not None:
        lab = lab.set_load(checked_load(args.load))
    wanted = "their usual load" if lab.blocks_per_s is None else f"{lab.blocks_per_s:,} are wanted"
    print(f"The instances exchange {lab.measured_load():,.0f} blocks/s in all: {wanted}.")
    return _EXIT_OK


def _running() -> Lab:
    lab = racwire_lab.find()
    if lab is None:
        raise LabError(_NO_LAB)
    return lab


def _print_status(text: str) -> None:
    print(f"racwire: {text}", file=sys.stderr)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    examples: str,
    about: str = "",
    codes: str = "0 done; 2 not possible; 64 usage",
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{about}".strip(),
        epilog=f"examples:\n{textwrap.indent(examples, '  ')}\n\nexit codes: {codes}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def enter_lab(argv: list[str], user: str = "") -> None:
    """Continue this process in a new one on the first practice node, as root; or replace it there by `racwire` as
    another `user`. In the shell of a practice node, do nothing.

    Raises UsageError where no practice cluster runs, the nodes have no such user, or the current directory does not
    exist.
    """
    if "RACWIRE_LAB" in os.environ:
        if user:
            raise UsageError("--as works outside the practice nodes: leave this shell with `exit`.")
        return
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("The current directory no longer exists; change to another one.") from None
    try:
        if user in ("", "root"):
            # Without a second start of Python: the first screen would wait for it.
            from racwire_lab.cluster.entering import continue_in_first_node

            if not continue_in_first_node():
                raise LabError(_NO_LAB)
            os.environ[ENTERED] = f"--lab --as {user}" if user else "--lab"
            return
        lab = _running()
        node = lab.nodes[0]
        command = lab.enter(node, [sys.executable, "-P", "-m", "racwire", *without_lab(argv)], user)
        # No Python on the way may set LC_CTYPE: racwire would take that for the locale of the terminal.
        variables = {**lab.environment(node, user), ENTERED: f"--lab --as {user}", "PYTHONCOERCECLOCALE": "0"}
        os.execvpe(command[0], command, {**os.environ, **variables})
    except LabError as error:
        raise UsageError(str(error)) from error
