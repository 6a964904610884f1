"""The input of every report format."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.report import Report
from checks.traffic.timeline import Track


@dataclass(frozen=True)
class Evidence:
    """A report and, where they exist, the traffic samples from the time around the run."""

    report: Report
    track: Track | None = None
    """Samples in memory or from a recording. Its methods may raise `checks.traffic.recording.RecordingError`."""
