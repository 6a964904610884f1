"""The silences of one path, from the moments at which answers came, and the lateness of probes. No I/O.

A silence is the time between two answers, less the interval at which they should come: what was not sent, or answered
late, is silence as well. It is at least as long as the interruption less one interval, and at most as long as the
interruption, one interval, and this node's own lateness. A time that this lateness explains is no silence of the path.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field

from checks.model.percentiles import least_values

MOST_SILENCES = 50
"""The silences that are kept of a path: the longest ones."""


@dataclass(frozen=True, slots=True, order=True)
class SilentTime:
    """A silence. Moments are in ns, by `time.monotonic_ns`."""

    length_ns: int
    began_ns: int
    """The moment at which the first missing answer was due."""
    is_over: bool
    late_ns: int
    """How late this node sent at both ends of the silence: the silence may be that much shorter."""


@dataclass
class SilenceBook:
    """Receives the moments of one path in their order."""

    interval_ns: int
    last_ns: int
    """The moment of the last answer; at first one interval before the first probe is due."""
    answered: int = 0
    _first_late_ns: int = 0
    """How late the first probe after the last answer was sent."""
    _last_late_ns: int = 0
    """How late the newest probe was sent, where it is not that first one."""
    _is_first: bool = True
    _kept: list[SilentTime] = field(default_factory=list)

    def sent(self, late_ns: int) -> None:
        """A probe was due `late_ns` ago, and was sent now, or could not be sent."""
        if self._is_first:
            self._first_late_ns, self._last_late_ns, self._is_first = late_ns, 0, False
        else:
            self._last_late_ns = late_ns

    def came(self, at_ns: int) -> SilentTime | None:
        """An answer came. Return the silence that it ended, if any."""
        self.answered += 1
        if at_ns <= self.last_ns:
            return None
        ended = self._silence(at_ns, is_over=True)
        self.last_ns, self._is_first = at_ns, True
        if ended is not None:
            self._keep(ended)
        return ended

    def silent_ns(self, now_ns: int) -> int:
        """Return how long the path has been silent; 0 where no answer is missing yet."""
        lasts = self._silence(now_ns, is_over=False)
        return 0 if lasts is None else lasts.length_ns

    def ended(self, at_ns: int) -> None:
        """No probe was sent from this moment on: a silence that lasts was at least this long."""
        lasts = self._silence(at_ns, is_over=False)
        if lasts is not None:
            self._keep(lasts)

    @property
    def silences(self) -> list[SilentTime]:
        """The longest silences, in the order of time."""
        return sorted(self._kept, key=lambda one: one.began_ns)

    def _silence(self, at_ns: int, *, is_over: bool) -> SilentTime | None:
        due_ns = self.last_ns + self.interval_ns
        length_ns = at_ns - due_ns
        late_ns = 0 if self._is_first else self._first_late_ns + self._last_late_ns
        if length_ns - late_ns < self.interval_ns:
            return None
        return SilentTime(length_ns, due_ns, is_over, late_ns)

    def _keep(self, silence: SilentTime) -> None:
        if len(self._kept) < MOST_SILENCES:
            heapq.heappush(self._kept, silence)
        else:
            heapq.heappushpop(self._kept, silence)


class Lateness:
    """How late probes were sent, in bins of 10 us."""

    _BIN_NS = 10_000

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, late_ns: int) -> None:
        """Count one probe."""
        self._counts[late_ns // self._BIN_NS] += 1

    def percentile_us(self, share: float) -> float | None:
        """Return the lateness that this share of the probes does not exceed; None for too few probes."""
        number = sum(self._counts.values())
        if number < least_values(share):
            return None
        seen, wanted = 0, share * number
        for place in sorted(self._counts):
            seen += self._counts[place]
            if seen >= wanted:
                return place * self._BIN_NS / 1000
        return None
