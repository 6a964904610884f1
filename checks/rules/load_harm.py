"""Rules for the harm of a measurement: which counts, busy CPUs and silences of the live samples stop it. Ours."""

from __future__ import annotations

import math

from checks.model.facts import Cluster, Unknown
from checks.rules.drill_verdicts import FINE_PERCENT
from checks.rules.nic_counts import exceeds_strays

RECENT_S = 5.0
"""Seconds over which a counter is summed up: one that grows once a second stands still in most samples."""
_WORSE = 3.0
"""How much faster than before a counter must grow to be a sign, where it grew before."""
_CHANCE = 1e-3
_STAYS_S = 10.0
"""Seconds for which CPUs must be busy in a drill, whose reconfiguration keeps them busy for some."""
_USUAL_MISSCOUNT_S = 30.0
_LEAST_SILENCE_S = 0.6
"""Three pings of a path."""


def is_harm(recent: int, usual_per_s: float = 0.0, *, has_strays: bool) -> bool:
    """Return whether a counter of losses that grew by `recent` in `RECENT_S` seconds is a sign of harm.

    `has_strays`: some of what it counts no program misses.
    """
    is_more = recent > usual_per_s * RECENT_S * _WORSE
    return is_more and (not has_strays or exceeds_strays(recent, RECENT_S))


def is_beyond(recent: int, recent_s: float, before: int, before_s: float) -> bool:
    """Return whether `recent` losses in so many seconds are above three times the mean of the time before, by more than
    chance. Where nothing was lost before, one more is taken as lost then."""
    expected = (before + 1) / max(before_s, 1.0) * recent_s
    if recent <= expected * _WORSE:
        return False
    fewer = sum(math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) for k in range(recent))
    return 1 - fewer < _CHANCE


def is_busy_too_long(busy_s: float, *, is_drill: bool) -> bool:
    """Return whether CPUs over their limit are a sign of harm after so many seconds."""
    return busy_s > (_STAYS_S if is_drill else 0.0)


def most_silence_s(cluster: Cluster) -> float:
    """Return the seconds of silence that are a sign of harm: a tenth of misscount, of 30 s where it is not known."""
    clusterware = cluster.clusterware
    misscount = Unknown("") if isinstance(clusterware, Unknown) else clusterware.misscount_s
    of_s = _USUAL_MISSCOUNT_S if isinstance(misscount, Unknown) else misscount
    return max(_LEAST_SILENCE_S, of_s * FINE_PERCENT / 100)
