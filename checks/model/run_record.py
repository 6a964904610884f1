"""A finished run, or the gates of a step, as they were: what the situation is folded from, live or at a playhead."""

from __future__ import annotations

from datetime import datetime

import msgspec

from checks.model.report import Report


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finished run."""

    report: Report
    """The report of this run alone: its cluster has only the groups of facts that it gathered."""
    ended: float
    """Seconds since 1970: before that, it was not known what it read."""
    checks: tuple[str, ...] = ()
    """The checks that ran without the others; empty where all ran."""
    is_gate: bool = False
    """Whether it verified the gates of a change: what they read counts, their own verdicts belong to the change."""
    clock_s: float = 0.0
    """How far the clock had been set, in seconds since the first sample, when it ended."""

    @property
    def is_whole(self) -> bool:
        """Whether it ran all checks."""
        return not self.checks and not self.is_gate


def as_run(report: Report) -> RunRecord:
    """Return the report of a run, with its reruns, as one record, without the situation that a file has. Where its time
    is none, it ended before all else."""
    last = report.reruns[-1] if report.reruns else report
    try:
        ended = datetime.fromisoformat(last.started_at).timestamp() + last.duration_s
    except (ValueError, OverflowError, OSError):
        ended = 0.0
    return RunRecord(report=msgspec.structs.replace(report, situation=None), ended=ended)
