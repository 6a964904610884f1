"""The report as one page of HTML: nothing is fetched, nothing runs in it; to read on any screen, and to print.

Everything of unknown origin is escaped, and what a reader would obey (control characters, turned writing) written out.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from checks.model.finding import Status
from checks.model.sanitize import shown
from checks.report import actions
from checks.report.age import at
from checks.report.folding import left_out_together
from checks.report.html import matrix_section, problem_sections
from checks.report.html.evidence_sheets import cluster_sheets, settings_sheets, versions_sheet
from checks.report.html.output_section import Outputs
from checks.report.html.problem_sections import calm, problem_parts, together
from checks.report.html.traffic_section import traffic_of
from checks.report.report_evidence import Evidence
from checks.report.summary import cluster_name, counts, facts, first_steps, headline, place, sentences


def to_html(evidence: Evidence) -> bytes:
    """The whole page, UTF-8. Raises RecordingError where the samples cannot be read."""
    report = evidence.report
    outputs = Outputs(report)
    problems, lived_with = problem_parts(report, outputs)
    page = _template().render(
        report=report,
        title=f"{place(report)}: {headline(report)}",
        headline=headline(report),
        sentences=sentences(report),
        facts=facts(report),
        counts=counts(report),
        steps=first_steps(report),
        problems=problems,
        lived_with=lived_with,
        told_together=together(problems + lived_with, report),
        calm=calm(report),
        left_out=tuple(left_out_together(report.findings)),
        squares=matrix_section.matrices(report.cluster),
        no_squares=matrix_section.why_none(report.cluster),
        traffic=traffic_of(evidence),
        sheets=cluster_sheets(report.cluster),
        settings=settings_sheets(report),
        versions=versions_sheet(report),
        journals=problem_sections.journals(report, outputs),
        cluster=cluster_name(report),
    )
    return page.encode() + b"\n"


@cache
def _template() -> Template:
    """Read and compiled once. A name that the page is not given, or None, is an error and never empty text."""
    environment = Environment(
        loader=PackageLoader("checks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "lines": _lines,
        "brief": actions.brief,
        "took": actions.took,
        "clock": actions.clock,
        "time": at,
        "tip": matrix_section.tip,
    }
    environment.tests["brief"] = actions.is_brief
    environment.globals["Status"] = Status
    return environment.get_template("report.html.j2")


def _harmless(value: Any) -> Any:
    """What the template writes: text on one line, unless `lines` says otherwise."""
    if value is None:
        raise ValueError("the page is to write a value that is not there")
    return value if isinstance(value, Markup) else shown(str(value))


def _lines(text: str) -> Markup:
    """Text with its ends of lines, as commands and outputs have them."""
    return escape(shown(text, keep_lines=True))
