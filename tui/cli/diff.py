"""`racwire diff A B`: what got better and what got worse between two reports or saved files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.document import Document, output_file
from tui.cli.errors import UsageError
from tui.cli.options import add_output_options
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.report import Report

_EPILOG = """\
A and B are saved files or reports as JSON; B is the later one.

exit codes: 0 nothing is worse; 1 a warning is new or graver; 2 a failure is; 3 something is not known any more that
was, or the comparison could not be written; 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Tells what got better and what got worse between two reports or saved files."
    parser.epilog = _EPILOG
    parser.add_argument("before", metavar="A", help="the earlier one")
    parser.add_argument("after", metavar="B", help="the later one")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how it is written")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print, and return the exit code. Raises UsageError for what cannot be compared."""
    from checks.report.diff import diff, exit_code, to_json
    from tui.cli.diff_text import diff_text

    output = None if args.output is None else output_file(args.output, replace=args.force)
    before, after = saved_report(args.before), saved_report(args.after)
    difference = diff(before, after, (args.before, args.after))
    document = Document(
        "comparison",
        args.format,
        json=lambda: to_json(difference),
        text=lambda stream: diff_text(difference, stream),
    )
    return exit_past_hung_threads(document.deliver(output, exit_code(difference), replace=args.force))


def saved_report(name: str) -> Report:
    """The report in a saved file, or in one as JSON. Raises UsageError."""
    from checks.saved import SavedError, open_saved

    try:
        with open_saved(Path(name), recording=False) as saved:
            return saved.report
    except SavedError as error:
        raise UsageError(str(error)) from error
