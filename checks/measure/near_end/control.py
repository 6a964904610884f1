"""What stops the sender and what slows it down: its parent, and the limits of the run.

The parent writes a line to stdin every 250 ms. The sender stops where the lines end, where the parent says so, and
where a limit is reached; it keeps what it has measured.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections import deque
from typing import Any

from checks.measure.near_end.incomplete import Incomplete
from checks.measure.near_end.stopped import StoppedError
from checks.model.flow_bound import FlowBound

HEARTBEAT_S = 0.25
"""Seconds between two heartbeats of the parent."""
SILENCE_S = 0.8
"""Seconds without a heartbeat after which the sender stops. With 0.1 s until it looks, under 1 s."""
_LOOK_S = 0.02
_CHUNK = 65_536
_STOP = b"stop"
SECOND_S = 1.1
"""Seconds that count as one for bursts: a burst that waits in a queue of this node leaves up to 0.1 s later."""

_CREDIT_S = 0.05
"""How far the sender may fall behind and still make up for it."""
_PART_OF_CAP = 0.995
"""The steady rate as a part of the cap: what this node's queues hold back for up to 5 ms stays under the cap too."""
_RUN_S, _PART_IN_RUNS = 0.1, 0.9
"""Seconds of the limits that messages may take back to back, and the part of the limits that they then have in all."""
QUEUE_S = 0.005
"""Seconds of the rate that may wait in a queue of this node."""


class Orders:
    """The lines from the parent: heartbeats (empty lines), `stop`, and orders (JSON objects)."""

    def __init__(self, fd: int = 0) -> None:
        self._fd = fd
        self._rest = b""
        self._orders: deque[dict[str, Any]] = deque()
        self._heard_s = self._looked_s = time.monotonic()
        self._stop = ""

    def next(self) -> dict[str, Any] | None:
        """Wait for the next order; None where the parent is gone. A `stop` before it is over with its order."""
        self._stop = ""
        while not self._orders:
            try:
                self._read(0.1)
            except StoppedError:
                if not self._stop:
                    return None
            self._stop = ""
        return self._orders.popleft()

    def look(self) -> None:
        """Raise StoppedError where the sender must stop. Looks at most every 20 ms, so it may be called each packet."""
        now = time.monotonic()
        if now - self._looked_s >= _LOOK_S:
            self._read(0.0)

    def wait(self, seconds: float) -> None:
        """Sleep, unless the sender must stop: raises StoppedError then, within 20 ms."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if left > 2 * _LOOK_S:
                self._read(_LOOK_S)
            else:
                time.sleep(left)
        self.look()

    def _read(self, patience_s: float) -> None:
        ready = select.select([self._fd], [], [], patience_s)[0]
        now = self._looked_s = time.monotonic()
        if ready:
            data = os.read(self._fd, _CHUNK)
            if not data:
                raise StoppedError("racwire itself has ended")
            self._heard_s = now
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                if line == _STOP:
                    self._stop = "racwire was stopped"
                elif line:
                    self._orders.append(json.loads(line))
        if self._stop:
            raise StoppedError(self._stop)
        if now - self._heard_s > SILENCE_S:
            raise StoppedError(f"racwire itself did not run for {now - self._heard_s:.1f} s")


class SecondWindow:
    """What was sent in the last second, as parts of what may be. It lives as long as the sender, so that the next order
    goes on with it, whatever its limits and the size of its packets."""

    def __init__(self) -> None:
        self._sent: deque[tuple[float, float]] = deque()
        self._sum = 0.0

    def free_at(self, part: float, now: float) -> float:
        """Return the moment from which the last second has room for a part of the limit."""
        while self._sent and now - self._sent[0][0] >= 1.0:
            self._sum -= self._sent.popleft()[1]
        if not self._sent:
            self._sum = 0.0
        spare, moment = 1.0 - self._sum, now
        for at, size in self._sent:
            if spare >= part:
                break
            spare, moment = spare + size, at + 1.0
        return moment

    def add(self, part: float, now: float) -> None:
        """Count a part of the limit that goes now."""
        self._sent.append((now, part))
        self._sum += part


class Budget:
    """The limits of a run: packets a second, bits a second, bytes in all, and the share of one CPU.

    `take` is a leaky bucket that holds one message: in any second, no more than the limit plus one message goes.
    """

    def __init__(
        self,
        orders: Orders,
        packets_per_s: float,
        bits_per_s: float,
        most_bytes: int,
        cpu_share: float,
        incomplete: Incomplete | None = None,
    ) -> None:
        self.orders = orders
        self.packets_per_s = packets_per_s
        self.bits_per_s = bits_per_s
        self.bytes_left = most_bytes
        self._cpu_share = cpu_share
        self.window = SecondWindow()
        """The steady streams of the last second, of this order and of those before."""
        self.incomplete = incomplete or Incomplete({}, 0)
        self._free_s = time.monotonic()
        self._started_s, self._cpu_s = self._free_s, time.process_time()
        self._bursts: deque[tuple[float, int, int]] = deque()
        """The moment, packets and bytes of each burst of the last second."""
        self.held_by: str = FlowBound.LIMITS
        """What made the last burst wait that `room_s` had no room for, as `FlowBound`."""

    def gap_s(self, packets: int, wire_bytes: int) -> float:
        """Return the seconds that a message of so many packets and bytes on the wire takes at the limits."""
        return max(packets / self.packets_per_s, wire_bytes * 8 / self.bits_per_s)

    def take(self, packets: int, wire_bytes: int) -> None:
        """Wait until a message may go. Raises StoppedError where the bytes are used up, or the sender must stop."""
        self.spend(wire_bytes)
        self.orders.look()
        now = time.monotonic()
        if now < self._free_s:
            self.orders.wait(self._free_s - now)
        self._free_s = max(now, self._free_s) + self.gap_s(packets, wire_bytes)
        self.rest_the_cpu(now)

    def take_of_a_run(self, packets: int, wire_bytes: int) -> None:
        """As `take`, but messages go back to back in runs of up to 0.1 s of the limits, with pauses between the runs.

        A message after a pause takes longer: both nodes have gone idle, and wake. Raises StoppedError.
        """
        self.spend(wire_bytes)
        self.orders.look()
        now = time.monotonic()
        if now < self._free_s:
            self.orders.wait(self._free_s + _RUN_S - now)
            now = time.monotonic()
        # In any second, no more than 1.1 s of nine tenths of the limits.
        self._free_s = max(now - _RUN_S, self._free_s) + self.gap_s(packets, wire_bytes) / _PART_IN_RUNS
        self.rest_the_cpu(now)

    def spend(self, wire_bytes: int) -> None:
        """Count bytes of the run. Raises StoppedError where they are used up."""
        self.bytes_left -= wire_bytes
        if self.bytes_left < 0:
            raise StoppedError("the bytes of this run are used up")

    def room_s(self, packets: int, wire_bytes: int) -> float:
        """Return the seconds until a burst may go, 0 for now. No second then has more than the limits, bursts included.

        Unlike `take`, this does not wait, so that several flows can be under way. Raises StoppedError for a burst that
        is more than a second may have.
        """
        now = time.monotonic()
        while self._bursts and now - self._bursts[0][0] >= SECOND_S:
            self._bursts.popleft()
        spare_packets = self.packets_per_s - packets - sum(one[1] for one in self._bursts)
        spare_bytes = self.bits_per_s / 8 - wire_bytes - sum(one[2] for one in self._bursts)
        wait_s = 0.0
        for at, sent, size in self._bursts:
            if spare_packets >= 0 and spare_bytes >= 0:
                break
            spare_packets, spare_bytes, wait_s = spare_packets + sent, spare_bytes + size, at + SECOND_S - now
        self.held_by = FlowBound.LIMITS
        if spare_packets < 0 or spare_bytes < 0:
            raise StoppedError("a flow needs more than may be sent in a second")
        used = time.process_time() - self._cpu_s
        if now - self._started_s > 1.0:
            rest_s = used / self._cpu_share - (now - self._started_s)
            if rest_s > 0:
                self.held_by = FlowBound.CPU_HERE if rest_s > wait_s else FlowBound.LIMITS
                return max(wait_s, rest_s)
            self._started_s, self._cpu_s = now, time.process_time()
        return wait_s

    def burst(self, packets: int, wire_bytes: int) -> None:
        """Count a burst that goes now, after `room_s` returned 0. Raises StoppedError where the bytes are used up."""
        self.bytes_left -= wire_bytes
        if self.bytes_left < 0:
            raise StoppedError("the bytes of this run are used up")
        self._bursts.append((time.monotonic(), packets, wire_bytes))

    def rest_the_cpu(self, now: float) -> None:
        """Pause where this process used more than its share of a CPU. Raises StoppedError."""
        if now - self._started_s > 1.0:
            used = time.process_time() - self._cpu_s
            self.orders.wait(max(0.0, used / self._cpu_share - (now - self._started_s)))
            self._started_s, self._cpu_s = time.monotonic(), time.process_time()


class SendPace:
    """Messages at `bits_per_s` on the wire, with never more than `most_bps` in any second. It makes up for delays."""

    def __init__(self, budget: Budget, bits_per_s: float, most_bps: float, packet_bytes: float) -> None:
        """`packet_bytes`: of one packet on the wire; no second has more packets than the limit of the run."""
        self.lateness_us: list[float] = []
        """How late each message was sent."""
        most_bps = min(most_bps, budget.packets_per_s * packet_bytes * 8)
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
        while (go := max(self._due_s, self._window.free_at(wire_bytes / self._most_bytes, now))) > now:
            self._budget.orders.wait(go - now)
            now = time.monotonic()
        self.lateness_us.append((now - self._due_s) * 1e6)
        self._due_s += wire_bytes / self.bytes_per_s
        self._window.add(wire_bytes / self._most_bytes, now)
        self._budget.rest_the_cpu(now)
