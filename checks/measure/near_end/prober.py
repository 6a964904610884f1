"""Probes of a drill: at a fixed interval on several paths at the same time, whether or not answers come.

A probe that this node could not send (no route, no carrier, no such address) is not answered either, so it counts as
silence. The answers have the kernel's time of arrival. The prober runs until its parent stops it or is gone,
or the time of the drill is over: it never ends by itself because nothing answers.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import select
import socket
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from checks.measure.near_end.control import Budget
from checks.measure.near_end.messages import ECHO, HEADER, OnSocket, udp_socket
from checks.measure.near_end.silences import Lateness, SilenceBook, SilentTime
from checks.measure.near_end.stopped import StoppedError
from checks.sources.probes.icmp_socket import SO_TIMESTAMPNS, EchoSocket, arrival_ns
from checks.sources.probes.pinger import CannotPingError

PAYLOAD = 56
"""Bytes of a probe behind the ICMP or UDP header."""
_NEWS_NS = 100_000_000
_LAST_ANSWERS_S = 0.05
_REOPEN_AFTER = 20
"""Probes in a row that could not be sent, after which the socket is opened again: the NIC may be another one."""
_MARK = struct.Struct("!16sI")


class _Line(OnSocket, ABC):
    """A socket on one path."""

    @abstractmethod
    def send(self) -> None:
        """Send a probe. Raises OSError."""

    @abstractmethod
    def came_ns(self) -> Iterator[int]:
        """Yield when each answer came that is there. Raises nothing."""


class _PingLine(_Line):
    """Pings, which the kernel of the far node answers."""

    def __init__(self, path: dict[str, Any], token: bytes) -> None:
        self._socket: EchoSocket = EchoSocket(path["source"], path["target"], path["device"], dont_fragment=False)
        self._payload = _MARK.pack(token, 0).ljust(PAYLOAD, b"\0")
        self._sequence = 0

    def send(self) -> None:
        self._sequence = (self._sequence + 1) % 65_536
        self._socket.send(self._sequence, self._payload)

    def came_ns(self) -> Iterator[int]:
        for echo in self._socket.answers():
            if echo.payload == self._payload:
                yield echo.arrived_ns
        self._socket.errors()  # left there, they would wake the prober for ever


class _DatagramLine(_Line):
    """Datagrams, which a far end returns."""

    def __init__(self, path: dict[str, Any]) -> None:
        self._token = bytes.fromhex(path["token"])
        self._socket: socket.socket = udp_socket(path["source"], path["target"], path["port"])
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._request = HEADER.pack(ECHO, 1, bytes(4), self._token, PAYLOAD).ljust(PAYLOAD, b"\0")

    def send(self) -> None:
        # Clear an error of an earlier datagram: it would be raised here, and this datagram would not be sent.
        self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        self._socket.send(self._request)

    def came_ns(self) -> Iterator[int]:
        while True:
            try:
                data, ancillary, _, _ = self._socket.recvmsg(PAYLOAD + 1, 64)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.EBADF:
                    return
                continue  # an ICMP error of an earlier datagram, reported once
            if data == self._request:
                yield arrival_ns(ancillary)


class _Probe:
    """One path: its socket, which is opened again where it no longer works, and its silences."""

    def __init__(self, number: int, path: dict[str, Any], token: bytes, interval_ns: int, due_ns: int) -> None:
        self.number = number
        self._path, self._token = path, token
        self.interval_ns, self.due_ns = interval_ns, due_ns
        self.book = SilenceBook(interval_ns, due_ns - interval_ns)
        self.sent = self.unsent = 0
        self._failed = 0
        self.line: _Line | None = None
        self._open()

    def _open(self) -> None:
        """Open the socket. Raises OSError and CannotPingError."""
        if self._path["port"] is None:
            self.line = _PingLine(self._path, self._token)
        else:
            self.line = _DatagramLine(self._path)

    def send(self, now_ns: int) -> list[int]:
        """Send the probe that is due, and return how late each due probe was: those that were missed count too."""
        late = []
        while self.due_ns <= now_ns:
            late.append(now_ns - self.due_ns)
            self.due_ns += self.interval_ns
        self.book.sent(late[0])
        try:
            if self.line is None:
                self._open()
            assert self.line is not None
            self.line.send()
            self.sent += 1
            self._failed = 0
        except (OSError, CannotPingError):
            self.unsent += 1
            self._failed += 1
            if self._failed % _REOPEN_AFTER == 0:
                self.close()
        return late

    def receive(self) -> Iterator[SilentTime]:
        """Take the answers that are there, and yield the silences that they end."""
        for at_ns in self.line.came_ns() if self.line is not None else ():
            ended = self.book.came(at_ns)
            if ended is not None:
                yield ended

    def close(self) -> None:
        """Close the socket."""
        if self.line is not None:
            self.line.close()
            self.line = None


def drill(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Probe the paths of the order for up to `seconds`; lines with `news` say meanwhile what is silent.

    Raises OSError and CannotPingError where a path cannot be probed from the beginning.
    """
    interval_ns = round(order["interval_s"] * 1e9)
    paths = order["paths"]
    if len(paths) / order["interval_s"] > budget.packets_per_s:
        raise OSError(errno.EINVAL, "more probes a second than the limit allows")
    token = os.urandom(16)
    begin_ns = time.monotonic_ns() + 50_000_000
    probes: list[_Probe] = []
    lateness = Lateness()
    stopped = ""
    gc.collect()
    gc.disable()  # a collection would be a pause
    try:
        for number, path in enumerate(paths):
            due_ns = begin_ns + number * interval_ns // len(paths)
            probes.append(_Probe(number, path, token, interval_ns, due_ns))
        news = _News(probes, begin_ns + _NEWS_NS)  # by then, every path that works has answered
        try:
            while time.monotonic_ns() - begin_ns < order["seconds"] * 1e9:
                _turn(probes, lateness, budget, order["wire_bytes"], news)
        except StoppedError as error:
            stopped = str(error)
        ended_ns = time.monotonic_ns()
        _listen(probes, _LAST_ANSWERS_S)
        for probe in probes:
            probe.book.ended(ended_ns)
    finally:
        gc.enable()
        for probe in probes:
            probe.close()
    return {
        "paths": [
            {
                "sent": probe.sent,
                "unsent": probe.unsent,
                "answered": probe.book.answered,
                "silences": [[s.began_ns, s.length_ns, s.is_over, s.late_ns] for s in probe.book.silences],
            }
            for probe in probes
        ],
        "lateness_p99_us": lateness.percentile_us(0.99),
        "lateness_max_us": lateness.percentile_us(1.0),
        "began_ns": begin_ns,
        "stopped": stopped,
    }


class _News:
    """Reports to the parent ten times a second which paths are silent, and which silences are over."""

    def __init__(self, probes: list[_Probe], first_ns: int) -> None:
        self._probes = probes
        self._next_ns = first_ns
        self._over: list[list[Any]] = []

    def over(self, probe: _Probe, silence: SilentTime) -> None:
        """A silence of a path has ended."""
        self._over.append([probe.number, silence.began_ns, silence.length_ns])

    def tell(self, now_ns: int) -> None:
        """Print the news where it is time. A parent that does not read delays nothing."""
        if now_ns < self._next_ns or not select.select([], [1], [], 0)[1]:
            return
        self._next_ns = now_ns + _NEWS_NS
        over, self._over = self._over[:20], self._over[20:]
        silent = [probe.book.silent_ns(now_ns) for probe in self._probes]
        line = json.dumps({"news": {"now_ns": now_ns, "silent_ns": silent, "over": over}}).encode() + b"\n"
        with suppress(BlockingIOError):
            while line:
                line = line[os.write(1, line) :]


def _turn(probes: list[_Probe], lateness: Lateness, budget: Budget, wire_bytes: int, news: _News) -> None:
    """Send what is due, receive what came, and sleep until the next probe is due. Raises StoppedError."""
    now_ns = time.monotonic_ns()
    for probe in probes:
        if probe.due_ns <= now_ns:
            budget.spend(wire_bytes)
            for late_ns in probe.send(now_ns):
                lateness.add(late_ns)
            now_ns = time.monotonic_ns()
    budget.orders.look()
    budget.rest_the_cpu(time.monotonic())
    news.tell(now_ns)
    left_s = (min(probe.due_ns for probe in probes) - time.monotonic_ns()) / 1e9
    for probe, silence in _receive(probes, min(max(left_s, 0.0), 0.02)):
        news.over(probe, silence)


def _receive(probes: list[_Probe], patience_s: float) -> list[tuple[_Probe, SilentTime]]:
    lines = {probe.line: probe for probe in probes if probe.line is not None}
    ready = select.select(lines, [], [], patience_s)[0]
    return [(lines[line], silence) for line in ready for silence in lines[line].receive()]


def _listen(probes: list[_Probe], seconds: float) -> None:
    """Receive the last answers."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        _receive(probes, left)
