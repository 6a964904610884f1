"""The table of report formats, for the command line, its help and the console.

The command line imports this module at every start, so the writer of a format is imported when it writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.report.report_evidence import Evidence


@dataclass(frozen=True)
class Format:
    """A format of the report."""

    name: str
    """The value of `--format`."""
    ending: str
    """The file name ending, with the dot."""
    what: str
    """The purpose, in one line of help."""
    write: Callable[[Evidence], bytes]
    """Returns the whole file, UTF-8. Raises RecordingError where the samples cannot be read."""


def _text(evidence: Evidence) -> bytes:
    from tui.cli.document import as_file
    from tui.cli.text_report import text_report

    return as_file(lambda plain: text_report(evidence.report, plain, full=True))


def _markdown(evidence: Evidence) -> bytes:
    from checks.report.markdown import to_markdown

    return to_markdown(evidence.report)


def _html(evidence: Evidence) -> bytes:
    from checks.report.html.html_page import to_html

    return to_html(evidence)


def _json(evidence: Evidence) -> bytes:
    from checks.report.json_report import to_json

    return to_json(evidence.report)


def _junit(evidence: Evidence) -> bytes:
    from checks.report.junit import to_junit

    return to_junit(evidence.report)


def _openmetrics(evidence: Evidence) -> bytes:
    from checks.report.openmetrics import to_openmetrics

    return to_openmetrics(evidence.report)


FORMATS = {
    form.name: form
    for form in (
        Format("text", ".txt", "to read, to mail", _text),
        Format("markdown", ".md", "for a ticket", _markdown),
        Format("html", ".html", "for other people: one page, also to print", _html),
        Format("json", ".json", "complete, for programs and for racwire itself", _json),
        Format("junit", ".xml", "JUnit XML, for a build server", _junit),
        Format("openmetrics", ".prom", "for node_exporter's textfile collector", _openmetrics),
    )
}
"""Formats by name, in the order of the help and of the console."""


def format_of(file: str) -> Format | None:
    """The format with the ending of this file name; None where no format has it."""
    return next((form for form in FORMATS.values() if file.endswith(form.ending)), None)
