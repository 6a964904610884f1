"""Streams at a stated rate: TCP and datagrams, to a far end and from far ends, which send only what this node asks for.

Each order returns the fields of `Stream`. What a far end counted meanwhile is read by its parent.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import socket
import struct
import termios
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from checks.measure.near_end.control import QUEUE_S, Budget, SendPace
from checks.measure.near_end.incomplete import Incomplete, Unanswered
from checks.measure.near_end.messages import ACKNOWLEDGE, HEADER, LEAST_BYTES, PULL, udp_socket
from checks.measure.near_end.stopped import StoppedError
from checks.measure.near_end.tcp_flows import tcp_connection
from checks.model.percentiles import percentile

_FLOW = struct.Struct("!B7xQ")
_TAKE, _GIVE = 0, 1
"""Kinds of a TCP flow: the far end receives so many bytes, or sends them."""
_ENDLESS = 1 << 40
_MOST_CHUNK = 1 << 18
_WINDOW_S, _LEAST_WINDOW, _MOST_WINDOW = 0.05, 16, 512
"""Seconds of the rate that may be without an answer, and the least and the most datagrams."""
_AWAIT_S = 0.002
_MOST_DATAGRAM = 70_000
_STANDSTILL_S = 2.0
REST_S, MOST_REST_S = 0.1, 0.5
"""Seconds without a datagram after which none is under way any more, and the most that are waited for that."""
_PULL_S = 0.0005
"""Seconds of the rate that one request asks for, so that requests are few, and bursts short."""
_MOST_PULLED = 16
_RECVERR = 11
"""IP_RECVERR: without it, Linux hides from a UDP socket that a queue of this node dropped its datagram."""
_ZEROS = bytes(_MOST_CHUNK)


@dataclass
class Stream:
    """A stream of one direction."""

    seconds: float = 0.0
    """Until the last byte was acknowledged or had arrived."""
    sent_bytes: int = 0
    received_bytes: int = 0
    sent: int = 0
    received: int = 0
    refused: int = 0
    """Datagrams that this node's queue did not take."""
    dropped: int = 0
    """Datagrams that this node's full sockets dropped."""
    lateness_p99_us: float | None = None
    cpu_s: float = 0.0
    receive_buffer: int = 0
    send_buffer: int = 0
    """The buffers of a socket for datagrams, as the kernel counts them: twice those that were given."""
    is_arriving: bool = False
    """Whether datagrams still arrived when they were counted last."""
    stopped: str = ""
    is_harm: bool = False


def tcp_to(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Send one TCP stream to a far end for `seconds`."""
    found, pace = Stream(), _pace(order, budget)
    queue = max(2 * order["payload"], int(pace.bytes_per_s * QUEUE_S))
    chunk = max(order["payload"], min(_MOST_CHUNK, queue // 2))
    cpu = time.process_time()
    with _connection(order) as one:
        started = last = time.monotonic()
        one.sendall(_FLOW.pack(_TAKE, _ENDLESS))
        try:
            while time.monotonic() - started < order["seconds"]:
                pace.take(_wire(chunk, order))
                rest = memoryview(_ZEROS)[:chunk]
                while rest:
                    if _unacknowledged(one) + len(rest) > max(queue, chunk):
                        budget.orders.look()
                        time.sleep(0.0001)
                        _demand_progress(last)
                        continue
                    try:
                        count = one.send(rest)
                    except BlockingIOError:
                        continue
                    last = time.monotonic()
                    found.sent_bytes += count
                    rest = rest[count:]
            while _unacknowledged(one):
                budget.orders.wait(0.0005)
                _demand_progress(last)
        except StoppedError as error:
            found.stopped, found.is_harm = str(error), error.is_harm
        except OSError as error:
            found.stopped = f"the TCP connection broke: {error.strerror or error}"
        found.seconds = time.monotonic() - started
    return _done(found, pace, cpu)


def tcp_from(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Receive one TCP stream from a far end for `seconds`: it sends each part when this node asks for it."""
    found, pace = Stream(), _pace(order, budget)
    queue = max(2 * order["payload"], int(pace.bytes_per_s * QUEUE_S))
    part = max(order["payload"], min(4 * _MOST_CHUNK, queue // 2))
    buffer = bytearray(_MOST_CHUNK)
    cpu = time.process_time()
    with _connection(order) as one:
        started = last = time.monotonic()
        waiting = 0
        try:
            while waiting or time.monotonic() - started < order["seconds"]:
                if waiting <= queue - part and time.monotonic() - started < order["seconds"]:
                    pace.take(_wire(part, order))
                    one.sendall(_FLOW.pack(_GIVE, part))
                    waiting += part
                try:
                    count = one.recv_into(buffer)
                except BlockingIOError:
                    count = -1
                if count == 0:
                    raise StoppedError("the far end closed the TCP connection")
                if count > 0:
                    last = time.monotonic()
                    waiting -= count
                    found.received_bytes += count
                else:
                    _demand_progress(last)
                budget.orders.look()
        except StoppedError as error:
            found.stopped, found.is_harm = str(error), error.is_harm
        except OSError as error:
            found.stopped = f"the TCP connection broke: {error.strerror or error}"
        found.seconds = last - started
    return _done(found, pace, cpu)


def udp_to(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Send datagrams of `payload` bytes to a far end for `seconds`, which acknowledges and counts them."""
    found, pace = Stream(), _pace(order, budget)
    cpu, sequence = time.process_time(), 0
    data, token = bytearray(order["payload"]), bytes.fromhex(order["token"])
    with udp_socket(order["source"], order["target"], order["port"]) as one:
        one.setsockopt(socket.IPPROTO_IP, _RECVERR, 1)
        found.receive_buffer, found.send_buffer = _buffers(one)
        open_ = Unanswered(budget.incomplete, order["holds"], _window(pace, order))
        started = last = time.monotonic()
        try:
            while time.monotonic() - started < order["seconds"]:
                now = time.monotonic()
                last = _acknowledged(one, token, open_) or last
                if not open_.has_room(1, now):
                    _await([one], budget)
                    continue
                pace.take(order["wire_bytes"])
                sequence += 1
                HEADER.pack_into(data, 0, ACKNOWLEDGE, 0, sequence.to_bytes(4, "big"), token, 0)
                open_.went((0, sequence), time.monotonic())
                try:
                    one.send(data)
                except OSError as error:
                    if error.errno not in (errno.ENOBUFS, errno.EAGAIN):
                        raise StoppedError(f"the datagrams were refused: {error.strerror}") from None
                    open_.did_not_go((0, sequence))
                    found.refused += 1
                    continue
                found.sent += 1
                found.sent_bytes += len(data)
            last = time.monotonic()  # as many datagrams take as many intervals
            while open_:
                now = time.monotonic()
                last = _acknowledged(one, token, open_) or last
                open_.has_room(1, now)
                _await([one], budget)
        except StoppedError as error:
            found.stopped, found.is_harm = str(error), error.is_harm
        found.seconds = max(last - started, 1e-9) if found.sent > open_.lost else time.monotonic() - started
    return _done(found, pace, cpu)


def _acknowledged(one: socket.socket, token: bytes, open_: Unanswered) -> float:
    """Take the acknowledgements that are there, and return when the last was taken; 0 where there was none."""
    came_s = 0.0
    while True:
        try:
            head = one.recv(_MOST_DATAGRAM, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return came_s
        except OSError:  # an ICMP error of an earlier datagram, reported once
            continue
        if len(head) == LEAST_BYTES and head[8:24] == token:
            open_.answered((0, int.from_bytes(head[4:8], "big")))
            came_s = time.monotonic()


class PacedReceiver:
    """Receives datagrams from far ends. Its sockets stay open until `rest`, after the far ends were counted: what they
    sent until then has arrived, was dropped by a socket, or is missing."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._found, self._open = Stream(), Unanswered(Incomplete({}, 0), {}, 1)
        self._size = 0

    def udp_from(self, order: dict[str, Any], budget: Budget) -> dict[str, Any]:
        """Receive datagrams of `payload` bytes from all far ends of the order at the same time, for `seconds`."""
        self._close()
        self._found, pace = Stream(), _pace(order, budget)
        found, cpu, sequence = self._found, time.process_time(), 0
        size, far_ends = order["payload"], order["far_ends"]
        count = max(1, min(_MOST_PULLED, int(pace.bytes_per_s * _PULL_S / order["wire_bytes"])))
        for far in far_ends:
            self._sockets.append(udp_socket(far["source"], far["target"], far["port"]))
        self._size, sockets = size, self._sockets
        found.receive_buffer, found.send_buffer = _buffers(sockets[0])
        self._open = open_ = Unanswered(budget.incomplete, order["holds"], max(count, _window(pace, order)))
        started = last = time.monotonic()
        try:
            while time.monotonic() - started < order["seconds"]:
                now = time.monotonic()
                last = _receive(sockets, size, found, open_) or last
                if not open_.has_room(count, now):
                    _await(sockets, budget)
                    continue
                pace.take(order["wire_bytes"] * count)
                place = sequence % len(sockets)
                sequence += 1
                now, token = time.monotonic(), bytes.fromhex(far_ends[place]["token"])
                for number in range(count):
                    open_.went((place, sequence, number), now)
                sockets[place].send(HEADER.pack(PULL, count, sequence.to_bytes(4, "big"), token, size))
            last = time.monotonic()  # as many datagrams take as many intervals
            while open_:
                now = time.monotonic()
                last = _receive(sockets, size, found, open_) or last
                open_.has_room(1, now)
                _await(sockets, budget)
        except StoppedError as error:
            found.stopped, found.is_harm = str(error), error.is_harm
        except OSError as error:
            found.stopped = f"the datagrams were refused: {error.strerror or error}"
        last = _receive(sockets, size, found, open_) or last
        found.seconds = max(last - started, 1e-9) if found.received else time.monotonic() - started
        return _done(found, pace, cpu)

    def rest(self, order: dict[str, Any], budget: Budget) -> dict[str, Any]:
        """Receive what is still under way, send nothing, and return the whole stream."""
        until = time.monotonic() + MOST_REST_S
        try:
            while self._sockets and select.select(self._sockets, [], [], REST_S)[0]:
                _receive(self._sockets, self._size, self._found, self._open)
                if time.monotonic() > until:
                    self._found.is_arriving = True
                    break
            self._found.dropped = own_drops(self._sockets)
        finally:
            self._close()
        return asdict(self._found)

    def _close(self) -> None:
        while self._sockets:
            self._sockets.pop().close()


def _window(pace: SendPace, order: dict[str, Any]) -> int:
    """Return the datagrams that may be without an answer: those of a moment, so that a path that ends costs few."""
    return max(_LEAST_WINDOW, min(_MOST_WINDOW, int(pace.bytes_per_s * _WINDOW_S / order["wire_bytes"])))


def _await(sockets: Sequence[socket.socket], budget: Budget) -> None:
    """Wait until an answer is there, for a moment. Raises StoppedError."""
    budget.orders.look()
    select.select(sockets, [], [], _AWAIT_S)


def own_drops(sockets: Sequence[socket.socket]) -> int:
    """Return how many datagrams these sockets dropped, because they were full, from /proc/net/udp."""
    inodes = {str(os.fstat(one.fileno()).st_ino) for one in sockets}
    lines = Path("/proc/net/udp").read_text(encoding="ascii").splitlines()[1:]
    return sum(int(words[-1]) for line in lines if (words := line.split())[9] in inodes)


def _buffers(one: socket.socket) -> tuple[int, int]:
    return (
        one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
        one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF),
    )


def _receive(sockets: Sequence[socket.socket], size: int, found: Stream, open_: Unanswered) -> float:
    """Take the datagrams that are there, and return when the last came; 0 where there was none."""
    came = False
    for place, one in enumerate(sockets):
        while True:
            try:
                data = one.recv(_MOST_DATAGRAM, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            if len(data) == size:
                came = True
                found.received += 1
                found.received_bytes += size
                open_.answered((place, int.from_bytes(data[4:8], "big"), int.from_bytes(data[2:4], "big")))
    return time.monotonic() if came else 0.0


def _pace(order: dict[str, Any], budget: Budget) -> SendPace:
    return SendPace(budget, order["bits_per_s"], order["most_bps"], order["wire_bytes"] / order["packets"])


def _connection(order: dict[str, Any]) -> socket.socket:
    """Return a connection whose calls wait 20 ms at most. Raises OSError."""
    one = tcp_connection(order, 2.0)
    one.settimeout(None)
    patience = struct.pack("@ll", 0, 20_000)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
    return one


def _demand_progress(last_s: float) -> None:
    """Raise StoppedError where a TCP stream has stood still since `last_s` for too long."""
    if time.monotonic() - last_s > _STANDSTILL_S:
        raise StoppedError(f"the TCP stream had no answer for {_STANDSTILL_S:.0f} s", is_harm=True)


def _unacknowledged(one: socket.socket) -> int:
    """Return the bytes of a TCP connection that the far node has not acknowledged."""
    return int(struct.unpack("i", fcntl.ioctl(one, termios.TIOCOUTQ, b"\0" * 4))[0])


def _wire(payload: int, order: dict[str, Any]) -> int:
    """Return the bytes on the wire of a part of a TCP stream; `payload` of the order is that of a full segment."""
    segments = -(-payload // int(order["payload"]))
    headers = int(order["wire_bytes"]) - int(order["payload"])
    return payload + segments * headers


def _done(found: Stream, pace: SendPace, cpu: float) -> dict[str, Any]:
    found.lateness_p99_us = percentile(pace.lateness_us, 0.99)
    found.cpu_s = time.process_time() - cpu
    return asdict(found)
