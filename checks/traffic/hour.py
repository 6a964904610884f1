"""An hour of the recordings of a cluster as one recording, and the same hour of the weeks before."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from checks.traffic.recording import Recording
from checks.traffic.samples import Event
from checks.traffic.source_id import SourceKind

HOUR_S = 3600.0
_WEEKS = 4
"""Most weeks before: more are another season."""


def last_whole_hour(now: float) -> float:
    """Return the beginning of the last whole hour of this node's clock before `now`, both in seconds since 1970."""
    return datetime.fromtimestamp(now).replace(minute=0, second=0, microsecond=0).timestamp() - HOUR_S


def weeks_before(begin: float) -> list[float]:
    """Return when the same weekday had the same time of day, one to four weeks before `begin`, the last week first.

    Where the clocks changed meanwhile, that is no multiple of 24 hours. Of a time that they repeated, it is the first;
    a time that they skipped is left out.
    """
    then = [datetime.fromtimestamp(begin).replace(fold=0) - timedelta(weeks=week) for week in range(1, _WEEKS + 1)]
    return [at.timestamp() for at in then if datetime.fromtimestamp(at.timestamp()) == at]


def local_time(at: float) -> str:
    """Return a time in ISO 8601, by this node's clock and with its offset."""
    return datetime.fromtimestamp(at).astimezone().isoformat(timespec="seconds")


class Hour:
    """The hour from `begin` on, in seconds since 1970, of one or more recordings of one cluster: each has a part of the
    time, or another database. Samples that two recordings have change no rate."""

    def __init__(self, begin: float, recordings: Sequence[Recording]) -> None:
        """Read these recordings, at least one."""
        self.begin = begin
        self._recordings = recordings
        self.header = replace(recordings[-1].header, started_at=local_time(begin))
        self.name = ", ".join(recording.path.name for recording in recordings)

    def events(self) -> Iterator[Event]:
        """Yield the interfaces at its beginning, then all events in order of time. Raises RecordingError."""
        for recording in self._recordings:
            nodes = [source.name for source in recording.sources() if source.kind is SourceKind.NODE]
            known = (recording.links(node, self.begin) for node in nodes)
            yield from (links for links in known if links is not None)
        each = (recording.events(self.begin, self.begin + HOUR_S) for recording in self._recordings)
        yield from heapq.merge(*each, key=lambda event: event.at)

    def span(self) -> tuple[float, float]:
        """Return the times of the first and of the last sample of a whole hour, whether or not it has them."""
        half_s = self.header.interval_s / 2  # a comparison adds it: stretches end between two samples
        return self.begin + half_s, self.begin + HOUR_S - half_s
