"""The report as JUnit XML, for build servers: a suite for each check, a case for each finding.

| finding            | case                                     |
|--------------------|------------------------------------------|
| PASS, INFO         | passes                                   |
| WARN               | passes                                   |
| FAIL               | failure, its type the code               |
| UNKNOWN            | error, its type the code                 |
| SKIPPED, or waived | skipped, with the reason                 |

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
from collections.abc import Iterable, Iterator
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from checks.model.finding import Finding, NextStep, Status
from checks.model.report import Report, WaiverStanding
from checks.model.sanitize import sanitize
from checks.report.summary import cluster_name

_NO_TIME = "1970-01-01T00:00:00"
"""The `timestamp` of a report whose time cannot be parsed: the schema requires a time."""
_NAME = 200


def to_junit(report: Report) -> bytes:
    """Return the whole report in UTF-8, with a final newline."""
    suites = Element("testsuites")
    checks: dict[str, list[Finding]] = {}
    for finding in report.findings:
        checks.setdefault(finding.check, []).append(finding)
    reruns = {check: rerun.duration_s for rerun in report.reruns for check in rerun.checks}
    first_of_run = next((check for check in checks if check not in reruns), None)
    for number, (check, findings) in enumerate(checks.items()):
        took_s = reruns.get(check, report.duration_s if check == first_of_run else 0.0)
        waivers = [w for w in report.waivers if w.check == check or (not number and w.check not in checks)]
        suites.append(_suite(report, number, check, findings, took_s, waivers))
    indent(suites)
    written: bytes = tostring(suites, "utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + written + b"\n"


def _suite(
    report: Report, number: int, check: str, findings: list[Finding], took_s: float, waivers: Iterable[WaiverStanding]
) -> Element:
    cases = [_case(check, name, finding) for name, finding in zip(_names(findings), findings, strict=True)]
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
    for name, value in (*_properties(report, check, findings), *map(_waiver, waivers)):
        SubElement(properties, "property", name=name, value=sanitize(value))
    suite.extend(cases)
    SubElement(suite, "system-out").text = sanitize("\n".join(map(_output_text, findings)), keep_lines=True)
    SubElement(suite, "system-err")
    return suite


def _properties(report: Report, check: str, findings: list[Finding]) -> Iterator[tuple[str, str]]:
    yield "racwire", report.racwire_version
    yield "cluster", cluster_name(report)
    yield "begun", report.found_at(check)
    yield "warnings", str(sum(f.status is Status.WARN and not f.waived for f in findings))
    yield "waived", str(sum(f.waived is not None for f in findings))
    if report.saved_at:
        yield "saved", report.saved_at


def _waiver(waiver: WaiverStanding) -> tuple[str, str]:
    """The property of a waiver, with its standing, whether or not it is in force."""
    value = f"{waiver.standing}, until {waiver.expires} by {waiver.by}: {waiver.reason} {waiver.why}"
    return _token(f"waiver {waiver.code} {waiver.subject}"), value.rstrip()


def _case(check: str, name: str, finding: Finding) -> Element:
    case = Element("testcase", name=name, classname=f"racwire.{_token(check)}", time="0")
    if finding.waived:
        waived = finding.waived
        why = f"{finding.status}, waived until {waived.expires} by {waived.by}: {waived.reason}"
        SubElement(case, "skipped", message=sanitize(why)).text = _details(finding)
    elif finding.status is Status.SKIPPED:
        SubElement(case, "skipped", message=sanitize(finding.title))
    elif finding.status in (Status.FAIL, Status.UNKNOWN):
        tag = "failure" if finding.status is Status.FAIL else "error"
        ended = SubElement(case, tag, message=sanitize(finding.title), type=_token(finding.code))
        ended.text = _details(finding)
    return case


def _names(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a name for each finding: its code and its place, which stay the same from run to run, unlike figures. Equal
    names are numbered."""
    taken: Counter[str] = Counter()
    for finding in findings:
        place = ", ".join(filter(None, (finding.network, *finding.nodes)))
        name = _token(f"{finding.code} {place}")[:_NAME].strip() or "finding"
        taken[name] += 1
        while taken[name] > 1:
            name = f"{name} ({taken[name]})"
            taken[name] += 1
        yield name


def _output_text(finding: Finding) -> str:
    """The text of a finding for the output of its suite; the full text for a warning, since its case has none."""
    waived = ", waived" if finding.waived else ""
    is_warning = finding.status is Status.WARN and not finding.waived
    return f"{finding.status}{waived} {finding.code}: {_details(finding) if is_warning else finding.title}"


def _details(finding: Finding) -> str:
    """The finding in full, as plain text."""
    parts = [finding.title]
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
