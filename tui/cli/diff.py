"""`racwire diff A B`: list what got better and what got worse between two reports or saved files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.document import Document, chosen_output
from tui.cli.errors import UsageError
from tui.cli.options import add_document_options
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.report import Report

_EPILOG = """\
examples:
  racwire diff night.racwire morning.racwire
  racwire diff before.json after.json --format json
  racwire diff before.racwire after.racwire -o diff.txt

exit codes: 0 nothing is worse; 1 a warning is new or more severe; 2 a failure
is new or more severe; 3 something that was known is unknown in B, or the
comparison could not be written; 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "List what got better and what got worse between two reports or saved files."
    parser.epilog = _EPILOG
    files = parser.add_argument_group("files")
    files.add_argument("before", metavar="A", help="the earlier saved file or JSON report")
    files.add_argument("after", metavar="B", help="the later saved file or JSON report")
    output = parser.add_argument_group("output")
    add_document_options(output)


def run(args: argparse.Namespace) -> int:
    """Compare, print, and return the exit code. Raises UsageError for files that cannot be compared."""
    from checks.report.diff import diff, exit_code, to_json
    from tui.cli.diff_text import diff_text

    output = chosen_output(args)
    before, after = saved_report(args.before), saved_report(args.after)
    difference = diff(before, after, (args.before, args.after))
    document = Document(
        "comparison",
        args.format,
        json=lambda: to_json(difference),
        text=lambda stream: diff_text(difference, stream),
    )
    return exit_past_hung_threads(document.deliver(output, exit_code(difference)))


def saved_report(name: str) -> Report:
    """The report in a saved file or in a JSON report. Raises UsageError where the file cannot be read."""
    from checks.saved import SavedError, open_saved

    try:
        with open_saved(Path(name), recording=False) as saved:
            return saved.report
    except SavedError as error:
        raise UsageError(str(error)) from error
