"""The three limits on what is sent: packets for a path, bytes in flight on a path, packets a second from a node."""

from __future__ import annotations

import asyncio

from checks.model.settings import ProbeSettings


class BudgetSpentError(Exception):
    """The packets that one path may cost are used up: one sentence."""


class PathLimits:
    """What one path may cost, counted as it is spent."""

    def __init__(self, settings: ProbeSettings) -> None:
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
                f"{packets} more packets would exceed the {self.max_packets} that a path may cost "
                "(probe.max_packets_per_path)"
            )

    def spend(self, packets: int, packet_bytes: int) -> None:
        """Count packets of `packet_bytes` bytes each. Raises BudgetSpentError instead of passing the limit."""
        self.demand(packets)
        self.packets_sent += packets
        self.bytes_sent += packets * packet_bytes


class PacketPace:
    """Keeps the packets of one node, on all its paths together, below a rate.

    A burst of up to a fiftieth of a second's worth may go at once, since the event loop sleeps no finer than that
    is worth; the mean never exceeds the rate.
    """

    BURST_S = 0.02

    def __init__(self, packets_per_second: int) -> None:
        self.rate = packets_per_second
        self._booked_until = 0.0

    async def take(self, packets: int) -> None:
        """Wait until so many packets may be sent. Calls are served in the order in which they came."""
        now = asyncio.get_running_loop().time()
        starts = max(self._booked_until, now)
        self._booked_until = starts + packets / self.rate
        if starts - now > self.BURST_S:
            await asyncio.sleep(starts - now)


class Window:
    """The bytes that are unanswered on one path; lost packets count until their time-out."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes_in_flight = 0

    def admits(self, packet_bytes: int) -> bool:
        """Whether so many bytes may go now. A packet larger than the window goes when nothing else is in flight."""
        return self.bytes_in_flight == 0 or self.bytes_in_flight + packet_bytes <= self.max_bytes

    def add(self, packet_bytes: int) -> None:
        """Count a packet in."""
        self.bytes_in_flight += packet_bytes

    def remove(self, packet_bytes: int) -> None:
        """Count a packet out: answered, refused or timed out."""
        self.bytes_in_flight -= packet_bytes
