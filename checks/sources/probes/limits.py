"""The limits of probing: packets for a path, bytes in flight on a path, packets per second from a node, and bytes per
second to a node whose paths lose packets. One racwire of a node pings at a time: two lose packets to each other, and
count each other's."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from checks.model.settings import ProbeSettings


class BudgetSpentError(Exception):
    """The packet budget of a path is used up."""


class GentlePace:
    """Limits the bytes per second to one node from all others, once a packet to it was lost.

    What racwire sends beyond a limit of the network displaces blocks, and a queue full of probes drops them.
    """

    BYTES_PER_S = 180_000
    """Twenty packets of 9000 bytes a second: a thousandth of a link of 1 Gbit/s. It is ours."""
    BYTES_PER_S_OF_A_PATH = 13_500
    """The least for each path, so that those of a large cluster end within the time of a run."""
    AT_ONCE = 9_000
    """Bytes that one ping process sends at once."""

    def __init__(self, paths: int = 1) -> None:
        self.has_lost = False
        self._pace = PacketPace(max(self.BYTES_PER_S, paths * self.BYTES_PER_S_OF_A_PATH))

    async def take(self, size: int) -> None:
        """Wait until so many bytes may be sent; not at all where no packet was lost."""
        if self.has_lost:
            await self._pace.take(size)


class PathLimits:
    """The packet budget of one path, and the packets and bytes sent."""

    def __init__(self, settings: ProbeSettings, receiver: GentlePace | None = None) -> None:
        self.receiver = receiver or GentlePace()
        self.max_packets = settings.max_packets_per_path
        self.max_bytes_in_flight = settings.max_bytes_in_flight
        self.packets_sent = 0
        self.bytes_sent = 0

    @property
    def packets_left(self) -> int:
        """Packets that may still be sent."""
        return self.max_packets - self.packets_sent

    def demand(self, packets: int) -> None:
        """Raise BudgetSpentError unless so many packets may still be sent."""
        if packets > self.packets_left:
            raise BudgetSpentError(
                f"{packets} more packets would exceed the limit of {self.max_packets} packets for a path "
                "(probe.max_packets_per_path)"
            )

    def spend(self, packets: int, packet_bytes: int) -> None:
        """Count packets of `packet_bytes` bytes each. Raises BudgetSpentError where they would exceed the limit."""
        self.demand(packets)
        self.packets_sent += packets
        self.bytes_sent += packets * packet_bytes


class PacketPace:
    """Limit the packet rate of one node, over all its paths, or another rate.

    A burst of up to 0.02 s of the rate may go at once, because finer sleeps of the event loop are not worth their cost;
    the mean never exceeds the rate.
    """

    BURST_S = 0.02

    def __init__(self, packets_per_second: int) -> None:
        self.rate = packets_per_second
        self._booked_until = 0.0

    async def take(self, packets: int) -> None:
        """Wait until so many packets may be sent. Calls are served in their order."""
        now = asyncio.get_running_loop().time()
        starts = max(self._booked_until, now)
        self._booked_until = starts + packets / self.rate
        if starts - now > self.BURST_S:
            await asyncio.sleep(starts - now)


class Window:
    """The unanswered bytes on one path; lost packets count until their time-out."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes_in_flight = 0

    def admits(self, packet_bytes: int) -> bool:
        """Whether so many bytes may be sent now. A packet larger than the window may go when no other is in flight."""
        return self.bytes_in_flight == 0 or self.bytes_in_flight + packet_bytes <= self.max_bytes

    def add(self, packet_bytes: int) -> None:
        """Add a packet to the bytes in flight."""
        self.bytes_in_flight += packet_bytes

    def remove(self, packet_bytes: int) -> None:
        """Remove a packet that was answered, refused or timed out."""
        self.bytes_in_flight -= packet_bytes


PING_LOCK = "\0racwire-pings"
"""An abstract socket: all users of the node see its name, and it ends with its process."""
PING_WAIT_S = 30.0
"""The most seconds to wait for another racwire, and for who else holds its lock."""
_AGAIN_S = 0.1, 0.3
_CREDENTIALS = struct.Struct("iII")


@asynccontextmanager
async def turn_to_ping(wait_s: float = PING_WAIT_S) -> AsyncIterator[int]:
    """Wait for the lock and hold it. Yields 0, or the process that still holds it when the time is over."""
    until, lock = time.monotonic() + wait_s, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    holder = 0
    with lock:
        while True:
            try:
                lock.bind(PING_LOCK)
                lock.listen()
                holder = 0
                break
            except OSError:
                holder = _holder() or holder
            if time.monotonic() >= until:
                break
            await asyncio.sleep(random.uniform(*_AGAIN_S))  # noqa: S311 - no secret
        yield holder


def _holder() -> int:
    """Return the process that holds the lock; 0 where it is not known."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.setblocking(False)
        try:
            line.connect(PING_LOCK)
            found = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except OSError:
            return 0
        return int(_CREDENTIALS.unpack(found)[0])
