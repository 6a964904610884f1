"""Holds the newest samples of every source in memory, for the graphs and numbers on the screen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from checks.traffic.samples import Event, Gap, Links, Sample

KEPT = 300
"""Most samples of a source in memory: five minutes at one a second."""


class Track(Protocol):
    """Samples by time, from memory or from a recording."""

    def sources(self) -> tuple[str, ...]:
        """Return all sources, in the order of their first events."""

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """Return the samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""

    def newest(self, source: str) -> Event | None:
        """Return the last sample or gap of a source; None where there is none."""

    def links(self, node: str, at: float) -> Links | None:
        """Return the interfaces of a node at the time `at`; None where they are not known."""

    def span(self) -> tuple[float, float] | None:
        """Return the time of the first and of the last event; None while there is no event."""

    def gap_begins(self) -> list[Gap]:
        """Return the gap with which each source stopped answering after a sample, in order of time."""


class Timeline:
    """A `Track` in memory. New samples replace the oldest ones."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._events: dict[str, deque[Event]] = {}
        self._links: dict[str, deque[Links]] = {}

    def add(self, events: Iterable[Event]) -> None:
        """Add events of a feed."""
        for event in events:
            of_source = self._events.setdefault(event.source, deque(maxlen=self._kept))
            if isinstance(event, Links):
                self._links.setdefault(event.node, deque(maxlen=self._kept)).append(event)
            else:
                of_source.append(event)

    def sources(self) -> tuple[str, ...]:
        """Return all sources, in the order of their first events."""
        return tuple(self._events)

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """Return the samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        found: list[Event] = []
        for event in reversed(self._events.get(source, ())):
            if event.at <= begin:
                break
            if event.at <= end:
                found.append(event)
        return found[::-1]

    def newest(self, source: str) -> Event | None:
        """Return the last sample or gap of a source; None where there is none."""
        events = self._events.get(source)
        return events[-1] if events else None

    def links(self, node: str, at: float) -> Links | None:
        """Return the interfaces of a node at the time `at`; None where they are not known."""
        return next((known for known in reversed(self._links.get(node, ())) if known.at <= at), None)

    def span(self) -> tuple[float, float] | None:
        """Return the time of the first and of the last event; None while there is no event."""
        kept = [events for events in self._events.values() if events]
        return (min(e[0].at for e in kept), max(e[-1].at for e in kept)) if kept else None

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
