"""`racwire report`: the report, live or of what was saved, in the form that somebody else needs."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.document import Handout, output_file
from tui.cli.errors import UsageError
from tui.cli.options import (
    add_check_options,
    add_evidence_options,
    add_output_options,
    add_quiet_option,
    add_record_option,
)
from tui.cli.report_formats import FORMATS, Format, format_of
from tui.cli.streams import exit_past_hung_threads, tell

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from checks.report.report_evidence import Evidence

_WITH_TRAFFIC = "html"
"""The only format that shows the traffic."""


_FORMATS = "\n".join(f"  {form.name:<12} {form.ending:<6} {form.what}" for form in FORMATS.values())
_EPILOG = f"""\
formats, and what their files end in:
{_FORMATS}

examples:
  racwire report -o incident.html                 the checks, a short recording, and all of it in one page
  racwire report --from night.racwire -o night.md           of what was saved, on any machine
  racwire report --redact -o vendor.html          names and addresses as pseudonyms
  racwire report df-ping --format junit -o racwire.xml
  racwire report --format openmetrics > racwire.prom.new; mv racwire.prom.new racwire.prom

The last one is for node_exporter: with `;`, since `&&` would keep the old metrics whenever there is a problem. Where
node_exporter runs as the same user, -o racwire.prom --force does it: files of -o are readable to their owner alone.

exit codes: those of `racwire check`: 0 pass, 1 warnings, 2 failures, 3 could not tell, or the report could not be
written; 64 usage; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Runs the checks, or takes what was saved, and writes the report to hand on."
    parser.epilog = _EPILOG
    add_check_options(parser)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these checks (racwire explain lists them)")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")
    parser.add_argument("--format", choices=FORMATS, help="else as FILE ends, else text")
    add_output_options(parser)
    add_record_option(parser, "HTML")
    add_quiet_option(parser)
    add_evidence_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Write it, and return the exit code, as of `racwire check`. Raises UsageError."""
    from checks.model.report import exit_code
    from tui.cli.load_or_run import load_or_run, record_seconds

    form = _format(args)
    output = None if args.output is None else output_file(args.output, replace=args.force)
    record_s = _record_s(args, form, record_seconds(args))
    if form.name == _WITH_TRAFFIC and output is None and sys.stdout.isatty():
        raise UsageError("A terminal shows no HTML; add -o report.html, or lead it into a file.")
    if form.name == _WITH_TRAFFIC:
        import_module("checks.report.html.html_page")  # what cannot be loaded is told before anything is run
    with load_or_run(args, settings, record_s=record_s) as found:
        code = _handout(form, found.evidence).deliver(output, exit_code(found.evidence.report), replace=args.force)
    return exit_past_hung_threads(code)


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


def _record_s(args: argparse.Namespace, form: Format, record_s: float) -> float | None:
    """How long traffic is recorded; None where the format does not show any. Raises UsageError."""
    if form.name == _WITH_TRAFFIC:
        return record_s
    if args.record is not None and record_s:
        raise UsageError(f"--record: the {form.name} format shows no traffic; leave it out, or write HTML.")
    return None


def _handout(form: Format, evidence: Evidence) -> Handout:
    if form.name == "text":
        from tui.cli.text_report import text_report

        return Handout(
            "report", lambda: form.write(evidence), lambda stream: text_report(evidence.report, stream), form.ending
        )
    data = _written(form, evidence)
    return Handout("report", lambda: data, ending=form.ending)


def _written(form: Format, evidence: Evidence) -> bytes:
    from checks.report.report_evidence import Evidence
    from checks.traffic.recording import RecordingError

    try:
        return form.write(evidence)
    except RecordingError as error:
        tell(f"{error} The report is without it.")
        return form.write(Evidence(evidence.report))
