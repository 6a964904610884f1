"""The starts and ends of events, and which of them outdates a reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from checks.model.cluster_event import ClusterEvent
from checks.model.condition import Condition
from checks.model.situation import Outdated
from checks.situation.condition_readings import ConditionReading
from checks.situation.touching import touches


class Edge(NamedTuple):
    """The start or the end of an event at one place."""

    condition: Condition
    network: str
    at: float
    is_end: bool


def edges_of(
    events: Iterable[ClusterEvent], now_clock_s: float, seen: Mapping[Condition, Sequence[ConditionReading]]
) -> Iterator[Edge]:
    """Yield the start and the end of each event at each of its places, by the clock of now. A start has the time at
    which it was noticed: before that, what was read may already have been so; where a run had read it as bad by then,
    the start of that run. An end is the first reading that shows it over, from any source."""
    for event in events:
        by_s = now_clock_s - event.clock_s
        for place in event.places:
            if (condition := place.condition(event.kind)) is None:
                continue
            noticed, read = (place.noticed or event.noticed) + by_s, seen.get(condition, ())
            begin = _read_bad_since(read, noticed)
            yield Edge(condition, place.network, noticed if begin is None else begin, is_end=False)
            over = place.until if place.until is not None else event.end
            ends = [] if over is None else [over + by_s]
            ends += [well for well in (_well_since(read),) if well is not None and well >= noticed]
            if ends:
                yield Edge(condition, place.network, min(ends), is_end=True)


def _read_bad_since(readings: Iterable[ConditionReading], at: float) -> float | None:
    """Return the start of the run that first read a condition as bad, of the readings in a row that show it so up to
    that time; None where none did."""
    since = None
    for one in readings:
        if one.since >= at:
            break
        if one.is_bad is False:
            since = None
        elif one.is_bad and one.is_proof and since is None:
            since = one.since if one.began is None else min(one.began, one.since)
    return since


def _well_since(readings: Sequence[ConditionReading]) -> float | None:
    """Return since when a condition is well again: the first of the readings in a row, up to now, that show it; None
    where it is bad, or never was."""
    since = None
    for one in reversed(readings):
        if one.is_bad:
            return since
        since = since if one.is_bad is None else one.since
    return None


def newest_of(outdated: Iterable[Outdated]) -> Outdated:
    """Return the newest of what made a statement not known; of one time that at the first place, so that every text
    names the same. Raises ValueError where there is none."""
    return min(outdated, key=lambda one: (-one.at, one.what or ()))


class Edges:
    """The edges of all events known at a moment, and those that touch a condition."""

    def __init__(
        self, events: Iterable[ClusterEvent], now_clock_s: float, seen: Mapping[Condition, Sequence[ConditionReading]]
    ) -> None:
        """`seen` has the readings of each condition in order (`in_order`)."""
        self._every = tuple(edges_of(events, now_clock_s, seen))
        self._touching: dict[Condition, tuple[Edge, ...]] = {}

    def outdating(self, condition: Condition, as_of: float, *, is_bad: bool) -> Outdated | None:
        """Return the newest edge after a reading that makes it unknown: a start what was well, an end what was bad, and
        a node that falls silent or returns both. The events of its own condition are readings, and outdate nothing."""
        if condition not in self._touching:
            self._touching[condition] = tuple(
                edge
                for edge in self._every
                if edge.condition != condition and touches(edge.condition, edge.network, condition)
            )
        newest = None
        for edge in self._touching[condition]:
            if edge.at <= as_of or not (edge.condition.kind.is_silence or edge.is_end == is_bad):
                continue
            if newest is None or edge.at > newest.at:
                newest = edge
        return Outdated(newest.at, newest.condition, newest.is_end) if newest else None
