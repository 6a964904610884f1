"""Samples in one SQLite file: whole after every second, also when racwire is killed; readable while it is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

import msgspec

from checks.facts import Cluster
from checks.traffic.samples import Event, Links

SCHEMA = 1
"""The version of the file's layout. Files of an older one are read; a newer one is refused in one sentence."""


class RecordingError(Exception):
    """A recording could not be written or read: one sentence with which file, why and what to do."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a recording is of."""

    racwire_version: str
    started_at: str
    label: str = ""
    interval_s: float
    cluster: Cluster
    """As it was when the recording began; `Unknown` groups included."""
    settings: dict[str, object] = msgspec.field(default_factory=dict)
    """Those in use, by section; they never hold a password."""


class Recorder:
    """Writes a recording. Each `write` is one transaction."""

    @classmethod
    def create(cls, path: Path, header: Header, *, keep_s: float | None = None) -> Self:
        """Begin a new file of mode 0600; one that is there already is refused. `keep_s`: samples older than that are
        removed as new ones come. Raises RecordingError."""
        raise NotImplementedError

    def write(self, events: Iterable[Event]) -> None:
        """Add events. Blocking. Raises RecordingError, for a full disk too; what was written before stays readable."""
        raise NotImplementedError

    def follow(self, cluster: Cluster) -> None:
        """Replace what is known of the cluster by what is known now. Raises RecordingError."""
        raise NotImplementedError

    def close(self) -> None:
        """End the recording. Can be called twice."""
        raise NotImplementedError


class Recording:
    """A recording opened for reading; a `checks.traffic.timeline.Track`."""

    header: Header

    @classmethod
    def open(cls, path: Path) -> Self:
        """Raises RecordingError: not there, no recording, damaged, or of a newer racwire."""
        raise NotImplementedError

    def sources(self) -> tuple[str, ...]:
        """All sources, in the order in which they were first heard of."""
        raise NotImplementedError

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """The samples and gaps of a source that ended after `begin` and not after `end`, in order of time."""
        raise NotImplementedError

    def links(self, node: str, at: float) -> Links | None:
        """The interfaces of a node as they were then; None where that is not known."""
        raise NotImplementedError

    def span(self) -> tuple[float, float] | None:
        """The time of the first and of the last event; None while there is none."""
        raise NotImplementedError

    def events(self) -> Iterator[Event]:
        """All of it, in order of time, without holding it in memory."""
        raise NotImplementedError

    def close(self) -> None:
        """Can be called twice."""
        raise NotImplementedError
