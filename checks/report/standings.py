"""How the causes of a report stand, and what a situation says in one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from checks.model.finding import FAULTS, Finding, Key, keyed
from checks.model.report import Report
from checks.model.situation import Situation, Standing, Statement, most_urgent
from checks.report.causes import ReportEntry, cause_entries


class Standings:
    """The statements of a situation about the findings and causes of its report."""

    def __init__(self, report: Report, situation: Situation | None) -> None:
        """Without a situation, as for a report of a run alone, every statement is of that run."""
        said = situation.of_key() if situation else {}
        self._by_id: Mapping[int, Statement] = {id(f): said[key] for key, f in keyed(report.findings) if key in said}

    def of(self, finding: Finding) -> Statement | None:
        """Return the statement about a finding; None where there is none."""
        return self._by_id.get(id(finding))

    def of_cause(self, entry: ReportEntry) -> Statement | None:
        """Return the statement about a cause: the most urgent about the findings that show it, as of the oldest."""
        every = [said for finding in entry.findings if (said := self.of(finding))]
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

    def is_alarm(self, finding: Finding) -> bool:
        """Whether a fault is so now, as far as known, and no plan explains it."""
        said = self.of(finding)
        return finding.status in FAULTS and not finding.waived and (said is None or said.is_alarm)


def causes_now(report: Report, situation: Situation | None) -> tuple[ReportEntry, ...]:
    """Return the causes that hold at the moment of the situation."""
    standings = Standings(report, situation)
    said = ((entry, standings.of_cause(entry)) for entry in cause_entries(report))
    return tuple(entry for entry, one in said if one is None or one.is_alarm)


def keys_not_known(report: Report, situation: Situation) -> Iterator[Key]:
    """Yield the keys of the findings that are not known any more at that moment, PASS included."""
    known = dict(keyed(report.findings))
    for one in situation.findings:
        if one.said.standing is Standing.UNKNOWN and one.key in known:
            yield one.key
