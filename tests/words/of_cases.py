"""What racwire decides in the case book, as data without words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec

from checks.change.gates.built_in_checks import as_gate
from checks.model.facts import NotAsked, Unknown
from checks.model.finding import PROBLEMS, Finding, Key, keyed
from checks.model.hypothesis import Hypothesis
from checks.model.report import Report, exit_code
from checks.model.run_record import RunRecord, as_run
from checks.model.settings_waivers import Waiver
from checks.model.situation import Statement
from checks.report.causes import ReportEntry, cause_entries, further_entries, passed_checks
from checks.report.diff import diff
from checks.report.diff import exit_code as diff_exit_code
from checks.rules.waivers import apply
from checks.situation.at_moment import Inputs, situation
from checks.situation.marks import node_marks
from checks.situation.run_history import RunHistory
from tests.cases.test_fact_cases import CHECKS

_ON = date(2026, 11, 20)
_AS_GATES = ("gc-blocks-lost", "instance-ping")
_UNREAD = (Unknown, NotAsked)


def of_report(report: Report, before: Report) -> dict[str, Any]:
    """Return what is decided in a report, in the report with problems waived, as gates, in the difference from the
    report of another cluster, and in the situation after both runs."""
    return _report(report) | {
        "waived": _waived(report),
        "diff": _diff(before, report),
        "gates": _gates(report),
        "situation": _situation(before, report),
    }


def _report(report: Report) -> dict[str, Any]:
    found = dict(keyed(report.findings))
    causes = cause_entries(report)
    return {
        "exit code": int(exit_code(report)),
        "findings": [_finding(f) for f in report.findings],
        "causes": [_hypothesis(h, found) for h in report.diagnosis.hypotheses],
        "unexplained": _named(report.diagnosis.unexplained, found),
        "accounts": [msgspec.structs.replace(account, text="") for account in report.diagnosis.accounts],
        "entries": [_entry(entry) for entry in (*causes, *further_entries(report, causes))],
        "passed": passed_checks(report),
    }


def _finding(finding: Finding) -> list[object]:
    """Return all of a finding but its words."""
    weighed = finding.outweighed.status if finding.outweighed else None
    own = (*_place(finding), finding.data, finding.observed, weighed)
    return [*own, finding.extent.value if finding.extent else None, _steps(finding.next)]


def _place(finding: Finding) -> tuple[object, ...]:
    return finding.check, finding.code, finding.status, finding.network, finding.nodes, bool(finding.waived)


def _steps(steps: Iterable[Any]) -> list[object]:
    return [(step.commands, step.is_change, step.effect) for step in steps]


def _named(keys: Iterable[Key], found: dict[Key, Finding]) -> list[object]:
    """Return the findings of keys without the number of the key, which counts findings of one kind and place."""
    return [_finding(found[key]) for key in keys]


def _hypothesis(one: Hypothesis, found: dict[Key, Finding]) -> dict[str, object]:
    return {
        "cause": one.cause,
        "standing": one.standing,
        "entry": one.entry,
        "place": (one.place.networks, one.place.nodes, one.place.to),
        "footprint": one.footprint,
        "shown by": _named(one.shown_by, found),
        "explains": _named(one.explains, found),
        "in part": _named(one.in_part, found),
        "together": [(_named((each.finding,), found), each.causes) for each in one.together],
        "hides": one.hides,
        "excluded on": one.excluded_on,
        "data": one.data,
        "blocks": one.lost_blocks,
        "free": (one.costs_nothing, one.is_waived),
        "next": _steps(one.next),
    }


def _entry(entry: ReportEntry) -> dict[str, object]:
    return {
        "status": entry.status,
        "causes": [cause.cause for cause in entry.causes],
        "findings": [[_place(f) for f in part] for part in (entry.findings, entry.effects, entry.in_part)],
        "together": [[_place(f) for f in part.findings] for part in entry.together],
        "likewise": [_place(f) for f in entry.likewise],
        "next": _steps(entry.next),
    }


def _gates(report: Report) -> list[object]:
    """Return what checks find as gates of a change, where their facts are known."""
    cluster = report.cluster
    known = [
        as_gate(check)
        for check in CHECKS
        if check.id in _AS_GATES and not any(isinstance(getattr(cluster, need), _UNREAD) for need in check.needs)
    ]
    return [_finding(finding) for check in known for finding in check.run(cluster)]


def _situation(before: Report, report: Report) -> dict[str, object]:
    """Return how each finding stands after a run of another cluster and this one, and the marks of the nodes."""
    checks = {check.id: check for check in CHECKS}
    history = RunHistory()
    for number, one in enumerate((before, report)):
        history = history.after(RunRecord(report=one, ended=as_run(one).ended + number), checks)
    now = situation(Inputs(now=history.records[-1].ended, checks=checks, history=history))
    after = msgspec.structs.replace(report, situation=now)
    return {
        "findings": [(*_place(finding), _said(said)) for finding, said in after.stated()],
        "former": [(*_place(one.finding), _said(one.said)) for one in now.former],
        "conditions": [(one.condition, _said(one.said)) for one in now.conditions],
        "nodes": sorted(node_marks(report, now).items()),
        "exit code": int(exit_code(after)),
    }


def _said(said: Statement | None) -> object:
    """Return how it stands, without times: they are those of the test."""
    return said and (said.standing, said.is_bad, said.unknown, said.of)


def _waived(report: Report) -> list[object]:
    """Return the standings of two waivers, and what they cover: the first problem, the second as a warning."""
    problems = [f for f in report.findings if f.status in PROBLEMS]
    waivers = [*(_waiver(f, str(f.status)) for f in problems[:1]), *(_waiver(f, "WARN") for f in problems[1:2])]
    makers = {f.code: f.check for f in report.findings}
    marked, standings = apply(report.findings, waivers, _ON, makers, lambda: ())
    counted = msgspec.structs.replace(report, findings=marked)
    return [int(exit_code(counted)), [bool(f.waived) for f in marked], [s.standing for s in standings]]


def _waiver(finding: Finding, status: str) -> Waiver:
    return msgspec.convert(
        {
            "code": finding.code,
            "subject": finding.subject,
            "status": status,
            "reason": "known",
            "by": "Ann Lee",
            "expires": "2026-12-31",
        },
        Waiver,
    )


def _diff(before: Report, after: Report) -> list[object]:
    found = diff(before, after)
    return [int(diff_exit_code(found)), [(c.change, *(_of(f) for f in (c.before, c.after))) for c in found.findings]]


def _of(finding: Finding | None) -> Sequence[object]:
    return _place(finding) if finding else ()
