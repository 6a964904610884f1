"""The situation of a run alone, without samples, events or a change: as of when each of its findings was read."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from checks.model.check import Check
from checks.model.report import Report
from checks.model.situation import Situation
from checks.situation.condition_readings import ReadTimes
from checks.situation.edges import Edges
from checks.situation.finding_standing import FindingStandings


def with_situation(report: Report, checks: Iterable[Check], now: float) -> Report:
    """Return the report of a run with its situation at the end of that run. `now` is in seconds since 1970.

    Nothing newer than the run is known: each fault holds, what could not be read is not known, and nothing is over.
    """
    about = {check.id: check.about for check in checks}
    times = ReadTimes(report, {})
    findings = FindingStandings(report, about, {}, {}, Edges((), 0.0, {}), (), times=times, now=now, clock_s=0.0).every(
        {}
    )
    return replace(report, situation=Situation(at=now, findings=tuple(findings)))
