"""The statements of a situation about the findings and causes of its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checks.model.finding import FAULTS, Finding, keyed
from checks.model.report import Report
from checks.model.situation import Situation, Statement, most_urgent

if TYPE_CHECKING:
    from checks.report.causes import ReportEntry


class Standings:
    """The statements of a situation about the findings of its report."""

    def __init__(self, report: Report, situation: Situation | None) -> None:
        """Without a situation, as for a file of racwire 0.2.0, there is no statement."""
        said = situation.of_key() if situation else {}
        self._by_id: Mapping[int, Statement] = {id(f): said[key] for key, f in keyed(report.findings) if key in said}

    def of(self, finding: Finding) -> Statement | None:
        """Return the statement about a finding; None where there is none."""
        return self._by_id.get(id(finding))

    def of_cause(self, entry: ReportEntry) -> Statement | None:
        """Return the statement about a cause: the most urgent about the faults that show it, as of the oldest; where no
        fault shows it, about those that it explains."""
        shown = [f for f in entry.findings if f.status in FAULTS] or [
            f for f in entry.all_findings if f.status in FAULTS
        ]
        every = [said for finding in shown or entry.findings if (said := self.of(finding))]
        first = most_urgent(every)
        if first is None:
            return None
        alike = [said for said in every if said.standing is first.standing]
        until = [said.until for said in alike if said.until is not None]
        return replace(
            first,
            since=min(said.since for said in alike),
            as_of=min(said.as_of for said in alike),
            until=max(until) if until else None,
        )
