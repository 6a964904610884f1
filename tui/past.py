"""What the console shows instead of a cluster as it is now: a recording, or what was saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from checks.traffic.samples import Event, Links
from checks.traffic.timeline import Track
from checks.wording import counted
from tui.widgets.database_live import PAIRS_S

if TYPE_CHECKING:
    from checks.saved import Saved
    from checks.traffic.recording import Recording


@dataclass(frozen=True)
class Past:
    """What is shown. Nothing is read, sent, asked or sampled."""

    words: str
    """What the header says of it."""
    recording: Recording | None
    """Where the samples are; None where none were saved."""
    is_saved: bool
    """Whether it holds all that a run found, and not only samples."""

    @property
    def track(self) -> Track:
        """The samples."""
        return NoSamples() if self.recording is None else self.recording

    def last_of_the_database(self) -> tuple[Event, ...]:
        """The last minute of what the instances told. Reads a file. Raises RecordingError."""
        track = self.track
        span = track.span()
        if span is None:
            return ()
        told = (s for s in track.sources() if s.partition(" ")[0] in ("instance", "database", "pairs"))
        return tuple(event for source in told for event in track.window(source, span[1] - PAIRS_S, span[1]))


def of_recording(recording: Recording) -> Past:
    """A recording by itself."""
    header = recording.header
    return Past(f"recording {header.label or header.started_at[:10]}", recording, is_saved=False)


def of_saved(saved: Saved, now: datetime) -> Past:
    """What was saved, as it is looked at now, a time with a zone."""
    at, age = saved.saved_at, saved.age(now)
    if age is None:
        return Past("saved, nobody knows when", saved.recording, is_saved=True)
    return Past(f"saved {at[:10]} {at[11:16]}{_ago(age)}", saved.recording, is_saved=True)


def _ago(age: timedelta) -> str:
    """In one unit, since the header has little room."""
    units = (("day", age.days), ("hour", age.seconds // 3600), ("minute", age.seconds // 60))
    unit, number = next(((unit, number) for unit, number in units if number), ("", 0))
    return f", {counted(number, unit)} ago" if number and age > timedelta(0) else ""


class NoSamples:
    """A `Track` that nothing was sampled on."""

    def sources(self) -> tuple[str, ...]:
        """None."""
        return ()

    def window(self, source: str, begin: float, end: float) -> list[Event]:
        """None."""
        return []

    def newest(self, source: str) -> Event | None:
        """None."""
        return None

    def links(self, node: str, at: float) -> Links | None:
        """None."""
        return None

    def span(self) -> tuple[float, float] | None:
        """None."""
        return None
