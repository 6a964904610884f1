"""ICMP sockets that set Don't Fragment and report the outcome of each packet, based on icmplib.

icmplib builds the packets and opens the sockets, with or without privileges. It cannot forbid fragmentation, cuts
answers at 1024 bytes and drops the error number. So this file sets the socket options, reads whole answers with their
TTL and the kernel's time of arrival, and reads the kernel's error queue (ip(7), IP_RECVERR). Linux only.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import struct
import time
from dataclasses import dataclass

from icmplib import ICMPv4Socket, ICMPv6Socket
from icmplib.exceptions import ICMPSocketError, SocketPermissionError

from checks.sources.probes.pinger import CannotPingError, NoPrivilegeError

# <linux/in.h>, <linux/in6.h>, <linux/errqueue.h>: Python's socket module does not name these.
IP_MTU_DISCOVER, IP_RECVERR, IP_RECVTTL = 10, 11, 12
IPV6_MTU_DISCOVER, IPV6_RECVERR, IPV6_DONTFRAG = 23, 25, 62
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
PMTUDISC_PROBE = 3
"""Sets DF, and uses only the interface's MTU: a path MTU that the kernel remembers from a router does not count."""
ORIGIN_LOCAL = 1
ERROR_STRUCT = struct.Struct("=IBBBBII")
"""struct sock_extended_err: errno, origin, type, code, padding, info, data; the offender's sockaddr follows."""
TIMESPEC = struct.Struct("@ll")

RECEIVE_BUFFER = 4 * 1024 * 1024
LARGEST_PACKET = 65_535


@dataclass(frozen=True, slots=True)
class Echo:
    """A received echo reply."""

    identifier: int
    sequence: int
    payload: bytes
    ttl: int | None
    arrived_ns: int
    """When the kernel received it, by `time.monotonic_ns`; when it was read, where the kernel reported no time."""


@dataclass(frozen=True, slots=True)
class QueuedError:
    """An entry of the error queue."""

    number: int
    """errno: EMSGSIZE, EHOSTUNREACH, ..."""
    local: bool
    """Whether this node's own kernel refused to send; False where a router or the destination answered."""
    mtu: int
    """With EMSGSIZE: the MTU that was exceeded."""
    offender: str
    """The sender of the error: a router, the destination, or this node itself where no host answered its ARP."""
    sequence: int | None
    """The sequence number of the packet that caused it; None where it is not known."""


def ones_complement_checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071), in C's arithmetic rather than Python's.

    The ones' complement sum of 16-bit words is the number that the bytes form, modulo 65535: 65536 is 1 there.
    """
    number = int.from_bytes(data + b"\0" if len(data) % 2 else data, "big")
    return 0xFFFF - (number % 0xFFFF or 0xFFFF) if number else 0xFFFF


class _Quick:
    """The faster checksum for both IP versions, mixed into icmplib's sockets."""

    __slots__ = ()

    def _checksum(self, data: bytes) -> int:
        return ones_complement_checksum(data)


class _QuickV4(_Quick, ICMPv4Socket):  # type: ignore[misc]  # icmplib has no type hints
    __slots__ = ()

    def _create_socket(self, type: int) -> socket.socket:  # noqa: A002  # icmplib's own name for it
        sock = socket.socket(socket.AF_INET, type, socket.IPPROTO_ICMP)
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        return sock


class _QuickV6(_Quick, ICMPv6Socket):  # type: ignore[misc]  # icmplib has no type hints
    __slots__ = ()

    def _create_socket(self, type: int) -> socket.socket:  # noqa: A002  # icmplib's own name for it
        sock = socket.socket(socket.AF_INET6, type, socket.IPPROTO_ICMPV6)
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        return sock


class EchoSocket:
    """A socket for echo requests from one address to another, and for their answers."""

    def __init__(self, source: str, destination: str, device: str, *, dont_fragment: bool = True) -> None:
        """Open the socket, bound to the source address and, where this user may, to the interface.

        Without `dont_fragment` the kernel fragments packets larger than the interface's MTU, as for other programs.
        Raises CannotPingError where the address is not on this node, and NoPrivilegeError where this user may open no
        ICMP socket.
        """
        self.version = ipaddress.ip_address(destination).version
        self.destination = destination
        self._icmp = self._open(source)
        sock: socket.socket = self._icmp.sock
        self._sock = sock
        try:
            sock.setblocking(False)
            if dont_fragment:
                self._forbid_fragments()
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            # A burst of 9000-byte answers must fit: what overflows here would look like loss on the wire.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            # Root may exceed the system-wide limit of receive buffers (SO_RCVBUFFORCE); other users may not.
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
            # Before Linux 5.7 only root may; the source address and the routes then choose the interface.
            with contextlib.suppress(PermissionError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode() + b"\0")
            # A connected raw socket does not receive the answers to the pings of other programs.
            sock.connect((destination, 0))
        except OSError as error:
            self.close()
            raise CannotPingError(f"cannot ping {destination} from {source} on {device}: {error.strerror}") from error
        self._raw = bool(self._icmp.is_privileged)
        self.identifier = struct.unpack("!H", os.urandom(2))[0] if self._raw else sock.getsockname()[1]

    def _forbid_fragments(self) -> None:
        if self.version == 4:
            self._sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_PROBE)
        else:
            self._sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_PROBE)
            self._sock.setsockopt(socket.IPPROTO_IPV6, IPV6_DONTFRAG, 1)

    def _open(self, source: str) -> ICMPv4Socket | ICMPv6Socket:
        kind = _QuickV4 if self.version == 4 else _QuickV6
        refusal = ICMPSocketError("not tried")
        for privileged in (True, False):
            try:
                return kind(source, privileged=privileged)
            except ICMPSocketError as error:
                refusal = error
        kind_of_error = NoPrivilegeError if isinstance(refusal, SocketPermissionError) else CannotPingError
        raise kind_of_error(f"no ICMP socket from {source}: {refusal}")

    def fileno(self) -> int:
        """The file descriptor, for the event loop."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close the socket. May be called twice."""
        self._icmp.close()

    def send(self, sequence: int, payload: bytes) -> int:
        """Send an echo request, and return the time at which the kernel accepted it, by `time.monotonic_ns`.

        Raises OSError as the kernel does: EMSGSIZE where the packet is too large to leave the node.
        """
        packet = self._icmp._create_packet(self.identifier, sequence, payload)
        # Clear an error of an earlier packet: it would be raised here, and this packet would not be sent.
        self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        handed_over_ns = time.monotonic_ns()
        self._sock.send(packet)
        return handed_over_ns

    def answers(self) -> list[Echo]:
        """All echo replies that have arrived."""
        echoes: list[Echo] = []
        while True:
            try:
                data, ancillary, _, _ = self._sock.recvmsg(LARGEST_PACKET, 256)
            except BlockingIOError:
                return echoes
            except OSError as error:
                # An error of an earlier packet, reported once here; the error queue has it in full.
                if error.errno == errno.EBADF:
                    return echoes
                continue
            if self._raw and self.version == 4:
                data = data[(data[0] & 0x0F) * 4 :]
            if len(data) < 8 or data[0] != (0 if self.version == 4 else 129):
                continue
            identifier, sequence = struct.unpack_from("!HH", data, 4)
            echoes.append(Echo(identifier, sequence, data[8:], _ttl(ancillary), arrival_ns(ancillary)))

    def errors(self) -> list[QueuedError]:
        """All entries of the error queue."""
        queued: list[QueuedError] = []
        while True:
            try:
                data, ancillary, _, _ = self._sock.recvmsg(512, 512, socket.MSG_ERRQUEUE)
            except OSError:
                return queued
            for level, kind, control in ancillary:
                if (level, kind) in ((socket.IPPROTO_IP, IP_RECVERR), (socket.IPPROTO_IPV6, IPV6_RECVERR)):
                    queued.append(self._queued_error(control, data))

    def _queued_error(self, control: bytes, original: bytes) -> QueuedError:
        number, origin, _, _, _, info, _ = ERROR_STRUCT.unpack_from(control)
        sequence = None
        if origin != ORIGIN_LOCAL and len(original) >= 8 and original[0] in (8, 128):
            identifier, quoted_sequence = struct.unpack_from("!HH", original, 4)
            sequence = quoted_sequence if identifier == self.identifier else None
        return QueuedError(number, origin == ORIGIN_LOCAL, info, _offender(control[ERROR_STRUCT.size :]), sequence)


def _ttl(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, control in ancillary:
        if (level, kind) in (
            (socket.IPPROTO_IP, socket.IP_TTL),
            (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT),
        ):
            return int(struct.unpack_from("=i", control)[0])
    return None


def arrival_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """The time at which the kernel received a packet, by `time.monotonic_ns`.

    The kernel reports it by the wall clock, which can be set. So only the age of the packet is taken from there, and
    only where the age is not negative.
    """
    now_ns = time.monotonic_ns()
    for level, kind, control in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS) and len(control) >= TIMESPEC.size:
            seconds, nanoseconds = TIMESPEC.unpack_from(control)
            ago_ns: int = time.time_ns() - (seconds * 1_000_000_000 + nanoseconds)
            return now_ns - max(0, ago_ns)
    return now_ns


def _offender(address: bytes) -> str:
    """The address in a sockaddr_in or sockaddr_in6; empty where it has none (AF_UNSPEC)."""
    family = struct.unpack_from("=H", address)[0] if len(address) >= 2 else 0
    if family == socket.AF_INET and len(address) >= 8:
        return socket.inet_ntop(socket.AF_INET, address[4:8])
    if family == socket.AF_INET6 and len(address) >= 24:
        return socket.inet_ntop(socket.AF_INET6, address[8:24])
    return ""
