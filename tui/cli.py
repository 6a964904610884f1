"""The `racwire` command: its arguments, and which part does the work."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

import msgspec

from checks.result import ExitCode
from checks.settings import Settings
from checks.settings_file import SettingsError, load_settings, template
from checks.settings_values import mistakes
from tui.compare_options import add_compare_parser
from tui.database_options import DATABASE_OPTIONS, add_database_options, with_database_options
from tui.errors import UsageError
from tui.streams import give_up_stdout, open_closed_streams, tell
from tui.traffic_options import add_open_parser, add_record_parser, add_watch_parser

EXAMPLES = """\
examples:
  racwire                          the console, full screen
  racwire check                    all checks, as text; exit code 0 pass, 1 warnings, 2 failures, 3 could not tell
  racwire check df-ping            one check
  racwire check --format json -o report.json
  racwire check --connect rac-scan:1521/prod --user racwire      network and database together
  racwire grants                   the script for a database user that can only read
  racwire explain IC-PATH-003      what a code means
  racwire plan                     every file, command, query and packet a check would use, without using it
  racwire record --for 30m before.rec      the traffic of all nodes and instances, second by second
  racwire open before.rec          a recording in the console
  racwire compare before.rec after.rec     what a change did, and which differences are noise
  racwire watch | jq .             the traffic as JSON lines
  racwire lab up                   a practice cluster on this machine; every command uses it with --lab

racwire changes nothing, on no node, switch or database: it prints commands, you run them.
exit codes: 0 all pass, 1 warnings, 2 failures, 3 could not tell, 64 usage, 130 interrupted."""


_UNSET = argparse.SUPPRESS
"""The default of options that may stand before the command: the command's own must not overwrite what is said there."""

OPTIONS = {
    "cluster.networks": "--network",
    "cluster.peers": "--peer",
    "cluster.grid_home": "--grid-home",
    **{option.place: option.name for option in DATABASE_OPTIONS},
}
"""The option that says over a setting."""


class Parser(argparse.ArgumentParser):
    """argparse with racwire's exit code for a wrong command line."""

    def error(self, message: str) -> NoReturn:
        """One sentence and where to read more."""
        tell(f"{message}; see `{self.prog} --help`.")
        self.exit(ExitCode.USAGE)


def build_parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The whole command line; in full detail for the commands that stand in `words`."""
    common = _common_options(reads_cluster=True)
    parser = Parser(
        prog="racwire",
        description="Finds out what is wrong with the private interconnect of an Oracle RAC cluster, from one node.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[common],
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands: argparse._SubParsersAction[argparse.ArgumentParser]
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    _add_check(commands, common)
    explain = commands.add_parser("explain", help="what a check does, or what a code means")
    explain.add_argument("what", nargs="?", metavar="ID|CODE", help="df-ping, IC-PATH-003, ...; without it: the list")
    plan = commands.add_parser("plan", parents=[common], help="what the checks would read and send, without doing it")
    plan.add_argument("ids", nargs="*", metavar="ID", help="only for these checks")
    add_record_parser(commands, common)
    add_open_parser(commands, common)
    add_compare_parser(commands, _common_options(reads_cluster=False))
    add_watch_parser(commands, common)
    if "grants" in words:
        from tui.grants_command import add_grants_parser

        add_grants_parser(commands)
    else:
        commands.add_parser("grants", help="print the script for a database user that can only read")
    commands.add_parser("settings", help="print an annotated settings file with all defaults")
    commands.add_parser("schema", help="print the JSON Schema of `check --format json`")
    if "lab" in words:  # what takes long to load waits until it is asked for: the console is to be there at once
        from tui.lab_commands import add_lab_parser

        add_lab_parser(commands)
    else:
        commands.add_parser("lab", help="practise on a cluster of your own, and break it")
    return parser


def _common_options(*, reads_cluster: bool) -> Parser:
    """The options that commands share: which cluster and, for those that read it, its places and its database."""
    options = Parser(add_help=False)
    where = options.add_argument_group("which cluster")
    where.add_argument("--lab", action="store_true", default=_UNSET, help="the practice cluster (racwire lab up)")
    where.add_argument("--settings", metavar="FILE", default=_UNSET, help="settings file (racwire settings prints one)")
    if not reads_cluster:
        return options
    where.add_argument("--grid-home", metavar="DIR", default=_UNSET, help="the Grid Infrastructure home")
    where.add_argument(
        "--network",
        action="append",
        metavar="SUBNET",
        default=_UNSET,
        help="a private network, such as 192.168.10.0/24, where there is no Clusterware to ask (repeatable)",
    )
    where.add_argument(
        "--peer", action="append", metavar="HOST", default=_UNSET, help="another node, as ssh reaches it (repeatable)"
    )
    add_database_options(options)
    looks = options.add_argument_group("the console")
    looks.add_argument("--no-mouse", action="store_true", default=_UNSET, help="leave the mouse to the terminal")
    looks.add_argument("--ascii", action="store_true", default=_UNSET, help="draw with ASCII signs only")
    looks.add_argument("--graphs", choices=("blocks", "braille"), default=_UNSET, help="how graphs are drawn")
    return options


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser], common: Parser) -> None:
    check = commands.add_parser(
        "check",
        parents=[common],
        help="run checks and print the report",
        description="Runs the checks on this node and its peers, and prints what was found, worst first.",
    )
    check.add_argument("ids", nargs="*", metavar="ID", help="only these checks (racwire explain lists them)")
    check.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")
    check.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    check.add_argument("-o", "--output", metavar="FILE", help="write the report to a file, whole or not at all")
    check.add_argument("--force", action="store_true", help="replace FILE if it is there")
    check.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    open_closed_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    args = build_parser(words).parse_args(words)
    try:
        code = _run(args, words)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        give_up_stdout()  # the reader has seen enough
        return ExitCode.PASS
    except OSError as error:
        tell(f"{error.filename or 'output'}: {error.strerror}.")
        give_up_stdout()
        return ExitCode.COULD_NOT_TELL


def _run(args: argparse.Namespace, words: list[str]) -> int:
    try:
        if args.version:
            return _print(f"racwire {_version()}\n")
        if args.command == "lab":
            from tui.lab_commands import run_lab

            return run_lab(args)
        if args.command == "settings":
            return _print(template())
        if args.command == "schema":
            from checks.report.json_report import schema

            return _print(schema().decode())
        if args.command == "grants":
            from tui.grants_command import run_grants

            return run_grants(args)
        if args.command == "explain":
            from tui.explain_command import run_explain

            return run_explain(args)
        if getattr(args, "lab", False):
            from tui.lab_entry import enter_lab

            enter_lab(words)
        settings = effective_settings(args)
        if args.command == "plan":
            from tui.plan_command import run_plan

            return run_plan(args, settings)
        if args.command == "check":
            from tui.check_command import run_check

            return run_check(args, settings)
        if args.command in ("record", "open", "compare", "watch"):
            return _run_traffic(args, settings)
        from tui.console import run_console

        return run_console(settings)
    except (UsageError, SettingsError) as error:
        tell(str(error))
        return ExitCode.USAGE


def _run_traffic(args: argparse.Namespace, settings: Settings) -> int:
    if args.command == "record":
        from tui.record_command import run_record

        return run_record(args, settings)
    if args.command == "watch":
        from tui.watch_command import run_watch

        return run_watch(args, settings)
    if args.command == "compare":
        from tui.compare_command import run_compare

        return run_compare(args)
    from tui.open_command import run_open

    return run_open(args, settings)


def effective_settings(args: argparse.Namespace) -> Settings:
    """The settings file with what the command line says over it. Raises SettingsError, UsageError."""
    settings = load_settings(getattr(args, "settings", None))
    said = {
        "grid_home": getattr(args, "grid_home", None),
        "networks": tuple(getattr(args, "network", ())),
        "peers": tuple(getattr(args, "peer", ())),
    }
    over = {name: value for name, value in said.items() if value}
    settings = msgspec.structs.replace(settings, cluster=msgspec.structs.replace(settings.cluster, **over))
    looks = {
        "mouse": False if getattr(args, "no_mouse", False) else None,
        "ascii": getattr(args, "ascii", None),
        "graphs": getattr(args, "graphs", None),
    }
    shown = {name: value for name, value in looks.items() if value is not None}
    settings = msgspec.structs.replace(settings, console=msgspec.structs.replace(settings.console, **shown))
    settings = with_database_options(args, settings)
    for place, mistake in mistakes(settings):
        raise UsageError(f"{OPTIONS.get(place, place)}: {mistake}")
    return settings


def _version() -> str:
    from checks.engine import racwire_version

    return racwire_version()


def _print(text: str) -> int:
    sys.stdout.write(text)
    return ExitCode.PASS
