"""How far the clock of racwire's node was set since the first sample, so that times before and after compare."""

from __future__ import annotations

import math

_KEPT = 1_000
"""Most changes that are kept: a recording can contain any times."""


class ClockChanges:
    """The changes of the clock that samples showed, in the order in which they came."""

    def __init__(self) -> None:
        self._changes: list[tuple[float, float]] = [(-math.inf, 0.0)]
        """From which time on, by the new clock, it was set by how many seconds altogether."""

    @property
    def clock_s(self) -> float:
        """How far it is set now, in seconds."""
        return self._changes[-1][1]

    def add(self, at: float, by_s: float) -> None:
        """Note that the clock was set by so many seconds: `at`, by the new clock, is the first time that shows it."""
        if not math.isfinite(self.clock_s + by_s):
            return  # no time of any racwire
        self._changes.append((at, self.clock_s + by_s))
        if len(self._changes) > _KEPT:
            del self._changes[1]

    def at(self, now: float) -> float:
        """Return how far the clock was set at that time."""
        return self._changes[self._index(now)][1]

    def steady(self, now: float) -> float:
        """Return that time by a clock that nothing sets. A time that the clock left out, since it was set ahead, is the
        last moment before that."""
        index = self._index(now)
        steady = now - self._changes[index][1]
        if index + 1 == len(self._changes):
            return steady
        at, clock_s = self._changes[index + 1]
        return min(steady, math.nextafter(at - clock_s, -math.inf))

    def _index(self, now: float) -> int:
        return next(i for i in reversed(range(len(self._changes))) if i == 0 or self._changes[i][0] <= now)
