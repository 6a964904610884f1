"""Streams at a stated rate: TCP and datagrams, to a far end and from far ends, which send only what this node asks for.

Each order returns the fields of `Stream`. What a far end counted meanwhile is read by its parent.
"""

from __future__ import annotations

import errno
import fcntl
import select
import socket
import struct
import termios
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from checks.measure.near_end.control import QUEUE_S, Budget, SendPace, StoppedError
from checks.measure.near_end.messages import ACKNOWLEDGE, HEADER, LEAST_BYTES, PULL, SWALLOW, udp_socket

_FLOW = struct.Struct("!B7xQ")
_TAKE, _GIVE = 0, 1
"""Kinds of a TCP flow: the far end receives so many bytes, or sends them."""
_ENDLESS = 1 << 40
_MOST_CHUNK = 1 << 18
_DRAIN_S = 0.4
"""Seconds that the last datagrams have to arrive."""
_MARK_S = 0.01
"""Seconds between the small datagrams that ask whether all have arrived."""
_STANDSTILL_S = 2.0
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
    asked: int = 0
    """Datagrams that were requested."""
    lateness_p99_us: float | None = None
    cpu_s: float = 0.0
    buffer_bytes: int = 0
    """The socket buffer that the kernel granted."""
    stopped: str = ""


def tcp_to(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Send one TCP stream to a far end for `seconds`."""
    found, pace = Stream(), _pace(order, budget)
    queue = max(2 * order["payload"], int(pace.bytes_per_s * QUEUE_S))
    chunk = max(order["payload"], min(_MOST_CHUNK, queue // 2))
    cpu = time.process_time()
    with _connection(order) as one:
        started = last = time.monotonic()
        found.buffer_bytes = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
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
            found.stopped = str(error)
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
        found.buffer_bytes = one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
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
            found.stopped = str(error)
        except OSError as error:
            found.stopped = f"the TCP connection broke: {error.strerror or error}"
        found.seconds = last - started
    return _done(found, pace, cpu)


def udp_to(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Send datagrams of `payload` bytes to a far end for `seconds`, which swallows and counts them."""
    found, pace = Stream(), _pace(order, budget)
    cpu = time.process_time()
    data = bytearray(order["payload"])
    HEADER.pack_into(data, 0, SWALLOW, 0, b"\0\0\0\0", bytes.fromhex(order["token"]), 0)
    with udp_socket(order["source"], order["target"], order["port"]) as one:
        one.setsockopt(socket.IPPROTO_IP, _RECVERR, 1)
        found.buffer_bytes = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        started = time.monotonic()
        try:
            while time.monotonic() - started < order["seconds"]:
                pace.take(order["wire_bytes"])
                try:
                    one.send(data)
                except OSError as error:
                    if error.errno not in (errno.ENOBUFS, errno.EAGAIN):
                        raise StoppedError(f"the datagrams were refused: {error.strerror}") from None
                    found.refused += 1
                    continue
                found.sent += 1
                found.sent_bytes += len(data)
            found.seconds = time.monotonic() - started
            if (arrived_s := _all_arrived(one, order, budget)) is not None:
                found.seconds = arrived_s - started
        except StoppedError as error:
            found.stopped = str(error)
        found.seconds = found.seconds or time.monotonic() - started
    return _done(found, pace, cpu)


def _all_arrived(one: socket.socket, order: dict[str, Any], budget: Budget) -> float | None:
    """Wait until the queues on the way are empty: until the far end answers a small datagram behind the last.

    Return that moment; None where no answer came in `_DRAIN_S`. Raises StoppedError.
    """
    mark = HEADER.pack(ACKNOWLEDGE, 0, b"mark", bytes.fromhex(order["token"]), LEAST_BYTES)
    until = time.monotonic() + _DRAIN_S
    while (now := time.monotonic()) < until:
        budget.spend(LEAST_BYTES)
        with suppress(OSError):  # a full queue, or an error of an earlier datagram
            one.send(mark)
        while (left := now + _MARK_S - time.monotonic()) > 0:
            if select.select([one], [], [], left)[0]:
                with suppress(OSError):
                    if one.recv(70_000, socket.MSG_DONTWAIT) == mark:
                        return time.monotonic()
        budget.orders.look()
    return None


def udp_from(order: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Receive datagrams of `payload` bytes from all far ends of the order at the same time, for `seconds`."""
    found, pace = Stream(), _pace(order, budget)
    cpu, sequence, last = time.process_time(), 0, 0.0
    size = order["payload"]
    count = max(1, min(_MOST_PULLED, int(pace.bytes_per_s * _PULL_S / order["wire_bytes"])))
    requests = [
        HEADER.pack(PULL, count, b"\0\0\0\0", bytes.fromhex(far["token"]), size).ljust(LEAST_BYTES, b"\0")
        for far in order["far_ends"]
    ]
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(udp_socket(far["source"], far["target"], far["port"])) for far in order["far_ends"]
        ]
        found.buffer_bytes = min(one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) for one in sockets)
        started = last = time.monotonic()
        try:
            while time.monotonic() - started < order["seconds"]:
                pace.take(order["wire_bytes"] * count)
                sockets[sequence % len(sockets)].send(requests[sequence % len(sockets)])
                sequence += 1
                found.asked += count
                last = _receive(sockets, size, found) or last
            until = time.monotonic() + _DRAIN_S
            while (left := until - time.monotonic()) > 0:
                budget.orders.look()
                if select.select(sockets, [], [], min(left, 0.02))[0]:
                    last = _receive(sockets, size, found) or last
        except StoppedError as error:
            found.stopped = str(error)
        except OSError as error:
            found.stopped = f"the datagrams were refused: {error.strerror or error}"
        _receive(sockets, size, found)
        found.dropped = own_drops(one.getsockname()[1] for one in sockets)
    found.seconds = max(last - started, 1e-9) if found.received else time.monotonic() - started
    return _done(found, pace, cpu)


def own_drops(ports: Any) -> int:
    """Return how many datagrams the full sockets of these local ports dropped, from /proc/net/udp."""
    wanted = {f"{port:04X}" for port in ports}
    lines = Path("/proc/net/udp").read_text(encoding="ascii").splitlines()[1:]
    return sum(int(words[-1]) for line in lines if (words := line.split())[1].rpartition(":")[2] in wanted)


def _receive(sockets: Sequence[socket.socket], size: int, found: Stream) -> float:
    """Take the datagrams that are there, and return when the last came; 0 where there was none."""
    came = False
    for one in sockets:
        while True:
            try:
                data = one.recv(70_000, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            if len(data) == size:
                came = True
                found.received += 1
                found.received_bytes += size
    return time.monotonic() if came else 0.0


def _pace(order: dict[str, Any], budget: Budget) -> SendPace:
    return SendPace(budget, order["bits_per_s"], order["most_bps"])


def _connection(order: dict[str, Any]) -> socket.socket:
    """Return a TCP connection to the far end that has shown the token. Raises OSError."""
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        one.settimeout(2.0)
        one.bind((order["source"], 0))
        one.connect((order["target"], order["tcp_port"]))
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.settimeout(None)
        patience = struct.pack("@ll", 0, 20_000)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
        one.sendall(bytes.fromhex(order["token"]))
    except OSError:
        one.close()
        raise
    return one


def _demand_progress(last_s: float) -> None:
    """Raise StoppedError where a TCP stream has stood still since `last_s` for too long."""
    if time.monotonic() - last_s > _STANDSTILL_S:
        raise StoppedError(f"the TCP stream had no answer for {_STANDSTILL_S:.0f} s")


def _unacknowledged(one: socket.socket) -> int:
    """Return the bytes of a TCP connection that the far node has not acknowledged."""
    return int(struct.unpack("i", fcntl.ioctl(one, termios.TIOCOUTQ, b"\0" * 4))[0])


def _wire(payload: int, order: dict[str, Any]) -> int:
    """Return the bytes on the wire of a part of a TCP stream; `payload` of the order is that of a full segment."""
    segments = -(-payload // int(order["payload"]))
    headers = int(order["wire_bytes"]) - int(order["payload"])
    return payload + segments * headers


def _done(found: Stream, pace: SendPace, cpu: float) -> dict[str, Any]:
    late = sorted(pace.lateness_us)
    found.lateness_p99_us = late[int(0.99 * (len(late) - 1))] if late else None
    found.cpu_s = time.process_time() - cpu
    return asdict(found)
