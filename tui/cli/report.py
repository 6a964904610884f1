"""`racwire report`: a report of a new run or of a saved file, in one of several formats."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from tui.cli.document import Handout, chosen_output
from tui.cli.errors import UsageError
from tui.cli.options import (
    add_check_options,
    add_evidence_options,
    add_output_options,
    add_quiet_option,
    add_record_option,
    add_selection_options,
    add_syslog_option,
)
from tui.cli.report_formats import FORMATS, Format, chosen_format, refuse_terminal
from tui.cli.streams import exit_past_hung_threads, print_message

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from checks.report.report_evidence import Evidence

_WITH_TRAFFIC = "html"
"""The only format that contains the traffic."""


_FORMATS = "\n".join(f"  {form.name:<12} {form.ending:<6} {form.what}" for form in FORMATS.values())
_EPILOG = f"""\
formats, and the ends of their file names:
{_FORMATS}

examples:
  racwire report -o incident.html
  racwire report --from night.racwire -o night.md
  racwire report --redact -o vendor.html
  racwire report df-ping --format junit -o racwire.xml
  racwire report --format openmetrics > rac.prom.new; mv rac.prom.new rac.prom

The last example is for node_exporter. It needs `;`: `&&` would keep the old
metrics whenever there is a problem. If node_exporter runs as the same user,
`racwire report -o rac.prom --force` does the same: only the owner can read a
file that -o writes.

exit codes, those of `racwire check`: 0 pass, 1 warnings, 2 failures, 3 could
not tell, or the report could not be written; 64 usage; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Run the checks, or read a saved file, and write a report."
    parser.epilog = _EPILOG
    add_selection_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=FORMATS, help="format (default: by the name of FILE, else text)")
    add_output_options(output)
    add_record_option(output, "HTML")
    add_quiet_option(output)
    add_syslog_option(output)
    add_evidence_options(parser)
    add_check_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Write the report and return the exit code of `racwire check`. Raises UsageError for a wrong command line."""
    from checks.model.report import exit_code
    from tui.cli.load_or_run import load_or_run, record_seconds

    form = chosen_format(args)
    output = chosen_output(args)
    record_s = _record_s(args, form, record_seconds(args))
    refuse_terminal(form, output)
    if form.name == _WITH_TRAFFIC:
        import_module("checks.report.html.html_page")  # report a missing library before the checks run
    with load_or_run(args, settings, record_s=record_s) as found:
        code = _handout(form, found.evidence).deliver(output, exit_code(found.evidence.report), quiet=args.quiet)
    return exit_past_hung_threads(code)


def _record_s(args: argparse.Namespace, form: Format, record_s: float) -> float | None:
    """The length of the recording in seconds; None where the format contains no traffic. Raises UsageError."""
    if form.name == _WITH_TRAFFIC:
        return record_s
    if args.record is not None and record_s:
        raise UsageError(f"--record: the {form.name} format contains no traffic; leave --record out, or write HTML.")
    return None


def _handout(form: Format, evidence: Evidence) -> Handout:
    if form.name == "text":
        from tui.cli.text_report import text_report

        return Handout(
            "report",
            lambda: form.write(evidence),
            lambda stream: text_report(evidence.report, stream, full=True),
            form.ending,
        )
    data = _written(form, evidence)
    return Handout("report", lambda: data, ending=form.ending)


def _written(form: Format, evidence: Evidence) -> bytes:
    from checks.report.report_evidence import Evidence
    from checks.traffic.recording import RecordingError

    try:
        return form.write(evidence)
    except RecordingError as error:
        print_message(f"{error} The report does not contain the traffic.")
        return form.write(Evidence(evidence.report))
