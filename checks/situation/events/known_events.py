"""The events as they were known at a moment, and what they say about conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventPlace
from checks.model.condition import Condition
from checks.situation.condition_readings import ConditionReading
from checks.situation.events.sampled_conditions import Extent


def as_known(events: Iterable[ClusterEvent], now: float, clock_s: float = 0.0) -> list[ClusterEvent]:
    """Return the events as they were known at a time: those that had been noticed, each with the places and the ends
    that had been noticed. Times are by a clock that is set so far, in seconds since the first sample.

    The status, the peak, the count, the reason and the senders are those of the whole event: those of a part are not
    kept. A place that was calm for a time and then lost again lasts in that time, too.
    """
    moved = (_moved(event, clock_s - event.clock_s) for event in events)
    return [_at(event, now) for event in moved if event.noticed <= now]


def _moved(event: ClusterEvent, by_s: float) -> ClusterEvent:
    if not by_s:
        return event
    places = (
        replace(
            place, since=place.since + by_s, noticed=place.noticed + by_s, until=_plus(place.until, by_s),
            end_noticed=_plus(place.end_noticed, by_s),
        )
        for place in event.places
    )  # fmt: skip
    return replace(
        event, places=tuple(places), start=event.start + by_s, end=_plus(event.end, by_s),
        noticed=event.noticed + by_s, end_noticed=_plus(event.end_noticed, by_s),
        last_sign=event.last_sign + by_s, peak_at=event.peak_at + by_s, clock_s=event.clock_s + by_s,
    )  # fmt: skip


def _plus(at: float | None, by_s: float) -> float | None:
    return None if at is None else at + by_s


def _at(event: ClusterEvent, now: float) -> ClusterEvent:
    places = tuple(_place_at(place, now) for place in event.places if place.noticed <= now)
    if event.end_noticed is not None and event.end_noticed <= now:
        return event
    if places == event.places and not event.is_over and event.last_sign <= now:
        return event
    start = min((place.since for place in places), default=event.start)
    is_counted = any(condition.kind.is_counted for condition in event.conditions)
    sign = min(event.last_sign, now)
    if not is_counted:
        signs = (place.noticed if place.until is None else place.until for place in places)
        sign = max(signs, default=event.noticed)
    return replace(event, places=places, start=start, end=None, end_noticed=None, last_sign=sign)


def _place_at(place: EventPlace, now: float) -> EventPlace:
    if place.end_noticed is None or place.end_noticed <= now:
        return place
    return replace(place, until=None, end_noticed=None)


def event_readings(events: Iterable[ClusterEvent], now: float, clock_s: float = 0.0) -> Iterator[ConditionReading]:
    """Yield what the events show of conditions, as known at a time, by a clock that is set so far.

    A state is bad when it was noticed; at its end, it is well. A count grew no more from its end until that was
    noticed; that it grew, the samples show.
    """
    for event in as_known(events, now, clock_s):
        for place in event.places:
            if (condition := place.condition(event.kind)) is None:
                continue
            is_counted = condition.kind.is_counted
            if not is_counted:
                yield ConditionReading(condition, place.noticed, place.noticed, True, False)
            if place.until is not None and place.end_noticed is not None:
                yield ConditionReading(
                    condition, place.until, place.end_noticed if is_counted else place.until, False, False
                )


def extents(events: Iterable[ClusterEvent]) -> dict[Condition, list[Extent]]:
    """Return the times of the events that are counted, from the first sign at each place to the end of the event."""
    found: dict[Condition, list[Extent]] = {}
    for event in events:
        for place in event.places:
            condition = place.condition(event.kind)
            if condition is not None and condition.kind.is_counted:
                end = float("inf") if event.end is None else event.end
                found.setdefault(condition, []).append((place.since, end))
    return found
