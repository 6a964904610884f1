"""Readings of conditions: each covers a time, and says whether the condition was bad in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from checks.model.condition import Condition, ConditionKind
from checks.model.facts import FACT_GROUPS, Cluster, Unknown
from checks.model.finding import FAULTS, EvidenceRef, Finding, Status
from checks.model.journal import Entry
from checks.model.report import Report
from checks.situation.conditions import rests_on, shown_bad


class ConditionReading(NamedTuple):
    """One reading of a condition. A state covers its moment only; a count the time from `since` to `at`."""

    condition: Condition
    since: float
    at: float
    is_bad: bool | None
    """None: it could not be read."""
    is_proof: bool = True
    """Whether a run, a gate or a started step made it: samples and events show that a condition is over, and prove
    nothing."""

    began: float | None = None
    """When the run that made it started: all that this run read is of one time."""

    @property
    def as_of(self) -> float:
        """What it is sure of: what a growing count shows may have stopped at any moment of its time."""
        return self.since if self.is_bad else self.at

    def moved(self, by_s: float) -> ConditionReading:
        """Return the reading with its times by a clock that was set by so many seconds since."""
        began = None if self.began is None else self.began + by_s
        return self._replace(since=self.since + by_s, at=self.at + by_s, began=began) if by_s else self


class Span(NamedTuple):
    """The time that readings cover, by a clock that nothing sets."""

    begin: float
    """The start of the oldest reading."""
    oldest_end: float
    """The end of the oldest of the newest readings: one for each file, command or query."""


_OF_INTERFACES = frozenset({ConditionKind.NODE, ConditionKind.LINK, ConditionKind.SPEED, ConditionKind.MTU})
"""What the list of the interfaces of a node shows."""


class ReadTimes:
    """When the facts were read on which the findings of a report rest. Times are by a clock that nothing sets."""

    def __init__(self, report: Report, clocks: Mapping[str, float]) -> None:
        """`clocks`: how far the clock had been set at the runs of the report, by the time at which each started."""
        self._report = report
        self._clocks = clocks
        runs = (None, *report.reruns) if clocks else ()
        self._set_by = {
            id(entry): clocks.get((run or report).started_at, 0.0) for run in runs for entry in report.entries_in(run)
        }
        self._evidence: dict[int, Sequence[Entry]] = {}
        paths = report.cluster.read_paths()
        self._pings = {(p.from_node, f"path {p.network} {p.from_node} {p.to_node}") for p in paths}

    def span(self, finding: Finding, condition: Condition | None = None) -> Span:
        """Return the time that the readings behind a finding cover, or those of them that show a condition; that of
        its run where it refers to none."""
        entries: Sequence[Entry] | None = self._evidence.get(id(finding))
        if entries is None:
            entries = self._evidence[id(finding)] = self._report.evidence(finding)
        if condition is not None:
            entries = self._of_condition(finding, condition, entries) or entries
        newest: dict[tuple[str, str], float] = {}
        begins = []
        for entry in entries:
            if (time := seconds_of(entry.started_at)) is not None:
                begins.append(begin := time - self._set_by.get(id(entry), 0.0))
                end = begin + max(entry.duration_ms, 0.0) / 1000
                newest[entry.node, entry.topic] = max(end, newest.get((entry.node, entry.topic), end))
        if begins:
            return Span(min(begins), min(newest.values()))
        if (lacking := groups_lacking(finding, self._report.cluster)) and finding.status is Status.UNKNOWN:
            return self._tried(lacking)
        found_at = self._report.found_at(finding.check)
        found = (seconds_of(found_at) or 0.0) - self._clocks.get(found_at, 0.0)
        return Span(found, found)

    def _tried(self, groups: Collection[str]) -> Span:
        """Return the time of the run that could not gather these groups of facts, of several the oldest."""
        read_by = self._report.read_by()
        number = min(read_by.get(group, 0) for group in groups)
        run = self._report.reruns[number - 1] if number else self._report
        begin = (seconds_of(run.started_at) or 0.0) - self._clocks.get(run.started_at, 0.0)
        return Span(begin, begin + run.duration_s)

    def _of_condition(self, finding: Finding, condition: Condition, entries: Sequence[Entry]) -> Sequence[Entry]:
        if condition.kind is not ConditionKind.PATH:
            return [entry for entry in entries if _shows(entry, condition)]
        # A finding about many paths refers to some of them only.
        reference = EvidenceRef(condition.node, f"path {condition.item} {condition.node} {condition.peer}")
        is_of_pings = any((entry.node, entry.topic) in self._pings for entry in entries)
        return self._report.entries_for(finding.check, (reference,)) if is_of_pings else ()

    def looked(self, check: str, condition: Condition | None = None, *, counts: bool) -> float:
        """Return as of when a check was judged, or read a condition: the oldest of its newest readings, where it
        `counts` at their ends."""
        found_at = self._report.found_at(check)
        own = [finding for finding in self._report.findings if finding.check == check]
        if condition is not None:
            there = [f for f in own if any(ref.node == condition.node for ref in f.evidence)]
            own = there or own
        spans = [self.span(finding, condition) for finding in own]
        times = [span.oldest_end if counts else span.begin for span in spans]
        return min(times, default=(seconds_of(found_at) or 0.0) - self._clocks.get(found_at, 0.0))


def _shows(entry: Entry, condition: Condition) -> bool:
    return entry.node == condition.node and (condition.kind not in _OF_INTERFACES or entry.topic == "interfaces")


def groups_lacking(finding: Finding, cluster: Cluster) -> tuple[str, ...]:
    """Return the groups of facts that could not be gathered, and that this finding lacks."""
    every = {group: getattr(cluster, group) for group in FACT_GROUPS} if finding.lacks else {}
    unread = ((group, facts) for group, facts in every.items() if isinstance(facts, Unknown))
    return tuple(group for group, facts in unread if Unknown(facts.reason, facts.right) in finding.lacks)


def seconds_of(time: str) -> float | None:
    """Return a time of a report or a journal in seconds since 1970; None where the text is no time."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def readings_in(
    report: Report, checks: Collection[str], shows: Mapping[str, Collection[ConditionKind]], times: ReadTimes
) -> Iterator[ConditionReading]:
    """Yield what the findings of some checks say about conditions: those that a fault shows are bad; those of the kinds
    that a PASS `shows` (`Check.shows`) are well, unless a fault of the report shows them bad; those of an UNKNOWN could
    not be read."""
    own = [finding for finding in report.findings if finding.check in checks]
    bad = {condition for finding in report.findings for condition in shown_bad(finding)}
    known: set[Condition] = set()
    unknown: dict[Condition, Span] = {}
    for finding in own:
        if finding.status in FAULTS:
            for condition in shown_bad(finding):
                known.add(condition)
                yield _seen(condition, times.span(finding, condition), is_bad=True)
            continue
        rests = rests_on(finding, shows.get(finding.check, ()), report.cluster)
        if finding.status is Status.UNKNOWN:
            unknown |= {condition: times.span(finding, condition) for condition in rests}
        elif finding.status is not Status.SKIPPED:
            for condition in rests - bad:
                known.add(condition)
                yield _seen(condition, times.span(finding, condition), is_bad=False)
    for condition, span in unknown.items():
        if condition not in known:
            yield ConditionReading(condition, span.begin, span.oldest_end, None)


def _seen(condition: Condition, span: Span, *, is_bad: bool) -> ConditionReading:
    if condition.kind.is_counted:
        return ConditionReading(condition, span.begin, span.oldest_end, is_bad)
    return ConditionReading(condition, span.begin, span.begin, is_bad)


def in_order(readings: Iterable[ConditionReading]) -> list[ConditionReading]:
    """Return the readings of one condition by the start of what they cover, without counts of nothing that end within a
    longer count of something: that came later in it."""
    every = list(readings)
    counts = [one for one in every if one.is_bad and one.since < one.at]
    return sorted(
        (
            one
            for one in every
            if one.is_bad is not False or not any(c.since < one.since and one.at < c.at for c in counts)
        ),
        key=lambda one: (one.since, one.at),
    )
