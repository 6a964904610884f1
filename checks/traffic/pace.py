"""The times of samples: multiples of an interval on the monotonic clock, so that all sources use the same moments and a
screen draws once. Also the wait before a failed source is tried again.

Each racwire has a phase of its own, so that several do not ask all instances in the same moment. Missed ticks are
skipped: after a stall, or a night in suspend, there is no burst of samples.
"""

from __future__ import annotations

import asyncio
import math
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

_FIRST_S, _LONGEST_S = 2.0, 60.0
_GOLDEN = (math.sqrt(5) - 1) / 2
"""The multiples of this number, without their whole parts, are spread evenly however many of them there are."""
_PHASES_S = 64.0
"""Phases are below this, so that they differ by more than parts of a second where the interval is long."""


def tick_after(moment: float, interval_s: float, phase_s: float = 0.0) -> float:
    """Return the first multiple of the interval, counted from the phase, after the moment."""
    tick = (math.floor((moment - phase_s) / interval_s) + 1) * interval_s + phase_s
    return tick if tick > moment else tick + interval_s  # rounding can give a multiple that is too early


def phase_of(node: str, pid: int) -> float:
    """Return the phase of a racwire in seconds: those of consecutive processes lie apart at every interval, and so do
    those of processes with the same number on other nodes."""
    of_node = zlib.crc32(node.encode("utf-8", "surrogateescape")) / 2**32
    return _PHASES_S * math.modf(pid * _GOLDEN + of_node)[0]


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event, at most `seconds`. Return whether it happened."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


class Pace:
    """The common interval of all sources. A new `interval_s` takes effect at once, also for waiting sources.

    `clock` returns a monotonic time in seconds; `wait` waits by that clock, as `happens_within` does.
    """

    def __init__(
        self,
        interval_s: float,
        *,
        phase_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[asyncio.Event, float], Awaitable[bool]] = happens_within,
    ) -> None:
        self._interval_s, self._phase_s = interval_s, phase_s
        self._clock, self._wait = clock, wait
        self._changed = asyncio.Event()

    @property
    def interval_s(self) -> float:
        """Seconds between two ticks."""
        return self._interval_s

    @interval_s.setter
    def interval_s(self, seconds: float) -> None:
        self._interval_s = seconds
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def ticks(self) -> AsyncIterator[None]:
        """Yield ticks without end. The first tick, and the first one after the interval became longer, is at least half
        an interval away, so that the sample covers enough time."""
        moment, share = self._clock(), 0.5
        while True:
            tick, interval_s = await self._tick_after(moment, share), self._interval_s
            yield
            # A longer interval takes effect at once, too: its first multiple may be near.
            moment, share = max(tick, self._clock()), 0.5 if self._interval_s > interval_s else 0.0

    async def _tick_after(self, moment: float, share: float) -> float:
        """Wait for the first tick that is `share` of the interval after a moment. Return the tick."""
        while True:
            due = tick_after(moment + share * self._interval_s, self._interval_s, self._phase_s)
            changed = self._changed
            if not await self._wait(changed, max(0.0, due - self._clock())):
                return due


class Backoff:
    """The wait after a failure: it doubles each time, up to a minute, until a success."""

    def __init__(self) -> None:
        self._next_s = _FIRST_S

    def succeeded(self) -> None:
        """Reset the wait to the shortest one."""
        self._next_s = _FIRST_S

    def next_s(self) -> float:
        """Return the seconds to wait before the next attempt."""
        wait_s, self._next_s = self._next_s, min(2 * self._next_s, _LONGEST_S)
        return wait_s
