"""What the console shows instead of a cluster as it is now: a recording, or what was saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from checks.report.age import state_in_brief
from checks.traffic.samples import Event, Links
from checks.traffic.timeline import Track
from tui.screens.database.live_source import PAIRS_S

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
    longer: str = ""
    """The words where there is much room; empty where there are no others."""
    shorter: str = ""
    """The words where there is little."""

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
    longer, words, shorter = state_in_brief(saved.report, now)
    return Past(words, saved.recording, is_saved=True, longer=longer, shorter=shorter)


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
