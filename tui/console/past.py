"""What the console displays in place of the live cluster: a recording or a saved state."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from checks.model.run_record import RunRecord, as_run
from checks.model.situation import Situation
from checks.report.age import short_state_texts
from checks.traffic.samples import Event, Gap, Links
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Track

if TYPE_CHECKING:
    from checks.saved import Saved
    from checks.traffic.recording import Recording
    from checks.traffic.recording_runs import RecordedLine


class Past(msgspec.Struct, frozen=True):
    """A recording or a saved state that the console displays. racwire then reads, sends, queries and samples
    nothing."""

    label: str
    """The name of the recording or saved state in the header."""
    recording: Recording | None
    """The samples; None where none were saved."""
    is_saved: bool
    """Whether this is a saved state with the full report of a run, and not only samples."""
    longer: str = ""
    """A longer label for a wide header; empty where there is none."""
    shorter: str = ""
    """A shorter label for a narrow header; empty where there is none."""

    run: RunRecord | None = None
    """The run of a saved state, as its report has it."""

    situation: Situation | None = None
    """The situation that a report without samples was written with: nothing else knows its events."""
    at: float | None = None
    """The moment of a saved state, in seconds since 1970: that of its situation, or the end of its run; None where its
    samples have it."""

    @property
    def are_runs_recorded(self) -> bool:
        """Whether the runs of the checks are known; a recording of racwire 0.2.0 has none."""
        return self.run is not None or (self.recording is not None and self.recording.has_runs)

    def runs(self) -> tuple[RunRecord, ...]:
        """Return the recorded runs of the checks and verified gates, in the order in which they ended. Reads a file.
        Raises RecordingError where it cannot be read."""
        return () if self.recording is None else self.recording.runs()

    def journal(self) -> tuple[RecordedLine, ...]:
        """Return the lines of the journals of changes, for `checks.change.record.recorded_journal`. Reads a file.
        Raises RecordingError where it cannot be read."""
        return () if self.recording is None else self.recording.journal()

    @property
    def started_at(self) -> str:
        """The start of the recording in ISO 8601; empty where there is none."""
        return "" if self.recording is None else self.recording.header.started_at

    @property
    def track(self) -> Track:
        """The samples."""
        return NoSamples() if self.recording is None else self.recording

    def last_of_the_database(self) -> tuple[Event, ...]:
        """Return the events of the database of the last minute. Reads a file. Raises RecordingError where it cannot be
        read."""
        from tui.screens.database.live_source import PAIRS_S  # late: the first screen of the console does not need it

        track = self.track
        span = track.span()
        if span is None:
            return ()
        sources = (s for s in track.sources() if s.is_of_database)
        return tuple(event for source in sources for event in track.window(source, span[1] - PAIRS_S, span[1]))


def of_recording(recording: Recording) -> Past:
    """Return what the console displays for a recording."""
    header = recording.header
    return Past(f"recording {header.label or header.started_at[:10]}", recording, is_saved=False)


def of_saved(saved: Saved, now: datetime) -> Past:
    """Return what the console displays for a saved state; `now`, a time with a zone, is for its age."""
    longer, label, shorter = short_state_texts(saved.report, now)
    situation = saved.report.situation
    try:
        run = as_run(saved.report)
    except ValueError:  # a file that was edited by hand
        run = None
    return Past(
        label,
        saved.recording,
        is_saved=True,
        longer=longer,
        shorter=shorter,
        run=run,
        situation=situation if saved.recording is None else None,
        at=situation.at if situation else run.ended if run and saved.recording is None else None,
    )


class NoSamples:
    """A `Track` without samples."""

    def sources(self) -> tuple[SourceId, ...]:
        """Return no sources."""
        return ()

    def window(self, source: SourceId, begin: float, end: float) -> list[Event]:
        """Return no events."""
        return []

    def newest(self, source: SourceId) -> Event | None:
        """Return None: there is no event."""
        return None

    def links(self, node: str, at: float) -> Links | None:
        """Return None: there are no interfaces."""
        return None

    def span(self) -> tuple[float, float] | None:
        """Return None: there is no time span."""
        return None

    def gap_begins(self) -> list[Gap]:
        """Return no gap."""
        return []
