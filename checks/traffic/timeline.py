"""The newest samples of every source, in memory: what graphs and numbers on the screen are drawn from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from checks.traffic.samples import Event, InstanceSample, LatencySample, Links, NodeSample, PairsSample

KEPT = 300
"""Samples of each source that are kept: five minutes at one a second; from then on it takes no more memory."""


class Track(Protocol):
    """Where samples can be had from, by time: kept in memory, or recorded in a file."""

    def sources(self) -> tuple[str, ...]:
        """All sources, in the order in which they were first heard of."""

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """The samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""

    def newest(self, source: str) -> Event | None:
        """The last sample or gap of a source; None where there is none."""

    def links(self, node: str, at: float) -> Links | None:
        """The interfaces of a node as they were then; None where that is not known."""

    def span(self) -> tuple[float, float] | None:
        """The time of the first and of the last event; None while there is none."""


class Timeline:
    """A `Track` in memory. Old samples make room for new ones."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._events: dict[str, deque[Event]] = {}
        self._links: dict[str, deque[Links]] = {}

    def add(self, events: Iterable[Event]) -> None:
        """Take over what a feed told."""
        for event in events:
            of_source = self._events.setdefault(event.source, deque(maxlen=self._kept))
            if isinstance(event, Links):
                self._links.setdefault(event.node, deque(maxlen=self._kept)).append(event)
            else:
                of_source.append(event)

    def sources(self) -> tuple[str, ...]:
        """All sources, in the order in which they were first heard of."""
        return tuple(self._events)

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """The samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        found: list[Event] = []
        for event in reversed(self._events.get(source, ())):
            if event.at <= begin:
                break
            if event.at <= end:
                found.append(event)
        return found[::-1]

    def newest(self, source: str) -> Event | None:
        """The last sample or gap of a source; None where there is none."""
        events = self._events.get(source)
        return events[-1] if events else None

    def links(self, node: str, at: float) -> Links | None:
        """The interfaces of a node as they were then; None where that is not known."""
        return next((known for known in reversed(self._links.get(node, ())) if known.at <= at), None)

    def span(self) -> tuple[float, float] | None:
        """The time of the first and of the last event; None while there is none."""
        kept = [events for events in self._events.values() if events]
        return (min(e[0].at for e in kept), max(e[-1].at for e in kept)) if kept else None


Sample = NodeSample | InstanceSample | PairsSample | LatencySample
"""What covers time. A gap covers none, and links are of a moment."""


def overlap_s(sample: Sample, begin: float, end: float) -> float:
    """How many seconds between these two moments the sample covers: it began its `seconds` before it ended."""
    return max(min(sample.at, end) - max(sample.at - sample.seconds, begin), 0.0)
