"""Readings of conditions: each covers a time, and says whether the condition was bad in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from checks.model.condition import Condition, ConditionKind
from checks.model.finding import FAULTS, Finding, Status
from checks.model.journal import Entry
from checks.model.report import Report
from checks.situation.conditions import rests_on, shown_bad


class Seen(NamedTuple):
    """One reading of a condition. A state covers its moment only; a count the time from `since` to `at`."""

    condition: Condition
    since: float
    at: float
    is_bad: bool | None
    """None: it could not be read."""
    is_proof: bool = True
    """Whether a run, a gate or a begun step made it: samples and events show that a condition is over, and prove
    nothing."""

    @property
    def as_of(self) -> float:
        """What it is sure of: what a growing count shows may have stopped at any moment of its time."""
        return self.since if self.is_bad else self.at

    def moved(self, by_s: float) -> Seen:
        """Return the reading with its times by a clock that was set by so many seconds since."""
        return self._replace(since=self.since + by_s, at=self.at + by_s) if by_s else self


class Span(NamedTuple):
    """The time that the readings of a finding cover."""

    begin: float
    """The begin of the oldest of its readings."""
    oldest_end: float
    """The end of the oldest of the newest readings: one for each file, command or query."""


def span_of(report: Report, finding: Finding) -> Span:
    """Return the time that the readings behind a finding cover; that of its run where it refers to none."""
    newest: dict[tuple[str, str], float] = {}
    begins = []
    for entry in report.evidence(finding):
        if (begin := seconds_of(entry.started_at)) is not None:
            begins.append(begin)
            end = _end(entry, begin)
            newest[entry.node, entry.topic] = max(end, newest.get((entry.node, entry.topic), end))
    if not begins:
        found = seconds_of(report.found_at(finding.check)) or 0.0
        return Span(found, found)
    return Span(min(begins), min(newest.values()))


def _end(entry: Entry, begin: float) -> float:
    return begin + max(entry.duration_ms, 0.0) / 1000


def seconds_of(time: str) -> float | None:
    """Return a time of a report or a journal in seconds since 1970; None where the text is no time."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def readings_in(
    report: Report, checks: Collection[str], shows: Mapping[str, Collection[ConditionKind]]
) -> Iterator[Seen]:
    """Yield what the findings of some checks say about conditions: those that a fault shows are bad; those of the kinds
    that a PASS `shows` (`Check.shows`) are well, unless a fault of the report shows them bad; those of an UNKNOWN could
    not be read."""
    own = [finding for finding in report.findings if finding.check in checks]
    bad = {condition for finding in report.findings for condition in shown_bad(finding)}
    known: set[Condition] = set()
    unknown: dict[Condition, Span] = {}
    for finding in own:
        span = span_of(report, finding)
        if finding.status in FAULTS:
            for condition in shown_bad(finding):
                known.add(condition)
                yield _seen(condition, span, is_bad=True)
            continue
        rests = rests_on(finding, shows.get(finding.check, ()), report.cluster)
        if finding.status is Status.UNKNOWN:
            unknown |= dict.fromkeys(rests, span)
        elif finding.status is not Status.SKIPPED:
            for condition in rests - bad:
                known.add(condition)
                yield _seen(condition, span, is_bad=False)
    for condition, span in unknown.items():
        if condition not in known:
            yield Seen(condition, span.begin, span.oldest_end, None)


def _seen(condition: Condition, span: Span, *, is_bad: bool) -> Seen:
    if condition.kind.is_counted:
        return Seen(condition, span.begin, span.oldest_end, is_bad)
    return Seen(condition, span.begin, span.begin, is_bad)


def in_order(readings: Iterable[Seen]) -> list[Seen]:
    """Return the readings of one condition by the begin of what they cover, without counts of nothing that end within a
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
