"""The `racwire` command: its commands, and how each is found, parsed and run.

`racwire --help` loads no command: `COMMANDS` has a line of help for each, and the module that has its options
(`add_options`) and its run (`run`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from checks.model.broken_dependency import named_dependency
from checks.model.exit_codes import ExitCode
from tui import __version__
from tui.cli.errors import UsageError
from tui.cli.interrupts import ending_in_order
from tui.cli.options import add_check_options, add_console_options, effective_settings
from tui.cli.streams import give_up_stdout, open_closed_streams, tell

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


class Command(NamedTuple):
    """A command of racwire."""

    help: str
    module: str
    """Has `add_options(parser)` and `run(args, settings)`, or `run(args)` where `takes_settings` is False."""
    takes_settings: bool = True
    has_own_help: bool = False
    """Whether its `add_options` adds `--help` itself."""


COMMANDS = {
    "check": Command("run checks and print the report", "tui.cli.check"),
    "report": Command("write the report: HTML, Markdown, JSON, JUnit, OpenMetrics, text", "tui.cli.report"),
    "save": Command("run the checks and keep all evidence in one file", "tui.cli.save"),
    "diff": Command("what got better and worse between two reports or saved files", "tui.cli.diff", False),
    "waive": Command("print a waiver for the settings file", "tui.cli.waive", False),
    "explain": Command("what a check does, or what a code means", "tui.cli.explain", False),
    "plan": Command("what racwire would read, ask and send, without doing it", "tui.cli.dry_run"),
    "record": Command("record the traffic of all nodes and instances into a file", "tui.cli.record"),
    "open": Command("look at what was saved, or recorded, in the console", "tui.cli.open"),
    "compare": Command("compare two recordings, before and after a change", "tui.cli.compare", False),
    "watch": Command("print the traffic of all nodes and instances as JSON lines", "tui.cli.watch"),
    "change": Command(
        "change the MTU, one proved step after the other, and back",
        "tui.cli.change.change_command",
        has_own_help=True,
    ),
    "grants": Command("print the script for a database user that can only read", "tui.cli.grants", False),
    "settings": Command("print an annotated settings file with all defaults", "tui.cli.settings", False),
    "schema": Command("print the JSON Schema of `check --format json`", "tui.cli.schema", False),
    "lab": Command("practise on a cluster of your own, and break it", "tui.cli.lab", False),
}


WITHOUT_LAB = (
    "The practice cluster is not installed, as it should be on a production node; elsewhere, `pip install ./lab` in a "
    "checkout of racwire installs it."
)


class Parser(argparse.ArgumentParser):
    """argparse with racwire's exit code for a wrong command line."""

    def error(self, message: str) -> NoReturn:
        """Tell one sentence and where to read more."""
        tell(f"{message}; see `{self.prog} --help`.")
        self.exit(ExitCode.USAGE)


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The whole command line; of the commands, those that stand in `words` have their options."""
    parser = Parser(
        prog="racwire",
        description="Finds out what is wrong with the private interconnect of an Oracle RAC cluster, from one node.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_check_options(parser)
    add_console_options(parser)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, command in COMMANDS.items():
        own = parsers.add_parser(
            name,
            help=command.help,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=not command.has_own_help,
        )
        if name in words:
            with suppress(UsageError):  # it is told when the command is run
                _module(command).add_options(own)
    return parser


def _module(command: Command) -> Any:
    """The module of a command. Raises UsageError for the practice cluster where it is not installed."""
    try:
        return import_module(command.module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "racwire_lab":
            raise
        raise UsageError(WITHOUT_LAB) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    open_closed_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with ending_in_order():
            code = _run(words)
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        give_up_stdout()  # the reader has seen enough
        return ExitCode.PASS
    except (ImportError, OSError) as error:
        if sentence := named_dependency(error):
            tell(f"{sentence}.")
            return ExitCode.COULD_NOT_TELL
        if isinstance(error, ImportError):
            raise
        tell(f"{error.filename or 'output'}: {error.strerror}.")
        give_up_stdout()
        return ExitCode.COULD_NOT_TELL
    except MemoryError:
        tell("there is not enough memory for that here: look at fewer checks or a shorter time, or go where more is.")
        give_up_stdout()
        return ExitCode.COULD_NOT_TELL


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        return _print_version()
    args, unknown = build_parser(words).parse_known_args(words)
    if hasattr(args, "ids") and not any(word.startswith("-") for word in unknown):
        args.ids, unknown = [*args.ids, *unknown], []  # argparse takes no more of them after an option
    try:
        command = COMMANDS.get(args.command)
        module = None if command is None else _module(command)
        if unknown:
            return _refuse(unknown[0], args.command)
        if args.version:
            return _print_version()
        if module is None or command is None or command.takes_settings:
            return _run_with_settings(module, args, words)
        return int(module.run(args))
    except UsageError as error:
        tell(str(error))
        return ExitCode.USAGE


def _run_with_settings(module: Any, args: argparse.Namespace, words: list[str]) -> int:
    """Run the command of the module, or the console where there is none. Raises UsageError."""
    if getattr(args, "lab", False) and not getattr(args, "from_file", None):
        _module(COMMANDS["lab"]).enter_lab(words)
    from checks.run.settings_file import SettingsError

    try:
        settings = effective_settings(args)
        if module is not None:
            return int(module.run(args, settings))
        from tui.console.start import run_console

        return run_console(settings)
    except SettingsError as error:
        raise UsageError(str(error)) from None


def _print_version() -> int:
    sys.stdout.write(f"racwire {__version__}\n")
    return 0


def _refuse(word: str, command: str | None) -> int:
    """Tell that there is no such option; its value, which may be a password, is not repeated."""
    name = word.partition("=")[0]
    if command is None:
        tell(f"There is no option {name}; see `racwire --help`.")
    else:
        tell(f"{command} takes no {name}; see `racwire {command} --help`.")
    return ExitCode.USAGE
