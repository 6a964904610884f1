"""The `racwire` command: its arguments, and which part does the work."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import msgspec

from checks.model.report import ExitCode
from checks.model.settings import Settings
from checks.run.settings_file import SettingsError, load_settings, template
from checks.run.settings_values import mistakes
from tui.cli.check_options import add_check_parser, add_explain_parser, add_plan_parser
from tui.cli.common_options import add_cluster_options, add_looks_options, add_settings_option
from tui.cli.compare_options import add_compare_parser
from tui.cli.database_options import (
    DATABASE_OPTIONS,
    SAMPLING_OPTIONS,
    add_database_options,
    add_sampling_options,
    with_database_options,
)
from tui.cli.errors import UsageError
from tui.cli.report_options import add_diff_parser, add_report_parser, add_save_parser, add_waive_parser
from tui.cli.streams import give_up_stdout, open_closed_streams, tell
from tui.cli.traffic_options import add_open_parser, add_record_parser, add_watch_parser

EXAMPLES = """\
examples:
  racwire                          the console, full screen
  racwire check                    all checks, as text; exit code 0 pass, 1 warnings, 2 failures, 3 could not tell
  racwire check df-ping            one check
  racwire report -o report.html    to hand on: HTML, Markdown, JSON, JUnit, OpenMetrics
  racwire save night.racwire       all evidence in one file; racwire open night.racwire shows it anywhere
  racwire diff night.racwire morning.racwire     what got better, what got worse
  racwire check --connect rac-scan:1521/prod --user racwire      network and database together
  racwire grants                   the script for a database user that can only read
  racwire explain IC-PATH-003      what a code means
  racwire plan                     every file, command, query and packet of checks and live samples, without using it
  racwire record --for 30m before.rec      the traffic of all nodes and instances, second by second
  racwire open before.rec          a recording in the console
  racwire compare before.rec after.rec     what a change did, and which differences are noise
  racwire watch | jq .             the traffic as JSON lines
  racwire change --help            to jumbo frames and back, one proved step after the other
  racwire lab up                   a practice cluster on this machine; racwire looks at it with --lab

racwire changes nothing, on no node, switch or database: it prints commands, you run them.
Options before the command hold for every command that has a use for them.
exit codes: 0 all pass, 1 warnings, 2 failures, 3 could not tell, 64 usage, 130 interrupted."""


OPTIONS = {
    "cluster.networks": "--network",
    "cluster.peers": "--peer",
    "cluster.grid_home": "--grid-home",
    **{option.place: option.name for option in (*DATABASE_OPTIONS, *SAMPLING_OPTIONS)},
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
    cluster = add_cluster_options, add_database_options
    checked = _sharing(*cluster, add_sampling_options)
    sampled = _sharing(*cluster)
    parser = Parser(
        prog="racwire",
        description="Finds out what is wrong with the private interconnect of an Oracle RAC cluster, from one node.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_sharing(*cluster, add_sampling_options, add_looks_options)],
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands: argparse._SubParsersAction[argparse.ArgumentParser]
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    add_check_parser(commands, checked)
    add_report_parser(commands, checked)
    add_save_parser(commands, checked)
    add_diff_parser(commands)
    add_waive_parser(commands)
    add_explain_parser(commands)
    add_plan_parser(commands, checked)
    add_record_parser(commands, sampled)
    add_open_parser(commands, _sharing(add_settings_option, add_looks_options))
    add_compare_parser(commands)
    add_watch_parser(commands, sampled)
    if "change" in words:
        from tui.cli.change_options import add_change_parser

        add_change_parser(commands, checked, _sharing(add_looks_options))
    else:
        commands.add_parser("change", help="change the MTU, one proved step after the other, and back")
    if "grants" in words:
        from tui.cli.grants_command import add_grants_parser

        add_grants_parser(commands)
    else:
        commands.add_parser("grants", help="print the script for a database user that can only read")
    commands.add_parser("settings", help="print an annotated settings file with all defaults")
    commands.add_parser("schema", help="print the JSON Schema of `check --format json`")
    if "lab" in words:  # what takes long to load waits until it is asked for: the console is to be there at once
        from tui.cli.lab_commands import add_lab_parser

        add_lab_parser(commands)
    else:
        commands.add_parser("lab", help="practise on a cluster of your own, and break it")
    return parser


def _sharing(*groups: Callable[[Parser], None]) -> Parser:
    """A parent with these groups of options."""
    options = Parser(add_help=False)
    for add in groups:
        add(options)
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    open_closed_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    args, unknown = build_parser(words).parse_known_args(words)
    if hasattr(args, "ids") and not any(word.startswith("-") for word in unknown):
        args.ids, unknown = [*args.ids, *unknown], []  # argparse takes no more of them after an option
    if unknown:
        return _refuse(unknown[0], args.command)
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
    except MemoryError:
        tell("there is not enough memory for that here: look at fewer checks or a shorter time, or go where more is.")
        give_up_stdout()
        return ExitCode.COULD_NOT_TELL


def _refuse(word: str, command: str | None) -> int:
    """Tell that there is no such option; its value, which may be a password, is not repeated."""
    name = word.partition("=")[0]
    if command is None:
        tell(f"There is no option {name}; see `racwire --help`.")
    else:
        tell(f"{command} takes no {name}; see `racwire {command} --help`.")
    return ExitCode.USAGE


def _run(args: argparse.Namespace, words: list[str]) -> int:
    try:
        if args.version:
            return _print(f"racwire {_version()}\n")
        if args.command == "lab":
            from tui.cli.lab_commands import run_lab

            return run_lab(args)
        if args.command == "settings":
            return _print(template())
        if args.command == "schema":
            from checks.report.json_report import schema

            return _print(schema().decode())
        if args.command == "grants":
            from tui.cli.grants_command import run_grants

            return run_grants(args)
        if args.command == "explain":
            from tui.cli.explain_command import run_explain

            return run_explain(args)
        if args.command == "diff":
            from tui.cli.diff_command import run_diff

            return run_diff(args)
        if args.command == "waive":
            from tui.cli.waive_command import run_waive

            return run_waive(args)
        if getattr(args, "lab", False) and not getattr(args, "from_file", None):
            from tui.cli.lab_entry import enter_lab

            enter_lab(words)
        settings = effective_settings(args)
        if args.command == "plan":
            from tui.cli.plan_command import run_plan

            return run_plan(args, settings)
        if args.command == "check":
            from tui.cli.check_command import run_check

            return run_check(args, settings)
        if args.command in ("report", "save"):
            return _run_report(args, settings)
        if args.command in ("record", "open", "compare", "watch"):
            return _run_traffic(args, settings)
        if args.command == "change":
            from tui.cli.change_command import run_change

            return run_change(args, settings)
        from tui.console.start import run_console

        return run_console(settings)
    except (UsageError, SettingsError) as error:
        tell(str(error))
        return ExitCode.USAGE


def _run_report(args: argparse.Namespace, settings: Settings) -> int:
    if args.command == "save":
        from tui.cli.save_command import run_save

        return run_save(args, settings)
    from tui.cli.report_command import run_report

    return run_report(args, settings)


def _run_traffic(args: argparse.Namespace, settings: Settings) -> int:
    if args.command == "record":
        from tui.cli.record_command import run_record

        return run_record(args, settings)
    if args.command == "watch":
        from tui.cli.watch_command import run_watch

        return run_watch(args, settings)
    if args.command == "compare":
        from tui.cli.compare_command import run_compare

        return run_compare(args)
    from tui.cli.open_command import run_open

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
    from checks.run.engine import racwire_version

    return racwire_version()


def _print(text: str) -> int:
    sys.stdout.write(text)
    return ExitCode.PASS
