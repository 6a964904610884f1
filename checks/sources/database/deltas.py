"""Compute the activity of the instances between two samples of their counters: samples in, facts out, no I/O.

Only differences count, and only differences within one run of an instance (domain rule: never a total since startup).
An instance that started, stopped or restarted between the samples becomes an ActivityGap with the reason.
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
    ClientTraffic,
    Database,
    InstanceActivity,
    InstancePing,
    ServiceActivity,
    Unknown,
    UnreadView,
    WaitBucket,
    WaitEvent,
)

Key = tuple[Any, ...]
"""The name of a counter: `("gc blocks lost",)`, `("gc cr block 2-way", "waits")`, `(sender, "lost")`."""

Pair = TypeVar("Pair", BlockTransfer, InstancePing)
_CACHE_FUSION = "gc"
"""The prefix of the names of the Cache Fusion statistics."""

_OF_ITS_OWN = ("sysstat", "cache_transfer", "instance_ping", "service_stats", "ic_clients")
"""Statements whose failure has a place of its own in the facts."""
_RECEIVED = ("gc cr blocks received", "gc current blocks received")

Counters = Mapping[int, Mapping[Key, int]]
"""The values of counters, by number of the counting instance and by key."""


@dataclass(frozen=True)
class Start:
    """The run of an instance that a sample saw. Two samples with the same startup time are of the same run."""

    name: str
    startup_time: str


@dataclass(frozen=True)
class ViewReading:
    """The counters that a sample read from one view."""

    view: str
    counters: Counters = field(default_factory=dict)
    unread: Unknown | None = None
    """Why the view could not be read; None where it was read."""


@dataclass(frozen=True)
class Sample:
    """The counters of all instances that answered, at one time."""

    at: str
    """ISO 8601, by this node's clock."""
    clock_s: float
    """Seconds of the monotonic clock when the statistics arrived."""
    instances: Mapping[int, Start]
    readings: Mapping[str, ViewReading]
    """By the name of the statement without its version: `sysstat`, `event_histogram`."""
    only_here: str = ""
    """Why only the connected instance was queried; empty where all instances were."""


@dataclass(frozen=True)
class CounterGrowth:
    """The growth of counters between two samples."""

    grown: Mapping[Key, int]
    """The difference of each counter that did not fall."""
    fallen: tuple[Key, ...]
    """The counters that fell or vanished: their growth is not known."""


def difference(before: Mapping[Key, int], after: Mapping[Key, int], *, absent_is_zero: bool) -> CounterGrowth:
    """Compute the growth of each counter.

    `absent_is_zero` is for views that list only events that have already occurred: a new row counts from 0. Other
    views always list all names: the growth of a counter that the first sample lacks is not known.
    """
    grown: dict[Key, int] = {}
    for key, value in after.items():
        earlier = before.get(key, 0 if absent_is_zero else None)
        if earlier is not None and value >= earlier:
            grown[key] = value - earlier
    fallen = tuple(key for key, value in before.items() if key not in after or after[key] < value)
    return CounterGrowth(grown, fallen)


def reset_statistic(before: Mapping[Key, int], after: Mapping[Key, int]) -> Key | None:
    """The first Cache Fusion statistic of an instance that fell or vanished; None where none did.

    These statistics only grow while an instance runs. A fallen count of buffers or disk reads says nothing about them.
    """
    fallen = difference(before, after, absent_is_zero=False).fallen
    return next((key for key in fallen if str(key[0]).startswith(_CACHE_FUSION)), None)


def shortage(name: str, view: str, number: int, before: Counters, after: Counters, received: Mapping[Key, int]) -> str:
    """Return a sentence where an instance did not answer one of two queries of a view that others answered; empty where
    it answered both.

    A GV$ view has no rows of an instance that had no free process to answer: its count since startup must not pass for
    its count in the interval. `received` are the statistics of the instance: one that has received a block has rows in
    these views, if another instance has.
    """
    if bool(before.get(number)) != bool(after.get(number)):
        return f"{no_answer(name, view)[:-1]} in one of two samples."
    has_others = any(rows for other, rows in after.items() if other != number)
    if not after.get(number) and has_others and any(received.get((statistic,), 0) for statistic in _RECEIVED):
        return no_answer(name, view)
    return ""


def no_answer(name: str, view: str) -> str:
    """Return the sentence about an instance that has no row in a GV$ view."""
    return f"{name} did not answer the query of {view}."


def pairs_of(kind: type[Pair], number: int, grown: Mapping[Key, int]) -> list[Pair]:
    """The counts of one instance about each other instance, from keys `(other, column)`.

    A pair that lacks a column, because the counter fell, is left out.
    """
    first, second, *columns = (column.name for column in msgspec.structs.fields(kind))
    return [
        kind(**{first: number, second: other}, **counts) for (other,), counts in sorted(_rows(grown, columns).items())
    ]


_OF_SERVICE = "DB time", "cluster wait time", "gc cr blocks received", "gc current blocks received"


def services_of(number: int, grown: Mapping[Key, int]) -> Iterator[ServiceActivity]:
    """Yield the work of each service of an instance, from keys `(service, statistic)`."""
    for (service,), counts in sorted(_rows(grown, _OF_SERVICE).items()):
        db_time_us, cluster_us, cr, current = (counts[name] for name in _OF_SERVICE)
        yield ServiceActivity(number, service, db_time_us, cluster_us, cr + current)


def activity_between(before: Sample, after: Sample, database: Database) -> Activity:
    """Return the activity of each instance of the database between the two samples."""
    return _Interval(before, after, database).activity()


class _Interval:
    """Two samples, and the views that could not be compared."""

    def __init__(self, before: Sample, after: Sample, database: Database) -> None:
        self._before = before
        self._after = after
        self._database = database
        self._seconds = after.clock_s - before.clock_s
        self._unread: list[UnreadView] = []
        self._gaps = {n: gap for n in self._all_instances() if (gap := self._gap(n))}

    def activity(self) -> Activity:
        for name in self._after.readings:
            if name not in _OF_ITS_OWN and (why := self._why_unread(name)):
                self._unread.append(UnreadView(self._view(name), why.reason, why.right))
        instances = tuple(self._gaps.get(n) or self._of_instance(n) for n in self._all_instances())
        return Activity(
            begun_at=self._before.at,
            ended_at=self._after.at,
            seconds=self._seconds,
            instances=instances,
            transfers=self._pairs("cache_transfer", BlockTransfer),
            pings=self._pairs("instance_ping", InstancePing),
            services=self._services(),
            clients=self._clients(),
            unread=tuple(self._unread),
        )

    def _all_instances(self) -> list[int]:
        known = {i.number for i in self._database.instances} | {u.number for u in self._database.unasked}
        return sorted(known | set(self._before.instances) | set(self._after.instances))

    def _gap(self, number: int) -> ActivityGap | None:
        """Why the instance's own statistics cannot be compared; None where they can."""
        if why := self._why_unread("sysstat"):
            return ActivityGap(number, self._interruption(number) or why.reason, why.right)
        reason = self._interruption(number) or self._incomparable(number)
        return ActivityGap(number, reason) if reason else None

    def _incomparable(self, number: int) -> str:
        """Why the statistics of both samples cannot be compared; empty where they can."""
        before, after = (s.readings["sysstat"].counters.get(number, {}) for s in (self._before, self._after))
        if not before or not after:
            return no_answer(self._name(number), self._view("sysstat"))
        if key := reset_statistic(before, after):
            change = f"fell from {before[key]:,} to {after[key]:,}" if key in after else "vanished"
            return (
                f"The statistic '{key[0]}' of {self._name(number)} {change} within the interval: the instance was "
                "restarted, or its counters were reset."
            )
        return ""

    def _interruption(self, number: int) -> str:
        """Why the two samples are not of one run of the instance; empty where they are."""
        before, after = self._before.instances.get(number), self._after.instances.get(number)
        name = self._name(number)
        if before and after:
            if before.startup_time == after.startup_time:
                return ""
            return (
                f"{name} was restarted within the interval (up since {after.startup_time}, previously since "
                f"{before.startup_time}): its counters were reset."
            )
        if unasked := next((u for u in self._database.unasked if u.number == number and not (before or after)), None):
            return unasked.reason
        if after:
            return f"{name} started within the interval, or did not answer at its start: only one sample has it."
        if reason := self._after.only_here:
            return f"{name} could not be queried: {reason}"
        if before:
            return f"{name} did not answer at the end of the interval: {name} went down, or could not be queried."
        return f"{name} answered when racwire connected, but not for the samples: {name} went down, or hangs."

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
        """The counts about each pair of instances, from each instance that ran through the interval."""
        if why := self._why_unread(name):
            return why
        return tuple(
            pair
            for number in self._all_instances()
            if not self._interruption(number)
            for pair in pairs_of(kind, number, self._grown(name, number, absent_is_zero=True))
        )

    def _services(self) -> tuple[ServiceActivity, ...] | Unknown:
        """The work of each service on each instance that ran through the interval."""
        if why := self._why_unread("service_stats"):
            return why
        return tuple(one for number, grown in self._growth("service_stats") for one in services_of(number, grown))

    def _clients(self) -> tuple[ClientTraffic, ...] | Unknown:
        """The bytes of each user of the interconnect: of the connected instance."""
        if why := self._why_unread("ic_clients"):
            # The same error for a view that does not exist and for one without a grant.
            return Unknown("The optional view SYS.RACWIRE_IC_CLIENTS is not there.", why.right) if why.right else why
        return tuple(
            ClientTraffic(number, client, counts["bytes_sent"], counts["bytes_received"])
            for number, grown in self._growth("ic_clients")
            for (client,), counts in sorted(_rows(grown, ("bytes_sent", "bytes_received")).items())
        )

    def _growth(self, name: str) -> Iterator[tuple[int, Mapping[Key, int]]]:
        """The growth of an optional view's counters, of the instances that both samples have in one run."""
        before, after = (s.readings[name].counters for s in (self._before, self._after))
        for number in self._all_instances():
            if not self._interruption(number) and before.get(number) and after.get(number):
                yield number, difference(before[number], after[number], absent_is_zero=True).grown

    def _grown(self, name: str, number: int, *, absent_is_zero: bool = False) -> Mapping[Key, int]:
        """The growth of an instance's counters in one view. Fallen counters are left out and become an UnreadView."""
        if self._why_unread(name):
            return {}
        earlier, later = (s.readings[name].counters for s in (self._before, self._after))
        before, after = earlier.get(number, {}), later.get(number, {})
        received = self._after.readings["sysstat"].counters.get(number, {})
        if reason := shortage(self._name(number), self._view(name), number, earlier, later, received):
            if not (before or after) or any(self._is_reported(key) for key in (*before, *after)):
                self._unread.append(UnreadView(self._view(name), reason))
            return {}
        change = difference(before, after, absent_is_zero=absent_is_zero)
        if fallen := list(dict.fromkeys(self._label(key) for key in change.fallen if self._is_reported(key))):
            more = f" and {len(fallen) - 1} more" if len(fallen) > 1 else ""
            self._unread.append(
                UnreadView(
                    self._view(name),
                    f"The counters of {self._name(number)} for {fallen[0]}{more} fell within the interval: their "
                    "growth is not known.",
                )
            )
        return change.grown

    def _is_reported(self, key: Key) -> bool:
        """Whether a fallen counter is reported: not if it is about an instance that did not run all the time."""
        return not (isinstance(key[0], int) and self._interruption(key[0]))

    def _label(self, key: Key) -> str:
        return self._name(key[0]) if isinstance(key[0], int) else f"'{key[0]}'"

    def _why_unread(self, name: str) -> Unknown | None:
        return self._before.readings[name].unread or self._after.readings[name].unread

    def _view(self, name: str) -> str:
        return self._after.readings[name].view

    def _name(self, number: int) -> str:
        start = self._after.instances.get(number) or self._before.instances.get(number)
        return start.name if start else self._database.instance_name(number)


def _rows(counters: Mapping[Key, int], columns: Iterable[str]) -> dict[Key, dict[str, int]]:
    """Counters with keys `(*head, column)` as rows by head; a row that lacks a column is left out."""
    wanted = tuple(columns)
    heads = dict.fromkeys(key[:-1] for key in counters)
    rows = {head: {c: counters[*head, c] for c in wanted if (*head, c) in counters} for head in heads}
    return {head: row for head, row in rows.items() if len(row) == len(wanted)}
