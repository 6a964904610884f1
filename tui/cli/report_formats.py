"""The table of report formats, for the command line, its help and the console.

The command line imports this module at every start, so the writer of a format is imported when it writes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.errors import UsageError

if TYPE_CHECKING:
    from checks.report.report_evidence import Evidence
    from checks.whole_files import OutputFile


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
OF_A_CHANGE = ("text", "markdown", "html", "json")
"""The names of the formats that the report of a change has, too."""


def format_of(file: str) -> Format | None:
    """The format with the ending of this file name; None where no format has it."""
    return next((form for form in FORMATS.values() if file.endswith(form.ending)), None)


def chosen_format(args: argparse.Namespace, names: Collection[str] = FORMATS) -> Format:
    """The format of --format, else of the name of the file of -o, else text; one of these names.

    Raises UsageError where a new file has the ending of no such format.
    """
    if args.format is not None:
        return FORMATS[args.format]
    if args.output is None:
        return FORMATS["text"]
    form = format_of(args.output)
    if form is not None and form.name in names:
        return form
    if Path(args.output).suffix and not Path(args.output).exists():
        endings = ", ".join(FORMATS[name].ending for name in names)
        raise UsageError(f"{args.output} ends like no format ({endings}); name the format with --format.")
    return FORMATS["text"]


def refuse_terminal(form: Format, output: OutputFile | None) -> None:
    """Raise UsageError where HTML would be printed on a terminal."""
    if form.name == "html" and output is None and sys.stdout.isatty():
        raise UsageError("HTML cannot be printed on a terminal; add -o report.html, or redirect stdout to a file.")
