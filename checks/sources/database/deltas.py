"""What the instances did between two samples of their counters: pure arithmetic, samples in, facts out.

Only differences count, and only those of one and the same start of an instance (domain rule: never a total since
startup). Of an instance that was restarted meanwhile, came or went, it is said that nothing can be told, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from checks.model.facts import (
    Activity,
    ActivityGap,
    BlockTransfer,
    Database,
    InstanceActivity,
    InstancePing,
    Unknown,
    UnreadView,
    WaitBucket,
    WaitEvent,
)

Key = tuple[Any, ...]
"""What is counted: `("gc blocks lost",)`, `("gc cr block 2-way", "waits")`, `(sender, "lost")`."""

Pair = TypeVar("Pair", BlockTransfer, InstancePing)
_CACHE_FUSION = "gc"
"""How the names of these statistics begin."""

Counters = Mapping[int, Mapping[Key, int]]
"""By the number of the instance that counts, and by what it counts."""


@dataclass(frozen=True)
class Start:
    """An instance as a sample found it: two samples with the same startup time are of the same start."""

    name: str
    startup_time: str


@dataclass(frozen=True)
class ViewReading:
    """One view as a sample read it, or why it could not be."""

    view: str
    counters: Counters = field(default_factory=dict)
    why_unread: str = ""


@dataclass(frozen=True)
class Sample:
    """The counters of all instances that answered, at one time."""

    at: str
    """ISO 8601, by this node's clock."""
    clock_s: float
    """When the statistics came, by a clock that only ever goes forward."""
    instances: Mapping[int, Start]
    readings: Mapping[str, ViewReading]
    """By the name of the statement, of whichever version: `sysstat`, `event_histogram`."""
    only_here: str = ""
    """Why only the connected instance was asked; empty where all were."""


@dataclass(frozen=True)
class CounterGrowth:
    """What counters grew by."""

    grown: Mapping[Key, int]
    fallen: tuple[Key, ...]
    """Those that fell or vanished: nothing can be told of them."""


def difference(before: Mapping[Key, int], after: Mapping[Key, int], *, absent_is_zero: bool) -> CounterGrowth:
    """What each counter grew by.

    `absent_is_zero` is for views that list only what has happened yet, so that a new row beside others began at 0. In
    the others all names are always there: of one that is missing in the first sample nothing is known.
    """
    grown: dict[Key, int] = {}
    for key, value in after.items():
        earlier = before.get(key, 0 if absent_is_zero else None)
        if earlier is not None and value >= earlier:
            grown[key] = value - earlier
    fallen = tuple(key for key, value in before.items() if key not in after or after[key] < value)
    return CounterGrowth(grown, fallen)


def began_anew(before: Mapping[Key, int], after: Mapping[Key, int]) -> Key | None:
    """The first of an instance's Cache Fusion statistics that fell or vanished; None where all of them went on.

    They only ever grow while an instance runs. A count of buffers or disk reads that falls leaves them as good as they
    are.
    """
    fallen = difference(before, after, absent_is_zero=False).fallen
    return next((key for key in fallen if str(key[0]).startswith(_CACHE_FUSION)), None)


def pairs_of(kind: type[Pair], number: int, grown: Mapping[Key, int]) -> list[Pair]:
    """What the instance of that number counted of each other one, from `(other, column)`; a pair of which a column is
    missing, because it fell, is left out."""
    first, second, *columns = (column.name for column in msgspec.structs.fields(kind))
    return [
        kind(**{first: number, second: other}, **counts) for (other,), counts in sorted(_rows(grown, columns).items())
    ]


def activity_between(before: Sample, after: Sample, database: Database) -> Activity:
    """What each instance of the database did between the two samples."""
    return _Interval(before, after, database).activity()


class _Interval:
    """Two samples, and what is told of them on the way."""

    def __init__(self, before: Sample, after: Sample, database: Database) -> None:
        self._before = before
        self._after = after
        self._database = database
        self._seconds = after.clock_s - before.clock_s
        self._unread: list[UnreadView] = []
        self._gaps = {n: reason for n in self._all_instances() if (reason := self._gap(n))}

    def activity(self) -> Activity:
        for name in self._after.readings:
            if name not in ("sysstat", "cache_transfer", "instance_ping") and (reason := self._why_unread(name)):
                self._unread.append(UnreadView(self._view(name), reason))
        instances = tuple(
            ActivityGap(n, self._gaps[n]) if n in self._gaps else self._of_instance(n) for n in self._all_instances()
        )
        return Activity(
            begun_at=self._before.at,
            ended_at=self._after.at,
            seconds=self._seconds,
            instances=instances,
            transfers=self._pairs("cache_transfer", BlockTransfer),
            pings=self._pairs("instance_ping", InstancePing),
            unread=tuple(self._unread),
        )

    def _all_instances(self) -> list[int]:
        known = {i.number for i in self._database.instances} | {u.number for u in self._database.unasked}
        return sorted(known | set(self._before.instances) | set(self._after.instances))

    def _gap(self, number: int) -> str:
        """Why the instance's own statistics tell nothing; empty where they do."""
        if reason := self._interruption(number):
            return reason
        if reason := self._why_unread("sysstat"):
            return reason
        before, after = (s.readings["sysstat"].counters.get(number, {}) for s in (self._before, self._after))
        if not before or not after:
            return f"{self._name(number)} did not answer {self._view('sysstat')}."
        if key := began_anew(before, after):
            now = f"fell from {before[key]:,} to {after[key]:,}" if key in after else "vanished"
            return (
                f"The statistic '{key[0]}' of {self._name(number)} {now} within the interval: the instance was "
                "restarted, or its counters began anew."
            )
        return ""

    def _interruption(self, number: int) -> str:
        """Why the two samples do not belong to one and the same run of the instance; empty where they do."""
        before, after = self._before.instances.get(number), self._after.instances.get(number)
        name = self._name(number)
        if before and after:
            if before.startup_time == after.startup_time:
                return ""
            return (
                f"{name} was restarted within the interval (up since {after.startup_time}, before that since "
                f"{before.startup_time}): its counters began anew."
            )
        if unasked := next((u for u in self._database.unasked if u.number == number and not (before or after)), None):
            return unasked.reason
        if after:
            return f"{name} came up within the interval, or could not be asked at its beginning: there is one sample."
        if alone := self._after.only_here:
            return f"{name} could not be asked: {alone}"
        if before:
            return f"{name} did not answer at the end of the interval: it went down, or could not be asked any more."
        return f"{name} answered when racwire connected, and not when the samples were taken: it went down, or hangs."

    def _of_instance(self, number: int) -> InstanceActivity:
        statistics = self._grown("sysstat", number)
        messages = self._grown("dlm_misc", number)
        return InstanceActivity(
            instance=number,
            seconds=self._seconds,
            statistics={name: value for (name,), value in statistics.items()},
            messages={name: value for (name,), value in messages.items()},
            events=tuple(self._events(number)),
            cr_flushes=self._grown("cr_block_server", number).get(("flushes",)),
            current_flushes=self._grown("current_block_server", number).get(("flushes",)),
        )

    def _events(self, number: int) -> Iterator[WaitEvent]:
        histograms: dict[str, list[WaitBucket]] = {}
        for (event, up_to_us), waits in sorted(self._grown("event_histogram", number, absent_is_zero=True).items()):
            histograms.setdefault(event, []).extend([WaitBucket(up_to_us, waits)] if waits else [])
        events = _rows(self._grown("system_event", number, absent_is_zero=True), ("waits", "time_us"))
        for (event,), counts in sorted(events.items()):
            if counts["waits"]:
                yield WaitEvent(event, counts["waits"], counts["time_us"], tuple(histograms.get(event, ())))

    def _pairs(self, name: str, kind: type[Pair]) -> tuple[Pair, ...] | Unknown:
        """Of each instance that ran all the time, and each other one: what they counted of each other."""
        if reason := self._why_unread(name):
            return Unknown(reason)
        return tuple(
            pair
            for number in self._all_instances()
            if not self._interruption(number)
            for pair in pairs_of(kind, number, self._grown(name, number, absent_is_zero=True))
        )

    def _grown(self, name: str, number: int, *, absent_is_zero: bool = False) -> Mapping[Key, int]:
        """What an instance's counters in one view grew by; those that fell are left out and told."""
        before, after = (s.readings[name].counters.get(number, {}) for s in (self._before, self._after))
        if self._why_unread(name):
            return {}
        if bool(before) != bool(after):
            # A GV$ view has no rows of an instance that had no process free to answer: what it counted since it
            # started must not pass for what it counted in the interval.
            if any(self._is_news(key) for key in (*before, *after)):
                reason = f"{self._name(number)} did not answer {self._view(name)} in one of the two samples."
                self._unread.append(UnreadView(self._view(name), reason))
            return {}
        change = difference(before, after, absent_is_zero=absent_is_zero)
        if fallen := list(dict.fromkeys(self._called(key) for key in change.fallen if self._is_news(key))):
            more = f" and {len(fallen) - 1} more" if len(fallen) > 1 else ""
            self._unread.append(
                UnreadView(
                    self._view(name),
                    f"What {self._name(number)} counts of {fallen[0]}{more} fell within the interval: nothing can be "
                    "told of it.",
                )
            )
        return change.grown

    def _is_news(self, key: Key) -> bool:
        """Whether a counter that fell has to be told: not where it is about an instance that went down meanwhile."""
        return not (isinstance(key[0], int) and self._interruption(key[0]))

    def _called(self, key: Key) -> str:
        return self._name(key[0]) if isinstance(key[0], int) else f"'{key[0]}'"

    def _why_unread(self, name: str) -> str:
        return self._before.readings[name].why_unread or self._after.readings[name].why_unread

    def _view(self, name: str) -> str:
        return self._after.readings[name].view

    def _name(self, number: int) -> str:
        start = self._after.instances.get(number) or self._before.instances.get(number)
        return start.name if start else self._database.instance_name(number)


def _rows(counters: Mapping[Key, int], columns: Iterable[str]) -> dict[Key, dict[str, int]]:
    """Counters of several columns as rows again: those in which every column is there."""
    wanted = tuple(columns)
    heads = dict.fromkeys(key[:-1] for key in counters)
    rows = {head: {c: counters[*head, c] for c in wanted if (*head, c) in counters} for head in heads}
    return {head: row for head, row in rows.items() if len(row) == len(wanted)}
