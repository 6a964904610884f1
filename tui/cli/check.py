"""`racwire check`: run checks without the full screen. The report goes to stdout, progress to stderr."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.cli.document import Document, Handout, as_file, chosen_output
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.option import declare
from tui.cli.options import (
    FORMAT,
    add_check_options,
    add_evidence_options,
    add_output_options,
    add_quiet_option,
    add_selection_options,
    add_syslog_option,
)
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.settings import Settings

NAGIOS = "nagios"
"""The format of a plugin."""

_EPILOG = """\
examples:
  racwire check                        run all checks
  racwire check df-ping interfaces     run two checks
  racwire check --full                 print every finding whole
  racwire check --connect rac-scan:1521/prod --user racwire
                                       check the database too
  racwire check --deep                 then look for what is left open: sends up
                                       to 20,000 datagrams (racwire plan
                                       investigate)
  racwire check --from night.racwire   repeat the checks on a saved file
  racwire check --quiet --format nagios
                                       one line for Nagios, Icinga, Checkmk, OEM
  racwire check --quiet --syslog       one message to syslog too
  racwire check --quiet --format nagios --from night.racwire --max-age 2h
                                       the same, UNKNOWN if the file is older

exit codes: 0 pass, 1 warnings, 2 failures, 3 could not tell, or the report
could not be written; 64 usage; 130 interrupted. A finding that a waiver of the
settings covers does not count. With --format nagios 0 OK, 1 WARNING,
2 CRITICAL, 3 UNKNOWN, also for a wrong option and an interrupt."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Run the checks on this node and its peers, and print the causes\nand the problems, with the next steps."
    )
    parser.epilog = _EPILOG
    add_selection_options(parser)
    parser.add_argument(
        "--deep",
        action="store_true",
        help="afterwards make the automatic steps of `racwire investigate`, without questions, at most once an hour",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--full", action="store_true", help="print every finding whole, and each check that passed")
    declare(output, (FORMAT._replace(choices=("text", "json", NAGIOS)),))
    add_output_options(output)
    add_quiet_option(output, "print no progress; no text either where all checks pass")
    add_syslog_option(output)
    add_evidence_options(parser).add_argument(
        "--max-age", metavar="TIME", help="refuse evidence that is older than TIME, such as 2h: exit code 64"
    )
    add_check_options(parser)


def arguments(*argv: str) -> argparse.Namespace:
    """The parsed arguments of the command."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(argv)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Run the checks, print the report, and return the exit code.

    Raises UsageError for an unknown check or a wrong file.
    """
    from checks.model.report import exit_code
    from checks.report.age import is_within, state_for_screen
    from checks.report.json_report import to_json
    from checks.report.nagios import nagios, plugin_code
    from tui.cli.load_or_run import load_or_run
    from tui.cli.text_report import text_report

    output = chosen_output(args)
    if args.deep and args.from_file:
        raise UsageError("--deep sends packets, and a saved file has no cluster: leave --deep or --from out.")
    with load_or_run(args, settings) as found:
        report = found.evidence.report
        if args.max_age and not is_within(report, seconds_of(args.max_age, "--max-age")):
            raise UsageError(f"{args.from_file} is {state_for_screen(report)}: older than {args.max_age}.")
        code: int = exit_code(report)
        document: Handout
        if args.format == NAGIOS:
            code = plugin_code(code)
            document = Handout("line", lambda: as_file(lambda _: nagios(report)), lambda _: nagios(report), ".txt")
        else:
            document = Document(
                "report",
                args.format,
                json=lambda: to_json(report),
                text=lambda stream: text_report(report, stream, full=args.full),
            )
        # A job of cron or of a timer reads of what is wrong, and of nothing else.
        is_silent = args.quiet and args.format == "text" and not args.full and not code and output is None
        if not is_silent:
            code = document.deliver(output, code, quiet=args.quiet)
    return exit_past_hung_threads(code)
