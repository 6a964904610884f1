"""The formats that a report can be written in: the only table of them, for the command line, its help and the console.

The command line reads it at every start: what writes a format is loaded when it writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.report.report_evidence import Evidence


@dataclass(frozen=True)
class Format:
    """A form of the report."""

    name: str
    """As `--format` takes it."""
    ending: str
    """Of its files, with the dot."""
    what: str
    """Who it is for, in a few words."""
    write: Callable[[Evidence], bytes]
    """The whole file, UTF-8. What it needs is loaded when it is called. Raises RecordingError where the samples cannot
    be read."""


def _text(evidence: Evidence) -> bytes:
    from tui.cli.document import as_file
    from tui.cli.text_report import text_report

    return as_file(lambda plain: text_report(evidence.report, plain))


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
        Format("html", ".html", "for whoever was not there: one page, to print too", _html),
        Format("json", ".json", "everything, for programs and for racwire itself", _json),
        Format("junit", ".xml", "JUnit XML, for a build server", _junit),
        Format("openmetrics", ".prom", "for node_exporter's textfile collector", _openmetrics),
    )
}
"""By name, in the order in which they are offered."""


def format_of(file: str) -> Format | None:
    """The format whose files end like that one; None where none does."""
    return next((form for form in FORMATS.values() if file.endswith(form.ending)), None)
