"""The report as one page of HTML, for any screen and for print. The page loads nothing and runs no script.

All text of unknown origin is escaped; control characters and changes of the text direction are written as escapes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from checks.model.finding import Status
from checks.model.measurement import Measurement
from checks.model.report import Report
from checks.model.sanitize import sanitize
from checks.model.sound_measurement import sound
from checks.report import actions
from checks.report.age import time_text
from checks.report.causes import cause_entries
from checks.report.folding import grouped_skipped
from checks.report.how_found import READ, sessions_of
from checks.report.how_found import TITLE as HOW_FOUND
from checks.report.html import matrix_section
from checks.report.html.evidence_sheets import cluster_sheets, settings_sheets, versions_sheet
from checks.report.html.output_section import OutputPlacer
from checks.report.html.problem_sections import (
    anchors_of,
    grouping_note,
    node_journals,
    problem_sections,
)
from checks.report.html.traffic_section import traffic_section
from checks.report.load_section import TITLE, load_section
from checks.report.matrices_now import matrices_now
from checks.report.measured.drawings import drawings_of
from checks.report.measured.fit import not_shown
from checks.report.measured.result_parts import parts_of, provenance_of
from checks.report.measurement_headline import brief
from checks.report.other_causes import other_causes
from checks.report.report_evidence import Evidence
from checks.report.situation_words import (
    as_of_span,
    clock_of,
    entry_stands,
    event_table,
    incident_line,
    standing_sections,
)
from checks.report.summary import (
    cluster_name,
    counts,
    facts,
    first_steps,
    headline,
    headline_stands,
    place,
    sentences,
)


def to_html(evidence: Evidence) -> bytes:
    """Return the whole page in UTF-8. Raises RecordingError where the samples cannot be read."""
    report = evidence.report
    outputs = OutputPlacer(report)
    problems, waived_problems = problem_sections(report, outputs)
    causes = cause_entries(report)
    page = template_of("report.html.j2").render(
        report=report,
        title=f"{place(report)}: {incident_line(report) or headline(report)}",
        incident=incident_line(report),
        headline=headline(report),
        stands="" if causes else headline_stands(report),
        sentences=sentences(report),
        facts=facts(report),
        counts=counts(report),
        not_known=len(report.not_known),
        standing=standing_sections(report),
        events=event_table(report),
        causes=causes,
        how={id(cause): entry_stands(cause, report) for cause in causes},
        other_causes=tuple(other_causes(report)),
        anchors=anchors_of(problems + waived_problems),
        steps=() if causes else first_steps(report),
        problems=problems,
        waived_problems=waived_problems,
        grouping_note=grouping_note(problems + waived_problems, report),
        passed_and_info=report.holding(Status.INFO, Status.PASS),
        passed_as_of=as_of_span(report, report.holding(Status.INFO, Status.PASS)),
        skipped=tuple(grouped_skipped(report.findings)),
        matrices=matrix_section.matrices(matrices_now(report.cluster, report.situation, clock_of(report))),
        reason_for_no_matrix=matrix_section.reason_for_no_matrix(report.cluster),
        traffic=traffic_section(evidence),
        measured=tuple(_measured(one, report) for one in sound(report.measurements)),
        how_found_title=HOW_FOUND,
        how_found_read=READ,
        how_found=tuple(sessions_of(report)),
        load_title=TITLE,
        load=load_section(report.cluster),
        sheets=cluster_sheets(report.cluster),
        settings=settings_sheets(report),
        versions=versions_sheet(report),
        journals=node_journals(report, outputs),
        cluster=cluster_name(report),
    )
    return page.encode() + b"\n"


def _measured(measurement: Measurement, report: Report) -> dict[str, object]:
    if older := not_shown(measurement, report.cluster):
        return {"title": older, "parts": (), "drawings": (), "provenance": tuple(provenance_of(measurement))}
    return {
        "title": brief(measurement, report.started_at),
        "parts": tuple(parts_of(measurement)),
        "drawings": tuple(drawings_of(measurement)),
        "provenance": tuple(provenance_of(measurement)),
    }


@cache
def template_of(name: str) -> Template:
    """Read and compile a template, once. An undefined name or None in the page is an error, never empty text."""
    environment = Environment(
        loader=PackageLoader("checks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_sanitized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "lines": _lines,
        "one_line": actions.one_line,
        "duration_text": actions.duration_text,
        "time_of_day": actions.time_of_day,
        "time": time_text,
        "tip": matrix_section.tip,
        "identity": id,
    }
    environment.tests["one_line"] = actions.is_one_line
    environment.globals["Status"] = Status
    return environment.get_template(name)


def _sanitized(value: Any) -> Any:
    """Return a value as text on one line; the filter `lines` keeps the line ends. Raises ValueError for None."""
    if value is None:
        raise ValueError("the template of the HTML page wrote a value that is None")
    return value if isinstance(value, Markup) else sanitize(str(value))


def _lines(text: str) -> Markup:
    """Return text with its line ends, for commands and outputs."""
    return escape(sanitize(text, keep_lines=True))
