"""The situation of a moment as data: what holds, what is over, what is not known any more, and as of when.

`checks.situation` makes it, `checks.report.standing_text` words it. Times are seconds since 1970 by the clock of
racwire's node, as that clock is at the moment of the situation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from checks.model.cluster_event import ClusterEvent
from checks.model.condition import Condition
from checks.model.finding import Finding, Key, Status


class Standing(StrEnum):
    """How a statement stands."""

    NEW = "new since the run"
    """Bad, and no run has examined it: an event without a finding."""
    HOLDS = "holds"
    UNKNOWN = "not known since"
    """An event touched what it rests on, or that could not be read again."""
    PLANNED = "planned"
    """Bad, since a started step of a change stopped it."""
    WAS = "was so until"
    """A newer reading of the same condition shows it over; no run has proved it."""
    VERIFIED = "verified"
    """Over, and a run or a gate has looked since; until an event touches a condition of that proof."""


URGENT = (*Standing,)
"""The standings, the most urgent first."""


class Outdated(msgspec.Struct, frozen=True):
    """What made a statement not known: an event that started or ended, or a reading that failed."""

    at: float
    what: Condition | None = None
    """The condition that changed; None where a run could not read it again."""
    is_end: bool = False
    """Whether that condition became well at the time."""


class Statement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What holds about a finding or a condition at a moment; there is never a second statement about it."""

    standing: Standing
    is_bad: bool
    since: float
    """When it started, as far as known: the first reading in an unbroken row of them."""
    as_of: float
    """The time of the oldest reading that it rests on. A count has the start of its time while it grows, and its end
    when it does not."""
    until: float | None = None
    """When it was over (WAS, VERIFIED), where that is known; of what is not known again (UNKNOWN), when a run had
    proved it over."""
    proved: float | None = None
    """When a run or a gate proved that it is over (VERIFIED)."""
    step: str = ""
    """The title of the step that stopped it (PLANNED)."""
    outdated: Outdated | None = None
    """Why it is not known (UNKNOWN)."""
    unknown: int = 0
    """Of a finding about several conditions, how many are not known any more."""
    of: int = 0
    """How many conditions it is about."""

    @property
    def is_alarm(self) -> bool:
        """Whether it is bad now, as far as known, and no plan explains it."""
        return self.is_bad and self.standing in (Standing.NEW, Standing.HOLDS)


class FindingStatement(msgspec.Struct, frozen=True):
    """The statement about a finding of the report."""

    key: Key
    said: Statement


class Former(msgspec.Struct, frozen=True):
    """A problem of an earlier run that the newest run does not have any more."""

    key: Key
    finding: Finding
    said: Statement


class ConditionStatement(msgspec.Struct, frozen=True):
    """The statement about a condition."""

    condition: Condition
    said: Statement


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """An event as the situation knows it."""

    event: ClusterEvent
    """With the end that the situation knows."""
    until: float | None = None
    """When it was over: at the first reading that shows it, from any source; None while it lasts or is not known."""
    is_open: bool = False
    """Whether it is not known whether it lasts: its node does not answer."""
    outdated: Outdated | None = None
    """Why that is not known."""
    as_of: float
    """The time of its newest reading."""
    step: str = ""
    """The title of the step of a change that explains it; empty where none does."""
    proved: float | None = None
    """When a run or a gate proved that it is over; None where none has, or an event has touched the proof since."""
    is_again: bool = False
    """Whether it is over, and a later event lasts at one of its places."""
    has_finding: bool = False
    """Whether findings of the report are about it, at each place where it lasts."""

    @property
    def lasts(self) -> bool:
        """Whether it lasts, as far as known."""
        return self.until is None and not self.is_open


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What is so at a moment, as far as racwire knew at that moment."""

    at: float
    findings: tuple[FindingStatement, ...] = ()
    """One for each finding of the report, PASS included, in its order."""
    former: tuple[Former, ...] = ()
    episodes: tuple[Episode, ...] = ()
    """The events in the order of their start."""
    conditions: tuple[ConditionStatement, ...] = ()
    change: str = ""
    """The place in the open change: `change 6/15`; empty where none is open."""
    are_runs_recorded: bool = True
    """Whether the runs are known; a recording of an older racwire has none."""

    def of_key(self) -> Mapping[Key, Statement]:
        """Return the statements about findings by key."""
        return {one.key: one.said for one in self.findings}

    def of_condition(self) -> Mapping[Condition, Statement]:
        """Return the statements by condition."""
        return {one.condition: one.said for one in self.conditions}

    @property
    def new(self) -> tuple[Episode, ...]:
        """The events that last, are a problem, and that no finding is about."""
        return tuple(e for e in self.lasting if not e.has_finding)

    @property
    def open_events(self) -> tuple[Episode, ...]:
        """The events of which it is not known whether they last, that are a problem, and that no finding is about."""
        return tuple(e for e in self.episodes if e.is_open and e.event.is_problem and not e.has_finding)

    @property
    def lasting(self) -> tuple[Episode, ...]:
        """The events that last, are a problem, and that no plan explains."""
        return tuple(e for e in self.episodes if e.lasts and e.event.is_problem and not e.step)

    @property
    def unsettled(self) -> int:
        """The number of events of which it is not known whether they last, and of problems of an earlier run that are
        not known any more."""
        open_ = sum(e.is_open and e.event.is_problem for e in self.episodes)
        return open_ + sum(one.said.standing is Standing.UNKNOWN for one in self.former)

    def statuses_besides(self) -> Iterator[Status]:
        """Yield the statuses of what the findings do not have: of new events, and UNKNOWN for what is unsettled."""
        yield from (e.event.status for e in self.new)
        if self.unsettled:
            yield Status.UNKNOWN


def most_urgent(statements: Iterable[Statement]) -> Statement | None:
    """Return the most urgent of some statements; None where there is none."""
    return min(statements, key=lambda said: (URGENT.index(said.standing), not said.is_bad), default=None)


def status_now(finding: Finding, said: Statement | None) -> Status | None:
    """Return the status that a finding has by the statement about it: UNKNOWN where it is not known any more; None
    where it is over, or a plan explains it. Without a statement, and where its check was skipped, it is its own."""
    if said is None or finding.status is Status.SKIPPED:
        return finding.status
    if said.standing is Standing.UNKNOWN:
        return Status.UNKNOWN
    return finding.status if said.standing in (Standing.HOLDS, Standing.NEW) else None
