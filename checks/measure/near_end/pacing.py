"""Sends at a steady rate: a late message is made up for, and no second has more than the cap of the run."""

from __future__ import annotations

import time

from checks.measure.near_end.control import Budget

_CREDIT_S = 0.05
"""How far the sender may fall behind and still make up for it."""
_PART_OF_CAP = 0.995
"""The steady rate as a part of the cap: what this node's queues hold back for up to 5 ms stays under the cap too."""
QUEUE_S = 0.005
"""Seconds of the rate that may wait in a queue of this node."""


class Pace:
    """Messages at `bits_per_s` on the wire, with never more than `most_bps` in any second. It makes up for delays."""

    def __init__(self, budget: Budget, bits_per_s: float, most_bps: float) -> None:
        self.lateness_us: list[float] = []
        """How late each message was sent."""
        self._budget, self._most_bytes = budget, most_bps / 8
        self._rate = min(bits_per_s, most_bps) * _PART_OF_CAP
        self._window = budget.window
        self._due_s = time.monotonic()

    @property
    def bytes_per_s(self) -> float:
        """The steady rate, in bytes a second on the wire."""
        return self._rate / 8

    def take(self, wire_bytes: int) -> None:
        """Wait until a message may go. Raises StoppedError where the bytes are used up, or the sender must stop."""
        self._budget.spend(wire_bytes)
        self._budget.orders.look()
        now = time.monotonic()
        self._due_s = max(self._due_s, now - _CREDIT_S)
        while (go := max(self._due_s, self._window.free_at(wire_bytes, self._most_bytes, now))) > now:
            self._budget.orders.wait(go - now)
            now = time.monotonic()
        self.lateness_us.append((now - self._due_s) * 1e6)
        self._due_s += wire_bytes / self.bytes_per_s
        self._window.add(wire_bytes, now)
        self._budget.rest_the_cpu(now)
