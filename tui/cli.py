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
from tui.database_options import DATABASE_OPTIONS, add_database_options, with_database_options
from tui.errors import UsageError
from tui.grants_command import add_grants_parser, run_grants
from tui.streams import give_up_stdout, open_closed_streams, tell

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
  racwire lab up                   a practice cluster on this machine; --lab makes check, plan and the console use it

racwire changes nothing, on no node, switch or database: it prints commands, you run them.
exit codes: 0 all pass, 1 warnings, 2 failures, 3 could not tell, 64 usage, 130 interrupted."""


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


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    common = _common_options()
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
    add_grants_parser(commands)
    commands.add_parser("settings", help="print an annotated settings file with all defaults")
    commands.add_parser("schema", help="print the JSON Schema of `check --format json`")
    from tui.lab_commands import add_lab_parser

    add_lab_parser(commands)
    return parser


def _common_options() -> Parser:
    options = Parser(add_help=False)
    # SUPPRESS: an option given before the command must not be overwritten by the command's own default.
    unset = argparse.SUPPRESS
    where = options.add_argument_group("which cluster")
    where.add_argument("--lab", action="store_true", default=unset, help="the practice cluster (racwire lab up)")
    where.add_argument("--grid-home", metavar="DIR", default=unset, help="the Grid Infrastructure home")
    where.add_argument(
        "--network",
        action="append",
        metavar="SUBNET",
        default=unset,
        help="a private network, such as 192.168.10.0/24, where there is no Clusterware to ask (repeatable)",
    )
    where.add_argument(
        "--peer", action="append", metavar="HOST", default=unset, help="another node, as ssh reaches it (repeatable)"
    )
    where.add_argument("--settings", metavar="FILE", default=unset, help="settings file (racwire settings prints one)")
    add_database_options(options)
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
    args = build_parser().parse_args(words)
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
        from tui.console import run_console

        return run_console(settings)
    except (UsageError, SettingsError) as error:
        tell(str(error))
        return ExitCode.USAGE


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
