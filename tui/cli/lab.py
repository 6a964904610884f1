"""`racwire lab …`: the practice cluster from the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Callable, Sequence

from racwire_lab import (
    DATABASE_VERSIONS,
    FAULTS,
    KEEPERS,
    MIXED,
    SWITCH_MTU,
    Lab,
    LabError,
    LabUsageError,
    down,
    find,
    up,
)
from racwire_lab.status import port_lines, status_document, status_lines
from tui.cli.errors import UsageError
from tui.cli.options import ENTERED

_EXIT_OK, _EXIT_FAILED, _EXIT_USAGE = 0, 2, 64
_NO_LAB = "There is no practice cluster: run `racwire lab up`."
_WHICH_NODE = "the node: rac1 or 1"
_NODE_HELP = "the node to break it at: rac2 or 2"
_NETWORK_HELP = "the private network to break it at: 1 or eth1, 2 or eth2"

_ABOUT = """\
A practice cluster: RAC nodes as namespaces of this machine, with real NICs, a real network, ssh between them, and an
oifcfg, olsnodes, crsctl, srvctl and ocrconfig that answer and act as those of Oracle Grid Infrastructure 19c. Its
database instances exchange real blocks over the private networks, and answer a real Oracle client with what they
counted. Nothing outside it is touched, and `racwire lab down` leaves
nothing behind.

With --lab, racwire uses the practice cluster's own settings file, which `racwire lab status` names, and not yours;
--settings FILE gives another.

  racwire lab up                    two nodes, in a second
  racwire check --lab               what racwire finds in it: nothing is wrong
  racwire lab break switch-mtu      a switch port that drops jumbo frames
  racwire check --lab               what racwire says now
  racwire lab shell rac1            look around on a node yourself
  racwire lab mend                  all in order again
  racwire lab reboot rac2           a node comes up as its own files say
  racwire lab down

Exit codes: 0 done, 2 it could not be done, 64 there is no such fault, node or network.
"""


def add_options(lab: argparse.ArgumentParser) -> None:
    """Add the commands of `racwire lab`."""
    lab.description = f"Practise on a cluster of your own, and break it.\n\n{_ABOUT}".strip()
    commands = lab.add_subparsers(dest="lab_command", metavar="COMMAND")

    command = _command(commands, "up", "bring the practice cluster up", "Example: racwire lab up --nodes 4 --mtu 9000")
    command.add_argument("--nodes", type=int, default=2, metavar="N", help="how many nodes: 2 to 16 (default 2)")
    command.add_argument(
        "--mtu", type=int, default=9000, metavar="BYTES", help="MTU of the private networks (default 9000)"
    )
    command.add_argument(
        "--switch-mtu",
        type=int,
        default=SWITCH_MTU,
        metavar="BYTES",
        help=f"MTU of the switch's ports on the private networks (default {SWITCH_MTU}); see `racwire lab switch`",
    )
    command.add_argument("--no-database", action="store_true", help="the nodes and their networks only")
    command.add_argument(
        "--database-version",
        choices=DATABASE_VERSIONS,
        default="19c",
        help="the version that its database is of (default 19c)",
    )
    command.add_argument(
        "--keeper",
        choices=(*KEEPERS, MIXED),
        default=KEEPERS[0],
        help="in which files the nodes keep their network: NetworkManager's keyfiles, ifcfg, systemd-networkd's, or "
        f"each of them in turn (default {KEEPERS[0]})",
    )
    _command(commands, "down", "take it down and remove all that is left of it", "Succeeds also when there is none.")
    command = _command(commands, "status", "say what is up and what is broken", "Exit code 2 when there is none.")
    command.add_argument("--format", choices=("text", "json"), default="text", help="how to print it (default text)")

    command = _command(
        commands,
        "break",
        "break something in it",
        "Several faults at once are fine, also at the same place.\n\n"
        "  racwire lab break switch-mtu\n"
        "  racwire lab break link-down --node rac1 --network eth1\n\n"
        f"The faults, explained by `racwire lab faults`:\n{textwrap.fill(', '.join(FAULTS), 100)}",
    )
    command.add_argument("fault", metavar="FAULT", help="what to break: see `racwire lab faults`")
    command.add_argument("--node", metavar="N", help=_NODE_HELP)
    command.add_argument("--network", metavar="N", help=_NETWORK_HELP)

    command = _command(commands, "mend", "mend one fault everywhere, or all of them", "Example: racwire lab mend loss")
    command.add_argument("fault", metavar="FAULT", nargs="?", help="what to mend (default: everything)")
    _command(commands, "faults", "list the faults: what each does, and where by default", "")

    command = _command(
        commands,
        "shell",
        "run a shell or a command on a node",
        "  racwire lab shell rac1\n  racwire lab shell rac2 ip -br address",
    )
    command.add_argument("node", metavar="NODE", help=_WHICH_NODE)
    command.add_argument("argv", metavar="COMMAND", nargs=argparse.REMAINDER, help="the command (default: a shell)")

    command = _command(
        commands,
        "reboot",
        "reboot a node",
        "It comes up as its own files say, and loses what they do not keep: what was set by hand, and every process.\n"
        "The same as `reboot` on the node itself. Example: racwire lab reboot rac2",
    )
    command.add_argument("node", metavar="NODE", help=_WHICH_NODE)

    command = _command(
        commands,
        "switch",
        "list the switch's ports on the private networks, or change their MTU",
        "A port loses what is larger than its MTU, both ways and without a word, as a real switch does.\n\n"
        "  racwire lab switch\n"
        "  racwire lab switch rac2-eth1 mtu 1500\n"
        "  racwire lab switch all mtu 9216",
    )
    command.add_argument("port", metavar="PORT", nargs="?", help="the port, as rac2-eth1, or all")
    command.add_argument("setting", metavar="mtu", nargs="?", choices=("mtu",), help="what to change of it")
    command.add_argument("bytes", metavar="BYTES", nargs="?", type=int, help="its MTU from now on")


def run(args: argparse.Namespace) -> int:
    """Carry out a parsed `lab` command; the exit code: 0 done, 2 could not be done, 64 not understood."""
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
    }
    if args.lab_command != "shell":
        os.environ.pop("RACWIRE_DB_PASSWORD", None)  # what is started here and goes on running is not to hold it
    if args.lab_command is None:
        _narrate(f"Say what to do with the practice cluster: racwire lab {'|'.join(commands)}.")
        return _EXIT_USAGE
    if "RACWIRE_LAB" in os.environ and args.lab_command != "faults":
        _narrate("This shell is inside a practice node: leave it with `exit`, and run the command outside.")
        return _EXIT_FAILED
    try:
        return commands[args.lab_command](args)
    except LabError as error:
        _narrate(str(error))
        return _EXIT_USAGE if isinstance(error, LabUsageError) else _EXIT_FAILED


def _up(args: argparse.Namespace) -> int:
    running = find()
    lab = up(
        args.nodes,
        args.mtu,
        _narrate,
        database=not args.no_database,
        database_version=args.database_version,
        keeper=args.keeper,
        switch_mtu=args.switch_mtu,
    )
    if running is not None:
        _narrate(f"The practice cluster is already up: {', '.join(lab.nodes)}.")
    database = f" and database {lab.database_version}" if lab.database else ""
    print(f"{', '.join(lab.nodes)} are up, with MTU {lab.mtu} on the private networks{database}.")
    _narrate("Next: `racwire check --lab`, `racwire lab break switch-mtu`, and at the end `racwire lab down`.")
    return _EXIT_OK


def _down(_: argparse.Namespace) -> int:
    print("The practice cluster is down." if down() else "There was no practice cluster.")
    return _EXIT_OK


def _status(args: argparse.Namespace) -> int:
    lab = find()
    if args.format == "json":
        print(json.dumps(status_document(lab), indent=2))
    elif lab is not None:
        print("\n".join(status_lines(lab)))
    if lab is None:
        _narrate(_NO_LAB)
        return _EXIT_FAILED
    return _EXIT_OK


def _break(args: argparse.Namespace) -> int:
    before = _running()
    after = before.break_(args.fault, args.node, args.network)
    new = [fault for fault in after.faults if fault not in before.faults]
    if new:
        print(f"Broken: {new[0]}. {FAULTS[new[0].fault].summary}")
        _narrate(f"Next: `racwire check --lab`; `racwire lab mend {args.fault}` puts it right.")
    else:
        print(f"{args.fault} is broken there already.")
    return _EXIT_OK


def _mend(args: argparse.Namespace) -> int:
    before = _running()
    after = before.mend(args.fault)
    mended = [str(fault) for fault in before.faults if fault not in after.faults]
    print(f"Mended: {', '.join(mended)}." if mended else "There was nothing to mend.")
    return _EXIT_OK


def _faults(_: argparse.Namespace) -> int:
    for fault in FAULTS.values():
        where = " ".join(
            part
            for part in (fault.default_node, f"eth{fault.default_network}" if fault.default_network else None)
            if part
        )
        where = where or ("every node" if fault.scope == "node" else "the whole cluster")
        print(f"{fault.name}\n    {fault.summary}")
        print(textwrap.fill(fault.effect, 100, initial_indent="    ", subsequent_indent="    "))
        print(f"    By default at: {where}.{f' Needs {fault.needs}.' if fault.needs else ''}\n")
    return _EXIT_OK


def _shell(args: argparse.Namespace) -> int:
    lab = _running()
    argv: Sequence[str] = args.argv or [os.environ.get("SHELL", "/bin/sh")]
    command = lab.enter(args.node, argv)
    sys.stdout.flush()
    os.execve(command[0], command, {**os.environ, **lab.environment(args.node)})


def _reboot(args: argparse.Namespace) -> int:
    node = _running().reboot(args.node)
    print(f"{node} is up again, as its own files say.")
    _narrate(f"Next: `racwire lab shell {node} ip -br link`; Clusterware starts by itself where that is enabled.")
    return _EXIT_OK


def _switch(args: argparse.Namespace) -> int:
    lab = _running()
    if args.port is not None:
        if args.setting != "mtu" or args.bytes is None:
            raise LabUsageError("Say which MTU the port is to have: `racwire lab switch rac2-eth1 mtu 9216`.")
        lab = lab.set_port_mtu(args.port, args.bytes)
    print("\n".join(port_lines(lab)))
    return _EXIT_OK


def _running() -> Lab:
    lab = find()
    if lab is None:
        raise LabError(_NO_LAB)
    return lab


def _narrate(text: str) -> None:
    print(f"racwire: {text}", file=sys.stderr)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str, about: str
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{about}".strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def enter_lab(words: list[str]) -> None:
    """Replace this process by `racwire` inside the lab's first node; in the shell of a node one is there already.

    Raises UsageError when there is no lab.
    """
    if "RACWIRE_LAB" in os.environ:
        return
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("The current directory is gone; change to one that is there.") from None
    try:
        lab = find()
        if lab is None:
            raise UsageError("No practice cluster is running; `racwire lab up` builds one in seconds.")
        node = lab.nodes[0]
        command = lab.enter(node, [sys.executable, "-P", "-m", "tui", *(w for w in words if w != "--lab")])
        os.execvpe(command[0], command, {**os.environ, **lab.environment(node), ENTERED: "1"})
    except LabError as error:
        raise UsageError(str(error)) from error
