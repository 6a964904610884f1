"""How bad a silence of a drill is: its share of misscount.

CSS evicts a node whose heartbeat is missing for misscount seconds (MOS 294430.1), and warns from half of it on
(CRS-1612). So half is a failure of the drill; a tenth is what leaves room for a second failure beside it. Ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checks.model.facts import Unknown
from checks.model.finding import Status
from checks.model.measurement import DrillOf, PathSilence

FINE_PERCENT = 10.0
"""Percent of misscount under which a silence is fine."""
FAILURE_PERCENT = 50.0
"""Percent of misscount over which a silence is a failure."""
_SEEN_INTERVALS = 3
"""A silence of fewer intervals is none: one answer that comes late makes as much."""


def percent_of(seconds: float, misscount_s: float | Unknown) -> float | None:
    """Return the share of misscount, in percent; None where misscount is not known."""
    return None if isinstance(misscount_s, Unknown) or not misscount_s else seconds / misscount_s * 100


def silence_status(silence: PathSilence, misscount_s: float | Unknown) -> Status:
    """Return PASS under 10 % of misscount, FAIL over 50 %, WARN between; UNKNOWN without misscount.

    A silence that was not over when the drill ended is UNKNOWN below the limit of a failure: it may have lasted longer.
    """
    percent = percent_of(silence.seconds, misscount_s)
    if percent is None:
        return Status.UNKNOWN
    if percent > FAILURE_PERCENT:
        return Status.FAIL
    if not silence.is_over and was_silent(silence):
        return Status.UNKNOWN
    return Status.WARN if percent >= FINE_PERCENT else Status.PASS


def was_silent(silence: PathSilence) -> bool:
    """Return whether a path was silent for longer than a late answer makes it."""
    return silence.began_at is not None and silence.seconds >= _SEEN_INTERVALS * silence.interval_s


def longest(silences: Iterable[PathSilence]) -> PathSilence | None:
    """Return the longest silence; None where no path was silent."""
    return max((one for one in silences if was_silent(one)), key=lambda one: one.seconds, default=None)


def drill_status(drill: DrillOf) -> Status:
    """Return the status of a drill: that of its worst path. Without any silence there is nothing to judge: UNKNOWN.

    In a drill of a node, the paths to that node are silent as long as it is down: they say nothing about a timer, and
    do not count.
    """
    if drill.transition:
        return Status.PASS if drill.events else Status.UNKNOWN
    silent = [one for one in drill.silences if was_silent(one)]
    return _worst([silence_status(one, drill.misscount_s) for one in silent]) if silent else Status.UNKNOWN


def _worst(statuses: Sequence[Status]) -> Status:
    order = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.PASS)
    return min(statuses, key=order.index)
