"""Single messages to one far end, as datagrams or as pings, and their answers.

A datagram starts with a header of 28 bytes: kind, count, sequence number, token, and the size of the answers for a
request (`PULL`). `checks/measure/far_end/reflector.pl` has the other side.
"""

from __future__ import annotations

import errno
import select
import socket
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

from checks.sources.probes.icmp_socket import EchoSocket

HEADER = struct.Struct("!BxH4s16sI")
ECHO, ACKNOWLEDGE, PULL = 0, 1, 3
"""Returned whole; answered by its header; answered by as many datagrams, of the size, as it asks for."""
LEAST_BYTES = HEADER.size
MOST_BYTES = 65_507
"""The largest payload of a UDP datagram over IPv4, and of a ping."""
BUFFER_BYTES = 4 << 20
"""What both ends ask for, for receiving and for sending."""
_PATIENCE = struct.pack("@ll", 0, 50_000)
"""SO_RCVTIMEO: 50 ms, so that a stop is seen while no answer comes."""
_SEQUENCES, _PING_SEQUENCES = 1 << 32, 1 << 16


class OnSocket:
    """What sends and receives on one socket, which `select` can wait for."""

    _socket: socket.socket | EchoSocket

    def fileno(self) -> int:
        """The file descriptor of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class Messages(OnSocket, ABC):
    """Messages of one size to one far end."""

    @abstractmethod
    def send(self, sequence: int) -> int:
        """Send a message, and return when, in ns (`time.monotonic_ns`). Raises OSError where the kernel refuses it."""

    @abstractmethod
    def answer(self) -> tuple[int, int] | None:
        """Wait up to 50 ms for an answer, and return its sequence number and when it came, in ns; None without one."""

    @abstractmethod
    def waiting(self) -> Iterator[tuple[int, int]]:
        """Yield the answers that are there, without waiting."""


def udp_socket(source: str, target: str, port: int) -> socket.socket:
    """Return a socket from the source address to the far end. Raises OSError where the address is not on this node."""
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _PATIENCE)
        one.bind((source, 0))
        one.connect((target, port))
    except OSError:
        one.close()
        raise
    return one


class Datagrams(Messages):
    """Datagrams to a far end, and its answers: whole, their headers, or `train` datagrams for one request."""

    def __init__(
        self, source: str, target: str, port: int, token: bytes, size: int, train: int = 1, kind: int = ECHO
    ) -> None:
        """`kind`: of single datagrams; a train is always a PULL."""
        self._socket: socket.socket = udp_socket(source, target, port)
        self._token, self._asked, self._train = token, size, train
        self._kind = kind if train == 1 else PULL
        self._request = bytearray(LEAST_BYTES if self._kind == PULL else size)
        self._size = LEAST_BYTES if kind == ACKNOWLEDGE else size
        self._buffer = bytearray(70_000)
        self._cars: dict[int, int] = {}

    def send(self, sequence: int) -> int:
        """Send the message, and return when, in ns. Raises OSError."""
        sequence_bytes = (sequence % _SEQUENCES).to_bytes(4, "big")
        HEADER.pack_into(self._request, 0, self._kind, self._train, sequence_bytes, self._token, self._asked)
        sent_ns = time.monotonic_ns()
        self._socket.send(self._request)
        return sent_ns

    def answer(self) -> tuple[int, int] | None:
        """Wait up to 50 ms for a complete answer."""
        return self._received(0)

    def waiting(self) -> Iterator[tuple[int, int]]:
        """Yield the complete answers that are there."""
        while (one := self._received(socket.MSG_DONTWAIT)) is not None:
            yield one

    def _received(self, flags: int) -> tuple[int, int] | None:
        """Return the next complete answer: the last car of a train. Raises OSError for an error of the path."""
        while True:
            try:
                size = self._socket.recv_into(self._buffer, 0, flags)
            except BlockingIOError:
                return None
            except OSError as error:
                if error.errno == errno.EINTR:
                    continue
                raise
            at_ns = time.monotonic_ns()
            if size != self._size or self._buffer[8:24] != self._token:
                continue  # no answer of this far end
            sequence = int.from_bytes(self._buffer[4:8], "big")
            if self._train == 1:
                return sequence, at_ns
            self._cars[sequence] = cars = self._cars.get(sequence, 0) + 1
            if cars == self._train:
                del self._cars[sequence]
                return sequence, at_ns


class Pings(Messages):
    """Pings of one size, which the kernel of the far node answers. `train` pings go at once."""

    def __init__(self, source: str, target: str, device: str, size: int, train: int = 1) -> None:
        """Raises CannotPingError and NoPrivilegeError as `EchoSocket` does."""
        self._socket: EchoSocket = EchoSocket(source, target, device, dont_fragment=False)
        self._payload = b"\0" * size
        self._train = train
        self._cars: dict[int, int] = {}
        self._sequences: dict[int, int] = {}
        """The message of each train under way: a ping has 16 bits for its number, which a long round uses up."""

    def send(self, sequence: int) -> int:
        """Send the message, and return when, in ns. Raises OSError."""
        place = sequence % (_PING_SEQUENCES // self._train)
        self._sequences[place] = sequence
        self._cars.pop(place, None)
        first = place * self._train
        sent_ns = self._socket.send(first, self._payload)
        for car in range(1, self._train):
            self._socket.send(first + car, self._payload)
        return sent_ns

    def answer(self) -> tuple[int, int] | None:
        """Wait up to 50 ms for a complete answer."""
        until = time.monotonic() + 0.05
        while (left := until - time.monotonic()) > 0:
            if select.select([self._socket], [], [], left)[0]:
                for one in self.waiting():
                    return one
        return None

    def waiting(self) -> Iterator[tuple[int, int]]:
        """Yield the complete answers that are there."""
        for echo in self._socket.answers():
            if echo.identifier != self._socket.identifier or len(echo.payload) != len(self._payload):
                continue
            place = echo.sequence // self._train
            self._cars[place] = cars = self._cars.get(place, 0) + 1
            if cars == self._train:
                del self._cars[place]
                yield self._sequences.get(place, place), echo.arrived_ns
