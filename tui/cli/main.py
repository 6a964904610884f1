"""The `racwire` command: finds, parses and runs its commands.

`racwire --help` imports no command: `COMMANDS` has for each command a line of help and the module with its functions
`add_options` and `run`.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from checks.model.broken_dependency import named_dependency
from checks.model.exit_codes import ExitCode
from checks.model.system_limits import limit_reached
from checks.model.wording import nearest
from tui import __version__
from tui.cli.errors import UsageError
from tui.cli.interrupts import graceful_stop
from tui.cli.options import add_check_options, add_console_options, effective_settings
from tui.cli.streams import follow_locale, give_up_stdout, last_message, open_closed_streams, print_message

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

EXAMPLES = """\
examples:
  racwire doctor                 on the first day: what a check can read here
  racwire                        open the console, full screen
  racwire check                  run all checks, print the findings as text
  racwire check df-ping          run one check
  racwire check --connect rac-scan:1521/prod --user racwire
                                 check the network and the database together
  racwire report -o report.html  write the findings as one HTML page
  racwire save night.racwire     save all evidence in one file
  racwire open night.racwire     open that file on any machine
  racwire help measure           explain a command, or a topic: help jumbo
  racwire explain IC-PATH-003    explain the code of a finding
  racwire plan                   list all that the checks read, query and send
  racwire lab up                 start a practice cluster; then add --lab

racwire changes nothing on any node, switch or database: it prints commands,
and you run them. Options before the command apply to every command that uses
them. `racwire COMMAND --help` has the options and examples of one command.

exit codes: 0 all pass, 1 warnings, 2 failures, 3 could not tell, 64 usage,
130 interrupted."""


class Command(NamedTuple):
    """A command of racwire."""

    help: str
    module: str
    """A module with `add_options(parser)` and `run(args, settings)`, or `run(args)` where `takes_settings` is False."""
    takes_settings: bool = True
    has_own_help: bool = False
    """Whether the module's `add_options` adds `--help` itself."""


COMMANDS = {
    "doctor": Command("list what a check here can read, and what is missing", "tui.cli.doctor"),
    "check": Command("run the checks and print the findings", "tui.cli.check"),
    "report": Command("write a report: HTML, Markdown, JSON, JUnit, ...", "tui.cli.report"),
    "save": Command("run the checks and save all evidence in one file", "tui.cli.save"),
    "diff": Command("compare two reports or saved files", "tui.cli.diff", False),
    "fleet": Command("show many clusters by their saved files, worst first", "tui.cli.fleet", False),
    "waive": Command("print a waiver for the settings file", "tui.cli.waive", False),
    "explain": Command("explain a check, a code or a kind of switch", "tui.cli.explain", False),
    "investigate": Command("separate the causes that are left, step by step", "tui.cli.investigate"),
    "plan": Command("list all that the checks read, query and send", "tui.cli.dry_run"),
    "record": Command("record the traffic of all nodes and instances", "tui.cli.record"),
    "open": Command("open a saved file or a recording in the console", "tui.cli.open"),
    "compare": Command("compare recordings from before and after a change", "tui.cli.compare", False),
    "predict": Command("predict what another MTU would change here", "tui.cli.predict"),
    "measure": Command("measure what the interconnect can carry; sends load", "tui.cli.measure.measure_command"),
    "drill": Command("hold the clock while you pull a cable or stop a node", "tui.cli.measure.drill_command"),
    "watch": Command("print the traffic as JSON lines", "tui.cli.watch"),
    "change": Command(
        "change the MTU in verified steps, or roll it back",
        "tui.cli.change.change_command",
        has_own_help=True,
    ),
    "experiment": Command(
        "run one load before and after a change of the MTU, on a test database",
        "tui.cli.experiment",
        has_own_help=True,
    ),
    "grants": Command("print SQL that creates a read-only database user", "tui.cli.grants", False),
    "settings": Command("print a settings file with all defaults", "tui.cli.settings", False),
    "unit": Command("print systemd units: check, compare, record, watch", "tui.cli.unit", False),
    "schema": Command("print the JSON Schema of `check --format json`", "tui.cli.schema", False),
    "bug": Command("print what a bug report needs, without names", "tui.cli.bug", False),
    "lab": Command("run a practice cluster, and break it", "tui.cli.lab", False),
}


_QUICK = frozenset({"measure", "drill"})
"""Commands with heartbeats, which must not be late."""
_NO_PAGER = "--no-pager"
"""Written before or after a command."""
_OF_THE_CONSOLE = frozenset({"--lab", "--ascii", "--no-mouse"})
"""Arguments that select no command, and no help of the commands."""

WITHOUT_LAB = (
    "The practice cluster is not installed, which is right on a production node. On another machine, install it with "
    "`pip install ./lab` in a checkout of racwire."
)


class Parser(argparse.ArgumentParser):
    """argparse with racwire's exit code for a wrong command line."""

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a value that is no choice, with the one that it is most like. Raises ArgumentError."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError:
            known = [*map(str, action.choices or ())]
            meant = nearest(str(value), known)
            hint = f"did you mean {meant}?" if meant else f"choose from {', '.join(known)}"
            raise argparse.ArgumentError(action, f"there is no {value!r} ({hint})") from None

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help, through the pager where a terminal is too short for it."""
        if file is not None:
            super().print_help(file)
        else:
            from tui.cli.pager import print_paged

            print_paged(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Print one sentence that names the help, and exit."""
        print_message(f"{message}; see `{self.prog} --help`.")
        self.exit(ExitCode.USAGE)


def build_parser(argv: Sequence[str], *, has_commands: bool = True) -> argparse.ArgumentParser:
    """The parser of the whole command line; only the commands that `argv` contains have their options. Without
    `has_commands` it only parses the options of the console."""
    parser = Parser(
        prog="racwire",
        description="Find out what is wrong with the private interconnect of an Oracle RAC cluster,\nfrom one node.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument(_NO_PAGER, action="store_true", help="page no long text ($RACWIRE_PAGER, $PAGER, less)")
    if has_commands:
        _add_commands(parser, argv)
    else:
        parser.set_defaults(command=None)
    add_check_options(parser)
    add_console_options(parser)
    return parser


def _add_commands(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parsers = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=Parser)
    for name, command in COMMANDS.items():
        command_parser = parsers.add_parser(
            name,
            help=command.help,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=not command.has_own_help,
        )
        if name in argv:
            command_parser.set_defaults(all_commands=(*COMMANDS,))  # `help` explains them too, by `explain`
            with suppress(UsageError):  # raised once more when the command is run
                _module(command).add_options(command_parser)


def _module(command: Command) -> Any:
    """The module of a command. Raises UsageError where the practice cluster is needed and not installed."""
    try:
        return import_module(command.module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "racwire_lab":
            raise
        raise UsageError(WITHOUT_LAB) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    open_closed_streams()
    follow_locale()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _ended(arguments, is_own_process=argv is None)
    except Exception as error:
        from tui.cli.crash import end_after

        code = end_after(error)
    return _as_plugin(code) if {"nagios", "--format=nagios"} & {*arguments} else code


def _as_plugin(code: int) -> int:
    """Return the exit code of a plugin, which monitoring reads with a line on stdout: also of a wrong option."""
    from checks.report.nagios import plugin_code, plugin_line

    if plugin_code(code) != code:
        with suppress(OSError):
            sys.stdout.write(plugin_line(code, last_message() or "interrupted"))
            sys.stdout.flush()
    return plugin_code(code)


def _ended(arguments: list[str], *, is_own_process: bool) -> int:
    try:
        with graceful_stop():
            code = _run(arguments, is_own_process=is_own_process)
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        give_up_stdout()  # the reader has closed the pipe
        return ExitCode.PASS
    except (ImportError, OSError, RuntimeError) as error:
        if sentence := limit_reached(error) or named_dependency(error):
            print_message(f"{sentence}.")
            return ExitCode.COULD_NOT_TELL
        if not isinstance(error, OSError):
            raise
        print_message(f"{error.filename or 'output'}: {error.strerror}.")
        give_up_stdout()
        return ExitCode.COULD_NOT_TELL
    except MemoryError:
        print_message(
            "there is not enough memory on this machine: select fewer checks or a shorter time, or use another machine."
        )
        give_up_stdout()
        return ExitCode.COULD_NOT_TELL


def _run(argv: list[str], *, is_own_process: bool) -> int:
    if _NO_PAGER in argv:
        from tui.cli.pager import without_pager

        without_pager()
        argv = [word for word in argv if word != _NO_PAGER]
    if argv in (["--version"], ["-V"]):
        return _print_version()
    if argv[:1] == ["help"] or (argv[:1] == ["explain"] and not COMMANDS.keys().isdisjoint(argv[1:2])):
        argv = _as_help(argv[1:])
    # The first screen of the console does not wait for the parsers of all commands.
    parser = build_parser(argv, has_commands=not _OF_THE_CONSOLE.issuperset(argv))
    try:
        args, unknown = parser.parse_known_args(argv)
        if hasattr(args, "ids") and not any(argument.startswith("-") for argument in unknown):
            args.ids, unknown = [*args.ids, *unknown], []  # argparse accepts no further IDs after an option
        command = COMMANDS.get(args.command)
        module = None if command is None else _module(command)
        if unknown:
            own = getattr(args, f"{args.command}_command", None)
            known = _options(parser, args.command, own)
            return _refuse(unknown[0], " ".join(filter(None, (args.command, own))), known)
        if args.version:
            return _print_version()
        if module is None or command is None or command.takes_settings:
            return _run_with_settings(module, args, argv, is_own_process=is_own_process)
        gc.enable()
        return int(module.run(args))
    except UsageError as error:
        print_message(str(error))
        return ExitCode.USAGE


def _run_with_settings(module: Any, args: argparse.Namespace, argv: list[str], *, is_own_process: bool) -> int:
    """Run the command of the module, or the console where `module` is None. Raises UsageError."""
    if getattr(args, "lab", False) and not getattr(args, "from_file", None):
        _module(COMMANDS["lab"]).enter_lab(argv, getattr(args, "as_user", ""))
    elif hasattr(args, "as_user"):
        raise UsageError("--as selects a user of the practice nodes: use it together with --lab.")
    from checks.run.settings_file import SettingsError
    from checks.sources.nodes.niceness import give_way
    from tui.cli.narration import narrated

    if is_own_process and args.command not in _QUICK:
        give_way()

    try:
        settings = effective_settings(args)
        with narrated(settings.log, args.command or "console"):
            if module is not None:
                gc.enable()
                return int(module.run(args, settings))
            from tui.console.start import run_console

            return run_console(settings)
    except SettingsError as error:
        raise UsageError(str(error)) from None


def _as_help(words: Sequence[str]) -> list[str]:
    """Return the command line that explains a command or a topic."""
    if not words or words[0] in COMMANDS:
        return [*words, "--help"]
    return ["explain", *words]


def _print_version() -> int:
    bundle = f" (bundle, Python {sys.version.split()[0]})" if os.path.exists(f"{sys.prefix}/bundle.cdx.json") else ""
    sys.stdout.write(f"racwire {__version__}{bundle}\n")
    return 0


def _options(parser: argparse.ArgumentParser, *commands: str | None) -> list[str]:
    """Return the options of a command."""
    for name in filter(None, commands):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction) and name in action.choices:
                parser = action.choices[name]
    return [name for name, action in parser._option_string_actions.items() if action.help != argparse.SUPPRESS]


def _refuse(argument: str, command: str, known: Sequence[str]) -> int:
    """Print that there is no such option. The message does not repeat the value, which may be a password."""
    name = argument.partition("=")[0]
    meant = nearest(name[2:], (one[2:] for one in known if one.startswith("--")))
    hint = f"did you mean --{meant}?" if meant else f"see `{' '.join(filter(None, ('racwire', command, '--help')))}`."
    print_message(f"{f'{command} takes no' if command else 'There is no option'} {name}; {hint}")
    return ExitCode.USAGE
