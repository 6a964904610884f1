"""When each ping is due: evenly spread over all streams, whether or not answers come. Pure; times are given to it."""

from __future__ import annotations

import math

LATE_S = 0.005
"""A ping that gets its turn later than this is left out: pings that piled up while this process was busy elsewhere
would go out as a burst, and measure the queue that they make themselves. An event loop wakes up to 1 ms late."""


class Schedule:
    """The due times of `streams` streams, one after the other and round again."""

    def __init__(self, streams: int, per_second: float, most_per_second: float, began: float) -> None:
        """`per_second` is wanted of each stream; all together never exceed `most_per_second`."""
        self.per_second = min(per_second, most_per_second / streams)
        """What each stream gets."""
        self._streams = streams
        self._step_s = 1 / (self.per_second * streams)
        self._began = began
        self._next = 0

    @property
    def due(self) -> float:
        """When the next ping is due."""
        return self._began + self._next * self._step_s

    def take(self, now: float) -> int | None:
        """The stream whose ping goes out now, counted from 0; None while none is due. Missed ones are skipped."""
        if now - self.due > LATE_S:
            self._next = math.ceil((now - LATE_S - self._began) / self._step_s)
        if self.due > now:
            return None
        stream = self._next % self._streams
        self._next += 1
        return stream
