"""`racwire report`: the report, live or of what was saved, in the form that somebody else needs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from checks.model.report import exit_code
from checks.model.settings import Settings
from checks.report.report_evidence import Evidence
from checks.traffic.recording import RecordingError
from tui.cli.document import Handout, output_file
from tui.cli.errors import UsageError
from tui.cli.load_or_run import record_seconds, taken
from tui.cli.report_formats import FORMATS, Format, format_of
from tui.cli.streams import leave, tell
from tui.cli.text_report import text_report

_WITH_TRAFFIC = "html"
"""The only format that shows the traffic."""


def run_report(args: argparse.Namespace, settings: Settings) -> int:
    """Write it, and return the exit code, as of `racwire check`. Raises UsageError."""
    form = _format(args)
    output = None if args.output is None else output_file(args.output, replace=args.force)
    record_s = _record_s(args, form)
    if form.name == _WITH_TRAFFIC and output is None and sys.stdout.isatty():
        raise UsageError("A terminal shows no HTML; add -o report.html, or lead it into a file.")
    with taken(args, settings, record_s=record_s) as found:
        code = _handout(form, found.evidence).deliver(output, exit_code(found.evidence.report), replace=args.force)
    return leave(code)


def _format(args: argparse.Namespace) -> Format:
    if args.format is not None:
        return FORMATS[args.format]
    if args.output is None:
        return FORMATS["text"]
    form = format_of(args.output)
    if form is None and Path(args.output).suffix and not Path(args.output).exists():
        endings = ", ".join(each.ending for each in FORMATS.values())
        raise UsageError(f"{args.output} ends like no format ({endings}); say which with --format.")
    return form or FORMATS["text"]


def _record_s(args: argparse.Namespace, form: Format) -> float | None:
    """How long traffic is recorded; None where the format does not show any. Raises UsageError."""
    record_s = record_seconds(args)
    if form.name == _WITH_TRAFFIC:
        return record_s
    if args.record is not None and record_s:
        raise UsageError(f"--record: the {form.name} format shows no traffic; leave it out, or write HTML.")
    return None


def _handout(form: Format, evidence: Evidence) -> Handout:
    if form.name == "text":
        return Handout(
            "report", lambda: form.write(evidence), lambda stream: text_report(evidence.report, stream), form.ending
        )
    data = _written(form, evidence)
    return Handout("report", lambda: data, ending=form.ending)


def _written(form: Format, evidence: Evidence) -> bytes:
    try:
        return form.write(evidence)
    except RecordingError as error:
        tell(f"{error} The report is without it.")
        return form.write(Evidence(evidence.report))
