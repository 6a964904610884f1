"""Send DF pings from this node, many at the same time, on an own ICMP socket."""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from checks.model.facts import PingSeries
from checks.model.packet_sizes import SMALL_PAYLOAD, packet_of
from checks.sources.probes.icmp_socket import Echo, EchoSocket, QueuedError
from checks.sources.probes.limits import PacketPace, PathLimits, Window
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import Request, Tally

REFUSALS_THAT_SETTLE = 2
"""Refusals after which the rest of a series is not sent: a kernel that refuses a size refuses it every time."""

LOOK_AFTER = 3
"""Packets of a large size that are answered or lost before the rest of a series is sent, at the pace for lossy paths
where one was lost."""

YIELD_EVERY = 8
"""Packets sent before the event loop gets its turn, so that probing a path does not freeze the console."""


@dataclass(slots=True)
class _Flight:
    """A packet in flight. It is stored after its time-out too, so that a late answer counts."""

    tally: Tally
    packet_bytes: int
    sent_at: float
    expires_at: float
    in_window: bool = True


class IcmpPinger:
    """Send pings on one path. Use it as a context manager, which closes the socket."""

    sent_by = "icmp socket"

    def __init__(self, path: Path, limits: PathLimits, pace: PacketPace, *, straggler_s: float) -> None:
        """Open the socket. Raises CannotPingError where this node does not permit it.

        `straggler_s` is the time after sending, in seconds, in which late answers count for a size that was answered
        only in part.
        """
        self.path = path
        self._limits = limits
        self._pace = pace
        self._straggler_s = straggler_s
        self._window = Window(limits.max_bytes_in_flight)
        self._socket = EchoSocket(path.source.ip, path.destination.ip, path.source.interface)
        self._token = os.urandom(16)
        self._sequence = int.from_bytes(os.urandom(2), "big")
        self._flights: dict[int, _Flight] = {}
        self._stirred = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._collect)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()

    async def ping(self, requests: Sequence[Request], *, timeout_s: float, hurry: bool = False) -> list[PingSeries]:
        """Send the requests in their order, many in flight at once, and return a series for each."""
        self._limits.demand(sum(r.count for r in requests))
        self._flights.clear()
        tallies: list[Tally] = []
        unyielded = 0
        for request in requests:
            tally = Tally(request.payload)
            tallies.append(tally)
            for number in range(request.count):
                if number == LOOK_AFTER and not hurry and request.payload > SMALL_PAYLOAD:
                    await self._wait_for_the_rest()
                    self._limits.receiver.has_lost |= tally.lost > 0
                if tally.refused >= REFUSALS_THAT_SETTLE:
                    break
                await self._admission(packet_of(request.payload, self.path.version))
                self._send(tally, timeout_s)
                unyielded += 1
                if unyielded % YIELD_EVERY == 0:
                    await asyncio.sleep(0)
        await self._wait_for_the_rest()
        if not hurry:
            await self._wait_for_stragglers()
        return [t.series() for t in tallies]

    async def _admission(self, packet_bytes: int) -> None:
        await self._pace.take(1)
        await self._limits.receiver.take(packet_bytes)
        while not self._window.admits(packet_bytes):
            await self._stir(min(f.expires_at for f in self._flights.values() if f.in_window))

    async def _wait_for_the_rest(self) -> None:
        """Until each packet is answered or timed out."""
        while waiting := [f for f in self._flights.values() if f.in_window]:
            await self._stir(min(f.expires_at for f in waiting))

    async def _wait_for_stragglers(self) -> None:
        """Wait longer for a size that was answered in part: a node that is busy for a moment answers late."""
        while partly := [f for f in self._flights.values() if f.tally.rtts_ms]:
            if (until := max(f.sent_at for f in partly) + self._straggler_s) <= time.perf_counter():
                return
            await self._stir(until)

    async def _stir(self, until: float) -> None:
        """Wait for an arrival or until the time `until`; then process arrivals and time-outs."""
        self._stirred.clear()
        # If the loop was busy, the socket may already have answers: they are read before any time-out counts.
        self._collect()
        if not self._stirred.is_set() and (remaining := until - time.perf_counter()) > 0:
            try:
                await asyncio.wait_for(self._stirred.wait(), remaining)
            except TimeoutError:
                self._collect()
        now = time.perf_counter()
        for flight in self._flights.values():
            if flight.in_window and flight.expires_at <= now:
                self._land(flight)

    def _send(self, tally: Tally, timeout_s: float) -> None:
        packet_bytes = packet_of(tally.payload, self.path.version)
        self._sequence = (self._sequence + 1) & 0xFFFF
        sent_at = time.perf_counter()
        flight = _Flight(tally, packet_bytes, sent_at, sent_at + timeout_s)
        tally.sent += 1
        try:
            self._socket.send(self._sequence, self._payload(tally.payload))
        except OSError as error:
            self._refused(tally, error)
            return
        self._limits.spend(1, packet_bytes)
        self._flights[self._sequence] = flight
        self._window.add(packet_bytes)
        # Read at once: on virtual links the answer arrives before the call returns, and a burst of unread answers
        # overflows the socket's buffer.
        self._collect()

    def _payload(self, size: int) -> bytes:
        """The run's random token, repeated: an answer to another program never matches."""
        return (self._token * (size // len(self._token) + 1))[:size]

    def _refused(self, tally: Tally, error: OSError) -> None:
        """Record why the kernel did not send. The queue may also have errors of earlier packets."""
        queued = self._socket.errors()
        for other in queued:
            if not other.local:
                self._apply(other)
        if error.errno == errno.EMSGSIZE:
            tally.refuse(next((e.mtu for e in queued if e.local and e.number == errno.EMSGSIZE), None))
        else:
            tally.error(f"not sent: {error.strerror}")

    def _collect(self) -> None:
        for error in self._socket.errors():
            self._apply(error)
        now = time.perf_counter()
        for echo in self._socket.answers():
            self._match(echo, now)

    def _match(self, echo: Echo, now: float) -> None:
        flight = self._flights.get(echo.sequence)
        if flight is None or echo.identifier != self._socket.identifier:
            return
        if echo.payload != self._payload(flight.tally.payload):
            return
        flight.tally.answered((now - flight.sent_at) * 1000, echo.ttl)
        self._end(echo.sequence, flight)

    def _apply(self, error: QueuedError) -> None:
        """Record an error for the packet that caused it."""
        flight = self._flights.get(error.sequence) if error.sequence is not None else None
        if flight is None or error.sequence is None:
            return
        if error.number == errno.EMSGSIZE:
            flight.tally.too_big(error.mtu, error.offender)
        elif error.number in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ECONNREFUSED, errno.EACCES):
            flight.tally.unreachable_from = error.offender
            flight.tally.error(os.strerror(error.number))
        else:
            flight.tally.error(os.strerror(error.number))
        self._end(error.sequence, flight)

    def _end(self, sequence: int, flight: _Flight) -> None:
        """Remove a packet with a known outcome."""
        del self._flights[sequence]
        self._land(flight)
        self._stirred.set()

    def _land(self, flight: _Flight) -> None:
        """Remove a packet from the window of bytes in flight."""
        if flight.in_window:
            flight.in_window = False
            self._window.remove(flight.packet_bytes)
