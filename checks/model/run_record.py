"""A finished run, or the gates of a step, as they were: what the situation is folded from, live or at a playhead."""

from __future__ import annotations

import msgspec

from checks.model.report import Report


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finished run."""

    report: Report
    """The report of this run alone: its cluster has only the groups of facts that it gathered."""
    ended: float
    """Seconds since 1970: before that, nobody knew what it read."""
    checks: tuple[str, ...] = ()
    """The checks that ran without the others; empty where all ran."""
    is_gate: bool = False
    """Whether it verified the gates of a change: what they read counts, their own verdicts belong to the change."""
    clock_s: float = 0.0
    """How far the clock had been set, in seconds since the first sample, when it ended."""
