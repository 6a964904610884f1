"""The report as JUnit XML, for build servers: a suite for each check, a case for each finding.

| finding            | case                                     |
|--------------------|------------------------------------------|
| PASS, INFO         | passes                                   |
| WARN               | passes                                   |
| FAIL               | failure, its type the code               |
| UNKNOWN            | error, its type the code                 |
| SKIPPED, or waived | skipped, with the reason                 |
| not known any more | error, its type the code                 |
| planned            | skipped, with the step                   |
| over               | passes                                   |

The last suite, `events`, has a case for each event of the situation that is a problem: a failure or an error where it
lasts and no finding is about it, an error where it is not known whether it lasts. During an incident the first line
after the declaration says so.

JUnit has no warning. A failed case would break a build that may continue after warnings (exit code 1 is for warnings, 2
for failures). A skipped case would mean that the check did not run. So a warning passes: the output of its suite has
its text, and the suite's property `warnings` counts it.

The order and the attributes follow the schema that Ant's reports and Jenkins share (windyroad's JUnit.xsd). This schema
allows no zone in `timestamp`: it is the clock of the node, and the property `begun` has the zone. All checks run at the
same time, so no check has a duration. The first suite of the run has the duration of the run as its `time`; the other
suites have 0, since build servers add up the times. The suite of a check that was run again has the duration of that
run. Saved states have the property `saved`. Each waiver is a property of the suite of its check, or of the first suite
where that check did not run. Characters that XML does not allow are written as escapes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from checks.model.finding import Finding, NextStep, Status
from checks.model.report import Report, WaiverStanding
from checks.model.sanitize import sanitize
from checks.model.situation import Episode, Standing, Statement, status_now
from checks.report import event_text
from checks.report.age import moment_text
from checks.report.situation_words import clock_of, incident_line, stands
from checks.report.standing_text import episode_text
from checks.report.summary import cluster_name

_NO_TIME = "1970-01-01T00:00:00"
"""The `timestamp` of a report whose time cannot be parsed: the schema requires a time."""
_NAME = 200


def to_junit(report: Report) -> bytes:
    """Return the whole report in UTF-8, with a final newline."""
    suites = Element("testsuites")
    checks: dict[str, list[_Stated]] = {}
    for finding, said in report.stated():
        checks.setdefault(finding.check, []).append(_Stated(finding, said, stands(finding, said, report)))
    reruns = {check: rerun.duration_s for rerun in report.reruns for check in rerun.checks}
    first_of_run = next((check for check in checks if check not in reruns), None)
    for number, (check, findings) in enumerate(checks.items()):
        took_s = reruns.get(check, report.duration_s if check == first_of_run else 0.0)
        waivers = [w for w in report.waivers if w.check == check or (not number and w.check not in checks)]
        cases = [_case(check, name, one) for name, one in zip(_names(findings), findings, strict=True)]
        properties = (*_properties(report, check, findings), *map(_waiver, waivers))
        outputs = map(_output_text, findings)
        suites.append(_suite(report, number, check, cases, properties, outputs, took_s))
    if episodes := [e for e in report.situation.episodes if e.event.is_problem] if report.situation else []:
        suites.append(_events(report, len(checks), episodes))
    indent(suites)
    written: bytes = tostring(suites, "utf-8")
    incident = incident_line(report).replace("--", "- -")  # which no comment may have
    first = f"<!-- {sanitize(incident)} -->\n" if incident else ""
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + first.encode() + written + b"\n"


class _Stated(NamedTuple):
    """A finding, the statement about it, and the words of that."""

    finding: Finding
    said: Statement | None
    how: str

    @property
    def status(self) -> Status | None:
        """The status at the moment of the report."""
        return status_now(self.finding, self.said)


_ENDS = {Status.FAIL: "failure", Status.UNKNOWN: "error"}
"""The element of a case that does not pass."""


def _events(report: Report, number: int, episodes: Sequence[Episode]) -> Element:
    new, now = (report.situation.new, report.situation.at) if report.situation else ((), 0.0)
    clock = clock_of(report)
    texts = [
        f"{event_text.brief(e.event)} since {clock(e.event.start)}, {episode_text(e, clock, now)}" for e in episodes
    ]
    cases = []
    for name, episode, text in zip(_numbered(e.event.kind for e in episodes), episodes, texts, strict=True):
        case = Element("testcase", name=name, classname="racwire.events", time="0")
        status = Status.UNKNOWN if episode.is_open else episode.event.status
        if status in _ENDS and (episode.is_open or episode in new):
            SubElement(case, _ENDS[status], message=sanitize(text), type=_token(episode.event.kind))
        elif episode.step:
            SubElement(case, "skipped", message=sanitize(text))
        cases.append(case)
    return _suite(report, number, "events", cases, (("racwire", report.racwire_version),), texts, 0.0)


def _suite(
    report: Report,
    number: int,
    check: str,
    cases: Sequence[Element],
    values: Iterable[tuple[str, str]],
    outputs: Iterable[str],
    took_s: float,
) -> Element:
    ended = Counter(child.tag for case in cases for child in case)
    suite = Element(
        "testsuite",
        name=_token(check) or "check",
        package="racwire",
        id=str(number),
        timestamp=_local(report.found_at(check)),
        hostname=_token(report.cluster.local_node) or "localhost",
        tests=str(len(cases)),
        failures=str(ended["failure"]),
        errors=str(ended["error"]),
        skipped=str(ended["skipped"]),
        time=_seconds(took_s),
    )
    properties = SubElement(suite, "properties")
    for name, value in values:
        SubElement(properties, "property", name=name, value=sanitize(value))
    suite.extend(cases)
    SubElement(suite, "system-out").text = sanitize("\n".join(outputs), keep_lines=True)
    SubElement(suite, "system-err")
    return suite


def _properties(report: Report, check: str, stated: Sequence[_Stated]) -> Iterator[tuple[str, str]]:
    findings = [one.finding for one in stated]
    yield "racwire", report.racwire_version
    yield "cluster", cluster_name(report)
    yield "begun", report.found_at(check)
    yield "warnings", str(sum(f.status is Status.WARN and not f.waived for f in findings))
    yield "waived", str(sum(f.waived is not None for f in findings))
    if report.saved_at:
        yield "saved", report.saved_at
    if moment := moment_text(report):
        yield "moment", moment
        yield "incident", incident_line(report)


def _waiver(waiver: WaiverStanding) -> tuple[str, str]:
    """The property of a waiver, with its standing, whether or not it is in force."""
    value = f"{waiver.standing}, until {waiver.expires} by {waiver.by}: {waiver.reason} {waiver.why}"
    return _token(f"waiver {waiver.code} {waiver.subject}"), value.rstrip()


def _case(check: str, name: str, stated: _Stated) -> Element:
    finding, said, how = stated
    case = Element("testcase", name=name, classname=f"racwire.{_token(check)}", time="0")
    end = _ENDS.get(stated.status) if stated.status else None
    if finding.waived:
        waived = finding.waived
        why = f"{finding.status}, waived until {waived.expires} by {waived.by}: {waived.reason}"
        SubElement(case, "skipped", message=sanitize(why)).text = _details(finding)
    elif finding.status is Status.SKIPPED:
        SubElement(case, "skipped", message=sanitize(finding.title))
    elif said and said.standing is Standing.PLANNED:
        SubElement(case, "skipped", message=sanitize(f"{finding.title} ({how})"))
    elif end:
        title = finding.title if stated.status is finding.status else f"{finding.title} ({how})"
        SubElement(case, end, message=sanitize(title), type=_token(finding.code)).text = _details(finding, how)
    return case


def _names(stated: Iterable[_Stated]) -> Iterator[str]:
    """Return a name for each finding: its code and its place, which stay the same from run to run, unlike figures."""
    places = ((one.finding.code, one.finding.network, *one.finding.nodes) for one in stated)
    return _numbered(f"{code} {', '.join(filter(None, place))}" for code, *place in places)


def _numbered(names: Iterable[str]) -> Iterator[str]:
    """Yield the names as tokens; equal names are numbered."""
    taken: Counter[str] = Counter()
    for text in names:
        name = _token(text)[:_NAME].strip() or "finding"
        taken[name] += 1
        while taken[name] > 1:
            name = f"{name} ({taken[name]})"
            taken[name] += 1
        yield name


def _output_text(stated: _Stated) -> str:
    """The text of a finding for the output of its suite; the full text for a warning, since its case has none."""
    finding, _, how = stated
    waived = ", waived" if finding.waived else ""
    is_warning = stated.status is Status.WARN and not finding.waived
    text = _details(finding, how) if is_warning else f"{finding.title} ({how})" if how else finding.title
    return f"{finding.status}{waived} {finding.code}: {text}"


def _details(finding: Finding, how: str = "") -> str:
    """The finding in full, as plain text; `how` says how it stands."""
    parts = [finding.title]
    parts += [f"Stands: {how}"] if how else []
    parts += [f"Seen: {line}" for line in finding.seen]
    if finding.table is not None:
        parts += [" | ".join(row) for row in (finding.table.columns, *finding.table.rows)]
        parts += [finding.table.legend] if finding.table.legend else []
    parts += [f"Expected: {line}" for line in finding.expected]
    parts += [f"Why: {finding.why}"] if finding.why else []
    parts += [line for number, step in enumerate(finding.next, 1) for line in _step(number, step)]
    return sanitize("\n".join(parts), keep_lines=True)


def _step(number: int, step: NextStep) -> Iterator[str]:
    where = f" ({step.where})" if step.where else ""
    yield f"Next {number}: {'CHANGE ' if step.is_change else ''}{step.advice}{where}"
    yield from (f"    {command}" for command in step.commands)


def _token(text: str) -> str:
    """Return text as a token of XML Schema: one line, no blanks at its ends, and never two blanks together."""
    return " ".join(sanitize(text).split())


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}" if math.isfinite(seconds) else "0"


def _local(time: str) -> str:
    """Return a time in the form of the schema: to the second, without a zone."""
    try:
        return datetime.fromisoformat(time).replace(tzinfo=None).isoformat(timespec="seconds")
    except ValueError:
        return _NO_TIME
