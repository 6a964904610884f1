"""What the Checks screen lists: the situation of a moment as rows. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from checks.model.finding import FAULTS, PROBLEMS, Finding, Key, NextStep, Status, keyed
from checks.model.report import Report
from checks.model.situation import Episode, Situation, Standing, Statement, most_urgent
from checks.report.standings import Standings
from tui.console.finding_rows import (
    FindingRow,
    RowMark,
    Section,
    by_cause,
    calm_folded,
    cause_rows,
    folded_rows,
)

if TYPE_CHECKING:
    from checks.situation.run_history import RunHistory

_NOTHING: Mapping[Key, Finding] = {}


class CheckList(msgspec.Struct, frozen=True):
    """The report of a moment with its situation, as the Checks screen lists it."""

    report: Report
    situation: Situation
    before: Mapping[Key, Finding] = _NOTHING
    """By key of a finding: the same one in the run before."""
    is_compared: bool = False
    """Whether there is a run to compare with."""
    former: tuple[Report, ...] = ()
    """The reports that have what is over by now."""
    dismissed: frozenset[Key] = frozenset()
    """What is over and was dismissed."""

    def rows(self, query: str = "", *, problems_only: bool = False, unfolded: Collection[Key] = ()) -> list[FindingRow]:
        """Return the events without a finding, the causes, the findings by section, the worst first, and at the end one
        row for all that passed and one for all that was skipped. Those that are UNKNOWN for one reason are one row, as
        in reports. What belongs to a row follows it, where that is one of `unfolded`, and is left out elsewhere. With a
        query: only findings, those that match it."""
        every = [row for row in self._all() if row.matches(query)]
        if problems_only:
            every = [row for row in every if row.finding.status in PROBLEMS]
        rows = folded_rows(sorted(every, key=lambda row: row.rank))
        if query:
            return rows
        return list(calm_folded(by_cause(rows, list(self.causes()), unfolded), unfolded))

    def counts(self) -> list[tuple[Status, int]]:
        """Return the number of findings of each status that hold now, worst first, without waived ones."""
        held = (Section.CAUSES, Section.PROBLEMS, Section.NOTES, Section.CALM)
        count = Counter(
            row.finding.status
            for row in self._all()
            if not row.episode
            and row.section is not Section.PLANNED
            and (row.finding.status is Status.UNKNOWN or (row.section in held and not _is_open(row)))
        )
        return [(status, count[status]) for status in sorted(count, key=lambda s: s.gravity)]

    def of_section(self, *sections: Section) -> int:
        """Return the number of rows in some sections, without what was dismissed."""
        return sum(row.section in sections for row in self._all())

    @property
    def not_known(self) -> int:
        """The number of findings that are not known any more, PASS included."""
        of_findings = self.situation.findings
        return sum(
            one.said.standing is Standing.UNKNOWN and finding.status is not Status.UNKNOWN
            for one, finding in zip(of_findings, self.report.findings, strict=False)
        )

    @property
    def new_and_over(self) -> tuple[int, int]:
        """How many problems are new since the run before, and how many are over."""
        problems = (row for row in self._all() if row.section in (Section.CAUSES, Section.PROBLEMS))
        return sum(row.mark is RowMark.NEW for row in problems), self.of_section(Section.OVER)

    def of_key(self, key: Key) -> FindingRow | None:
        """Return the row of a cause or a finding; None where the list has none any more."""
        rows = (*self.causes(), *self._all())
        return next((row for row in rows if row.key == key), None)

    def of_finding(self, finding: Finding) -> FindingRow | None:
        """Return the row of this finding, of the report or of an earlier one; None where the list does not have it."""
        return next((row for row in self._all() if row.finding is finding), None)

    def _all(self) -> Iterator[FindingRow]:
        for episode in (*self.situation.new, *self.situation.open_events):
            yield event_row_of(episode, self.report)
        said = self.situation.of_key()
        for key, finding in keyed(self.report.findings):
            before = self.before.get(key)
            mark = _mark_of(finding, before) if self.is_compared else RowMark.NONE
            yield FindingRow(key, finding, mark, self.report, before=before, said=said.get(key))
        for one in self.situation.former:
            if one.key not in self.dismissed and (report := self._report_with(one.finding)) is not None:
                yield FindingRow(one.key, one.finding, RowMark.NONE, report, said=one.said)

    def _report_with(self, finding: Finding) -> Report | None:
        return next((report for report in self.former if any(f is finding for f in report.findings)), None)

    def causes(self) -> Iterator[FindingRow]:
        """Yield the causes of the report, and those of earlier reports that are over or not known any longer."""
        yield from cause_rows(self.report, Standings(self.report, self.situation))
        gone: dict[int, Statement] = {id(one.finding): one.said for one in self.situation.former}
        dismissed = self.dismissed
        for report in {id(one): one for one in self.former}.values():
            for row in cause_rows(report, None):
                shown = row.entry.findings if row.entry else ()
                said = [gone[id(finding)] for finding in shown if id(finding) in gone]
                if said and len(said) == len(shown) and row.key not in dismissed:
                    yield msgspec.structs.replace(row, said=most_urgent(said))


def _is_open(row: FindingRow) -> bool:
    return row.said is not None and row.said.standing in (Standing.UNKNOWN, Standing.PLANNED)


def listed_after(history: RunHistory) -> CheckList | None:
    """Return what the runs of a history had at its end, as it was known then; None for a history without a run."""
    if history.report is None:
        return None
    from checks.run.check_discovery import discover
    from checks.situation.at_moment import Inputs, situation

    checks = {check.id: check for check in discover().checks}
    then = situation(Inputs(now=history.readings[-1].ended, checks=checks, history=history, clock_s=history.clock_s))
    return CheckList(history.report, then, history.before, history.is_compared, tuple(o.report for o in history.gone))


def event_row_of(episode: Episode, report: Report) -> FindingRow:
    """Return the row of an event that no finding is about."""
    from checks.report.event_text import sentence, where

    event = episode.event
    standing = Standing.UNKNOWN if episode.is_open else Standing.NEW
    said = Statement(standing=standing, is_bad=True, since=event.start, as_of=episode.as_of, outdated=episode.outdated)
    networks = {place.network for place in event.places if place.network}
    finding = Finding(
        code="",
        check="",
        status=event.status,
        title=sentence(event),
        subject=where(event),
        network=networks.pop() if len(networks) == 1 else "",
        nodes=event.nodes,
        next=(NextStep("Run the checks: they look for the cause.", ("racwire check",)),),
    )
    key = ("", "EVENT", finding.network, event.nodes, event.number)
    return FindingRow(key, finding, RowMark.NONE, report, said=said, episode=episode)


def _mark_of(finding: Finding, same: Finding | None) -> RowMark:
    """Return the mark of a present finding, from the same one of the run before."""
    if finding.status not in PROBLEMS or finding.waived:
        return RowMark.NONE
    if same is None or same.status not in PROBLEMS or same.waived:
        return RowMark.NEW
    from checks.report.diff_findings import change_between
    from checks.report.diff_kind import DiffKind

    change = change_between(same, finding)
    if change is DiffKind.BECAME_KNOWN:
        return RowMark.NEW if finding.status in FAULTS and same.status not in FAULTS else RowMark.NONE
    if change in (DiffKind.MORE_SEVERE, DiffKind.HIGHER, DiffKind.MORE_NODES):
        return RowMark.WORSE
    return RowMark.BETTER if change in (DiffKind.LESS_SEVERE, DiffKind.LOWER, DiffKind.FEWER_NODES) else RowMark.NONE
