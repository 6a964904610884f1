"""`racwire check`: run checks without the full screen. stdout is the report, stderr tells how far it is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.cli.document import Document, output_file
from tui.cli.options import add_check_options, add_evidence_options, add_output_options, add_quiet_option
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.settings import Settings

_EPILOG = """\
exit codes: 0 pass, 1 warnings, 2 failures, 3 could not tell, or the report could not be written; 64 usage;
130 interrupted. What a waiver of the settings covers does not count."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Runs the checks on this node and its peers, and prints what was found, worst first."
    parser.epilog = _EPILOG
    add_check_options(parser)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these checks (racwire explain lists them)")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    add_output_options(parser)
    add_quiet_option(parser)
    add_evidence_options(parser)


def arguments(*words: str) -> argparse.Namespace:
    """The arguments of the command, parsed from its own words."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(words)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Run, print, and return the exit code. Raises UsageError for an unknown check."""
    from checks.model.report import exit_code
    from checks.report.json_report import to_json
    from tui.cli.load_or_run import load_or_run
    from tui.cli.text_report import text_report

    output = None if args.output is None else output_file(args.output, replace=args.force)
    with load_or_run(args, settings) as found:
        report = found.evidence.report
        document = Document(
            "report", args.format, json=lambda: to_json(report), text=lambda stream: text_report(report, stream)
        )
        code = document.deliver(output, exit_code(report), replace=args.force)
    return exit_past_hung_threads(code)
