"""The sockets of the daemon on one private network: one for messages and one for blocks, on the instance's address."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterator

from .messages import BLOCK_PORT, MESSAGE_PORT, Message, decode

_SO_TIMESTAMPNS, _SO_RXQ_OVFL = 35, 40
_TIMESPEC, _NUMBER = struct.Struct("@ll"), struct.Struct("@I")
_SEND_BYTES = 1 << 20
_RECEIVE_DEFAULT, _RECEIVE_MAX = "/proc/sys/net/core/rmem_default", "/proc/sys/net/core/rmem_max"
_RECEIVE_LEAST = 1 << 17
"""Bytes that an instance asks for where the default of the kernel is lower."""
_SO_RCVBUFFORCE = 33
_AT_ONCE = 64
"""Datagrams to read from one socket before the next one."""


class FusionNetwork:
    """The sockets on one address. Raises OSError when the node does not have the address."""

    def __init__(self, number: int, ip: str, receive_buffer_bytes: int | None) -> None:
        self.number = number
        self.ip = ip
        self.packed_ip = socket.inet_aton(ip)
        self._usual_bytes = usual_buffer_bytes()
        """As of the start of the instance: a later change of the kernel's default does not reach open sockets."""
        self.messages = _bound(ip, MESSAGE_PORT, self._usual_bytes)
        try:
            self.blocks = _bound(ip, BLOCK_PORT, self._usual_bytes)
        except OSError:
            self.messages.close()
            raise
        self.limit_buffer(receive_buffer_bytes)
        self._room = bytearray(65536)
        self.blocks_dropped = 0
        """Blocks that found no room in the receive buffer, as the kernel counted until the last block that was read."""

    def limit_buffer(self, size_bytes: int | None) -> None:
        """Set the receive buffer of the block socket to that size; None for the usual one of the instance."""
        _set_receive_buffer(self.blocks, size_bytes or self._usual_bytes)

    def close(self) -> None:
        """Close both sockets."""
        self.messages.close()
        self.blocks.close()

    def read(self, source: socket.socket) -> Iterator[tuple[Message, int]]:
        """Yield the messages that arrived at one of the sockets, each with the kernel's time of arrival."""
        for _ in range(_AT_ONCE):
            try:
                size, extras, _, _ = source.recvmsg_into([self._room], 64)
            except OSError:  # no more packets, or an error that an earlier packet caused
                return
            received_ns = time.time_ns()
            for level, kind, data in extras:
                if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS) and len(data) >= _TIMESPEC.size:
                    seconds, rest = _TIMESPEC.unpack_from(data)
                    received_ns = seconds * 1_000_000_000 + rest
                elif (level, kind) == (socket.SOL_SOCKET, _SO_RXQ_OVFL) and source is self.blocks:
                    (self.blocks_dropped,) = _NUMBER.unpack_from(data)
            message = decode(memoryview(self._room)[:size])
            if message is not None:
                yield message, received_ns

    def send(self, datagram: bytes, ip: str, port: int = MESSAGE_PORT) -> bool:
        """Send to another instance. Return whether the kernel accepted the datagram."""
        source = self.blocks if port == BLOCK_PORT else self.messages
        with contextlib.suppress(OSError):
            source.sendto(datagram, (ip, port))
            return True
        return False


def usual_buffer_bytes() -> int:
    """Return the size that an instance asks for: the default of its node, at least 128 KB, at most its maximum."""
    default, most = (_number_in(path) for path in (_RECEIVE_DEFAULT, _RECEIVE_MAX))
    wanted = max(default or 0, _RECEIVE_LEAST)
    return min(wanted, most) if most else wanted


def _number_in(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _set_receive_buffer(opened: socket.socket, size_bytes: int) -> None:
    try:  # a node has a maximum of its own, which can be larger than the machine's
        opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, size_bytes)
    except OSError:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size_bytes)


def _bound(ip: str, port: int, receive_bytes: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        opened.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        opened.setsockopt(socket.SOL_SOCKET, _SO_RXQ_OVFL, 1)
        _set_receive_buffer(opened, receive_bytes)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
        opened.bind((ip, port))
    except OSError:
        opened.close()
        raise
    return opened
