"""Holds the newest samples of every source in memory, for the graphs and numbers on the screen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import chain
from typing import Protocol

from checks.traffic.samples import Event, Gap, Links, Sample
from checks.traffic.source_id import SourceId

KEPT = 300
"""Most samples of a source in memory: five minutes at one a second."""
_MOST_OLDER = 5_000
"""Most older samples of all sources that are kept because something happened then: some megabytes."""

_MOST_MOMENTS = 64


class Track(Protocol):
    """Samples by time, from memory or from a recording."""

    def sources(self) -> tuple[SourceId, ...]:
        """Return all sources, in the order of their first events."""

    def window(self, source: SourceId, begin: float, end: float) -> list[Event]:
        """Return the samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""

    def newest(self, source: SourceId) -> Event | None:
        """Return the last sample or gap of a source; None where there is none."""

    def links(self, node: str, at: float) -> Links | None:
        """Return the interfaces of a node at the time `at`; None where they are not known."""

    def span(self) -> tuple[float, float] | None:
        """Return the time of the first and of the last event; None while there is no event."""

    def gap_begins(self) -> list[Gap]:
        """Return the gap with which each source stopped answering after a sample, in order of time."""


class Timeline:
    """A `Track` in memory. New samples replace the oldest ones, except those of times that `keep` names."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._events: dict[SourceId, deque[Event]] = {}
        self._links: dict[str, deque[Links]] = {}
        self._moments: deque[tuple[float, float]] = deque(maxlen=_MOST_MOMENTS)
        self._older: dict[SourceId, list[Event]] = {}
        """By source: the samples of such times that newer ones have replaced."""

    def keep(self, begin: float, end: float) -> None:
        """Keep the samples of that time, also when newer ones replace those before and after it. The samples of the
        oldest such times are dropped where there are too many."""
        self._moments.append((begin, end))

    def copy(self) -> Timeline:
        """Return a copy, which does not change while this timeline grows."""
        copy = Timeline(self._kept)
        copy._events = {source: events.copy() for source, events in self._events.items()}
        copy._links = {node: links.copy() for node, links in self._links.items()}
        copy._older = {source: [*events] for source, events in self._older.items()}
        return copy

    def add(self, events: Iterable[Event]) -> None:
        """Add events of a feed."""
        for event in events:
            of_source = self._events.setdefault(event.source, deque(maxlen=self._kept))
            if isinstance(event, Links):
                self._links.setdefault(event.node, deque(maxlen=self._kept)).append(event)
            else:
                if len(of_source) == self._kept and self._moments:
                    self._retain(of_source[0])
                of_source.append(event)

    def _retain(self, event: Event) -> None:
        """Keep an event that is replaced, where it belongs to a time to keep."""
        if not any(begin <= event.at <= end for begin, end in self._moments):
            return
        self._older.setdefault(event.source, []).append(event)
        while sum(map(len, self._older.values())) > _MOST_OLDER and self._moments:
            _, end = self._moments.popleft()
            for source, events in self._older.items():
                self._older[source] = [event for event in events if event.at > end]

    def sources(self) -> tuple[SourceId, ...]:
        """Return all sources, in the order of their first events."""
        return tuple(self._events)

    def window(self, source: SourceId, begin: float, end: float) -> list[Event]:
        """Return the samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        found: list[Event] = []
        for event in chain(reversed(self._events.get(source, ())), reversed(self._older.get(source, ()))):
            if event.at <= begin:
                break
            if event.at <= end:
                found.append(event)
        return found[::-1]

    def newest(self, source: SourceId) -> Event | None:
        """Return the last sample or gap of a source; None where there is none."""
        events = self._events.get(source)
        return events[-1] if events else None

    def links(self, node: str, at: float) -> Links | None:
        """Return the interfaces of a node at the time `at`; None where they are not known."""
        return next((known for known in reversed(self._links.get(node, ())) if known.at <= at), None)

    def span(self) -> tuple[float, float] | None:
        """Return the time of the first and of the last event; None while there is no event."""
        kept = [events for events in self._events.values() if events]
        first = [events[0].at for events in (*self._older.values(), *kept) if events]
        return (min(first), max(e[-1].at for e in kept)) if kept else None

    def has(self, begin: float, end: float) -> bool:
        """Return whether any source has a sample or a gap of that time."""
        return any(self.window(source, begin, end) for source in self._events)

    def gap_begins(self) -> list[Gap]:
        """Return the gap with which each source stopped answering after a sample, in order of time."""
        found: list[Gap] = []
        for events in self._events.values():
            before: Event | None = None
            for event in events:
                if isinstance(event, Gap) and isinstance(before, Sample):
                    found.append(event)
                before = event
        return sorted(found, key=lambda gap: gap.at)
