"""`racwire check`: run checks without the full screen. stdout is the report, stderr tells how far it is."""

from __future__ import annotations

import argparse

from checks.model.report import exit_code
from checks.model.settings import Settings
from checks.report.json_report import to_json
from tui.cli.document import Document, output_file
from tui.cli.load_or_run import taken
from tui.cli.streams import leave
from tui.cli.text_report import text_report


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    """Run, print, and return the exit code. Raises UsageError for an unknown check."""
    output = None if args.output is None else output_file(args.output, replace=args.force)
    with taken(args, settings) as found:
        report = found.evidence.report
        document = Document(
            "report", args.format, json=lambda: to_json(report), text=lambda stream: text_report(report, stream)
        )
        code = document.deliver(output, exit_code(report), replace=args.force)
    return leave(code)
