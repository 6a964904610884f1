"""The pings of one path: sends them on request, matches them with their answers, and sums them up in rounds.

A round has the pings of one size from one interval. It is closed at the end of the interval, and settled when its last
ping has timed out: the lost pings are known only then.
"""

from __future__ import annotations

import asyncio
import errno
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from checks.model.percentiles import percentile
from checks.sources.probes.icmp_socket import EchoSocket
from checks.sources.probes.path import Path
from checks.sources.probes.pinger import CannotPingError, NoPrivilegeError
from checks.traffic.samples import Event, Gap, LatencySample

TOO_BUSY = "racwire was too busy to send a ping in this time."
FULL_QUEUE = (errno.ENOBUFS, errno.EAGAIN)
"""Errors of a full send queue on this node: such a ping counts as lost, like a ping that a switch drops."""


@dataclass(slots=True, eq=False)
class Round:
    """The pings of one size sent in one interval."""

    payload: int
    began: float
    sent: int = 0
    refusal: str = ""
    """The reason why the kernel refused to send; empty where it did not."""
    latencies_us: list[float] = field(default_factory=list)
    ended_at: float = 0.0
    seconds: float = 0.0


class LatencyPinger:
    """Sends pings on one path. Call `open` first, and always `close`."""

    def __init__(self, path: Path, payloads: Sequence[int], timeout_s: float, emit: Callable[[Event], None]) -> None:
        self._path = path
        self._timeout_ns = round(timeout_s * 1e9)
        self._emit = emit
        self._socket: EchoSocket | None = None
        self._refusal = ""
        self._sequence = int.from_bytes(os.urandom(2), "big")
        token = os.urandom(16)
        self._contents = {size: (token * (size // len(token) + 1))[:size] for size in payloads}
        """Random contents, so that an answer to another program never matches."""
        self._rounds = [Round(size, time.monotonic()) for size in payloads]
        self._closed: list[Round] = []
        self._flights: dict[int, tuple[Round, int]] = {}
        """The round and the send time (ns) of each unanswered ping, by sequence number."""
        self._gaps: dict[int, str] = {}
        """The reason of the last gap by payload size, while the gap lasts."""

    def open(self) -> None:
        """Open the socket. If the source address is not available, `settle` tries again after each round.

        Raises NoPrivilegeError where this user may never open the socket.
        """
        self.close()
        try:
            source = self._path.source
            self._socket = EchoSocket(source.ip, self._path.destination.ip, source.interface, dont_fragment=False)
        except NoPrivilegeError:
            raise
        except CannotPingError as error:
            self._refusal = _sentence(str(error))
            return
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self.collect)

    def close(self) -> None:
        """Close the socket. Can be called twice."""
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None

    def ping(self, size: int) -> None:
        """Send one ping; `size` is the index of its payload. Never raises: the round has the reason of a failure."""
        of = self._rounds[size]
        if self._socket is None:
            of.refusal = self._refusal
            return
        self._sequence = (self._sequence + 1) & 0xFFFF
        try:
            handed_over_ns = self._socket.send(self._sequence, self._contents[of.payload])
        except OSError as error:
            if error.errno in FULL_QUEUE:
                of.sent += 1
            else:
                source, target = self._path.source, self._path.destination
                of.refusal = f"Cannot ping {target.ip} from {source.ip} on {source.interface}: {error.strerror}."
            return
        of.sent += 1
        self._flights[self._sequence] = (of, handed_over_ns)

    def collect(self) -> None:
        """Match the answers that have arrived. An answer after the time-out counts as lost."""
        if self._socket is None:
            return
        # An error from a router or from ARP is a loss. Unread errors would wake the event loop forever.
        self._socket.errors()
        for echo in self._socket.answers():
            flight = self._flights.get(echo.sequence)
            if flight is None or echo.identifier != self._socket.identifier:
                continue
            of, handed_over_ns = flight
            if echo.payload != self._contents[of.payload]:
                continue
            del self._flights[echo.sequence]
            took_ns = echo.arrived_ns - handed_over_ns
            if took_ns < 0:  # the system clock was set in between
                took_ns = time.monotonic_ns() - handed_over_ns
            if took_ns <= self._timeout_ns:
                of.latencies_us.append(took_ns / 1000)

    def turn(self) -> None:
        """Close the rounds of this interval and start the next ones."""
        now, at = time.monotonic(), time.time()
        for of in self._rounds:
            of.ended_at, of.seconds = at, now - of.began
        self._closed += self._rounds
        self._rounds = [Round(of.payload, now) for of in self._rounds]

    def settle(self) -> None:
        """Emit the samples of the oldest closed rounds. Their unanswered pings are lost."""
        # If the loop was busy, answers may wait in the socket: the kernel has recorded their arrival time.
        self.collect()
        count = len(self._rounds)
        settled, self._closed = self._closed[:count], self._closed[count:]
        self._flights = {n: flight for n, flight in self._flights.items() if flight[0] not in settled}
        for of in settled:
            self._emit_round(of)
        if any(of.refusal for of in settled) and not any(of.sent for of in settled):
            # To the kernel, an interface that was removed and created again is a new one: the old socket cannot use it.
            self.open()

    def _emit_round(self, of: Round) -> None:
        sample = LatencySample(
            network=self._path.network.name,
            to_node=self._path.destination.node,
            payload=of.payload,
            at=of.ended_at,
            seconds=of.seconds,
            sent=of.sent,
            received=len(of.latencies_us),
            **percentiles(of.latencies_us),
        )
        if of.sent:
            self._gaps.pop(of.payload, None)
            self._emit(sample)
            return
        reason = of.refusal or TOO_BUSY
        if self._gaps.get(of.payload) != reason:
            self._gaps[of.payload] = reason
            self._emit(Gap(source=sample.source, at=of.ended_at, reason=reason))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def percentiles(latencies_us: Sequence[float]) -> dict[str, float]:
    """Return the median, the 99th percentile and the maximum, by the field names of `LatencySample`."""
    if not latencies_us:
        return {}
    ordered = sorted(latencies_us)
    return {
        "p50_us": round(statistics.median(ordered), 1),
        "max_us": round(ordered[-1], 1),
        **({} if (p99 := percentile(ordered, 0.99)) is None else {"p99_us": round(p99, 1)}),
    }
