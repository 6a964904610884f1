"""When samples are taken: at the multiples of an interval on the monotonic clock, so that all sources aim at the same
moments and a screen draws once; and how long one that failed is left alone.

A tick that is missed stays missed: after a stall, or a night in suspend, nothing is caught up in a burst.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable

_FIRST_S, _LONGEST_S = 2.0, 60.0


def tick_after(moment: float, interval_s: float) -> float:
    """The first multiple of the interval that is later than the moment."""
    tick = (math.floor(moment / interval_s) + 1) * interval_s
    return tick if tick > moment else tick + interval_s  # a multiple that rounding put before its place


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event, at most so long; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


class Pace:
    """The common interval of all sources. Setting `interval_s` takes effect at once: those who wait aim anew.

    `clock` tells the time in seconds and never goes back; `wait` waits on it, as `happens_within` does.
    """

    def __init__(
        self,
        interval_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[asyncio.Event, float], Awaitable[bool]] = happens_within,
    ) -> None:
        self._interval_s = interval_s
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
        """Ticks without end. The first comes no sooner than half an interval from now, so that what is read between
        now and then covers a time long enough to say something."""
        moment, share = self._clock(), 0.5
        while True:
            tick = await self._tick_after(moment, share)
            yield
            moment, share = max(tick, self._clock()), 0.0

    async def _tick_after(self, moment: float, share: float) -> float:
        """Wait for the first tick that is later than a moment by that share of the interval; which it was."""
        while True:
            due, changed = tick_after(moment + share * self._interval_s, self._interval_s), self._changed
            if not await self._wait(changed, max(0.0, due - self._clock())):
                return due


class Backoff:
    """How long to wait after a failure: each time twice as long, up to a minute, until something succeeded."""

    def __init__(self) -> None:
        self._next_s = _FIRST_S

    def succeeded(self) -> None:
        """Begin with the shortest wait again."""
        self._next_s = _FIRST_S

    def next_s(self) -> float:
        """Seconds to wait now."""
        wait_s, self._next_s = self._next_s, min(2 * self._next_s, _LONGEST_S)
        return wait_s
