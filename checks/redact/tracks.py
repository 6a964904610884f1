"""Samples with pseudonyms, replaced as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from checks.traffic.recording import Recording
from checks.traffic.samples import Event, Links
from checks.traffic.timeline import Track

_BEFORE_ALL, _AFTER_ALL = float("-inf"), float("inf")


class Replaces(Protocol):
    """What replaces names (`checks.redact.redactor.Redactor`)."""

    def event(self, event: Event) -> Event:
        """A sample with pseudonyms."""

    def source(self, source: str) -> str:
        """What samples are of, with pseudonyms."""

    def text(self, text: str) -> str:
        """A text with pseudonyms."""


def all_events(track: Track) -> Iterator[Event]:
    """Every sample, gap and change of the interfaces. Raises RecordingError."""
    if isinstance(track, Recording):
        yield from track.events()
        return
    for source in track.sources():
        kind, _, node = source.partition(" ")
        if kind == "node" and (links := track.links(node, _AFTER_ALL)):
            yield links
        yield from track.window(source, _BEFORE_ALL, _AFTER_ALL)


class RedactedTrack:
    """A `checks.traffic.timeline.Track` of another one, in which everything has its pseudonym."""

    def __init__(self, track: Track, redactor: Replaces) -> None:
        self._track = track
        self._redactor = redactor

    def sources(self) -> tuple[str, ...]:
        """All sources, in the order in which they were first heard of."""
        return tuple(self._redactor.source(source) for source in self._track.sources())

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """The samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        return [self._redactor.event(e) for e in self._track.window(self._original(source), begin, end)]

    def newest(self, source: str) -> Event | None:
        """The last sample or gap of a source; None where there is none."""
        event = self._track.newest(self._original(source))
        return None if event is None else self._redactor.event(event)

    def links(self, node: str, at: float) -> Links | None:
        """The interfaces of a node as they were then; None where that is not known."""
        links = self._track.links(self._original(f"node {node}").removeprefix("node "), at)
        if links is None:
            return None
        replaced = self._redactor.event(links)
        assert isinstance(replaced, Links)
        return replaced

    def span(self) -> tuple[float, float] | None:
        """The time of the first and of the last event; None while there is none."""
        return self._track.span()

    def _original(self, source: str) -> str:
        """The source that is told under that name; the name itself where there is none."""
        return next((s for s in self._track.sources() if self._redactor.source(s) == source), source)
