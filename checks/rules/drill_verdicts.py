"""How bad a silence of a drill is: its share of misscount.

CSS evicts a node whose heartbeat is missing for misscount seconds (MOS 294430.1), and warns after half of
misscount (CRS-1612). So half is a failure of the drill; a tenth leaves room for a second failure. Ours.
"""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.drill_result import DrillOf, PathSilence
from checks.model.facts import Unknown
from checks.model.finding import Status

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
    """Return whether a path was silent for longer than a late answer, or this node's own lateness, makes it."""
    seconds = silence.seconds - silence.late_s
    return silence.began_at is not None and seconds >= _SEEN_INTERVALS * silence.interval_s


def decisive(silences: Iterable[PathSilence]) -> PathSilence | None:
    """Return the silence that decides how a drill went; None without a silence.

    It is the one with the longest time that the cluster itself made. A path whose link came back was silent for as long
    as people left the cable out; the cluster made what came after that.
    """
    silent = [one for one in silences if was_silent(one)]
    return max(silent, key=lambda one: (one.seconds if one.added_s is None else one.added_s, one.seconds), default=None)


def drill_status(drill: DrillOf) -> Status:
    """Return the status of a drill: that of its decisive silence; UNKNOWN without any, as nothing is judged then.

    A node is drilled where CSS reconfigured the cluster without it; the paths to it are silent as long as it is down,
    and have no cause, so they do not count.
    """
    if drill.transition:
        return Status.UNKNOWN if drill.reconfigured_s is None else Status.PASS
    worst = decisive(drill.silences)
    return Status.UNKNOWN if worst is None else silence_status(worst, drill.misscount_s)
