"""What a report is written from, in every format."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.report import Report
from checks.traffic.timeline import Track


@dataclass(frozen=True)
class Evidence:
    """A report and, where there are any, the samples of the traffic around it."""

    report: Report
    track: Track | None = None
    """Samples in memory or of a recording; its methods may raise `checks.traffic.recording.RecordingError`."""
