"""`racwire diff A B`: what got better and what got worse between two reports or saved files."""

from __future__ import annotations

import argparse
from pathlib import Path

from checks.model.report import Report
from checks.report.diff import diff, exit_code, to_json
from checks.saved import SavedError, open_saved
from tui.cli.diff_text import diff_text
from tui.cli.document import Document, output_file
from tui.cli.errors import UsageError
from tui.cli.streams import leave


def run_diff(args: argparse.Namespace) -> int:
    """Compare, print, and return the exit code. Raises UsageError for what cannot be compared."""
    output = None if args.output is None else output_file(args.output, replace=args.force)
    before, after = saved_report(args.before), saved_report(args.after)
    difference = diff(before, after, (args.before, args.after))
    document = Document(
        "comparison",
        args.format,
        json=lambda: to_json(difference),
        text=lambda stream: diff_text(difference, stream),
    )
    return leave(document.deliver(output, exit_code(difference), replace=args.force))


def saved_report(name: str) -> Report:
    """The report in a saved file, or in one as JSON. Raises UsageError."""
    try:
        with open_saved(Path(name), recording=False) as saved:
            return saved.report
    except SavedError as error:
        raise UsageError(str(error)) from error
