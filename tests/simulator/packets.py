"""Packets, and the packets that a kernel makes of a datagram."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from checks.model.packet_sizes import IP_HEADER, UDP_HEADER

HEADERS = IP_HEADER[4] + UDP_HEADER
"""Bytes of a packet beside the payload of a ping or a datagram."""


class Packet(NamedTuple):
    """One packet on a private network."""

    network: int
    """The network whose NIC the sender sends on."""
    sender: str
    receiver: str
    address: str
    """`private` or `haip`: the kind of address that it is sent to."""
    protocol: str
    """`arp`, `icmp` or `udp`."""
    size: int
    """Bytes of the IP packet."""
    form: str = "whole"
    """`whole` or `fragment`."""
    port: int = 0
    """The source port of a datagram; a fragment keeps it, but no switch sees it there."""
    end: str = "kernel"
    """`instance` where a socket of the database takes it."""
    in_a_row: bool = False
    """Whether others of its sender went just before it, as in a burst: what a policer of rates drops."""
    is_error: bool = False
    """Whether it is an ICMP error: a filter of echo requests and replies lets it pass."""


def pieces(size: int, mtu: int) -> tuple[tuple[str, int], ...]:
    """Return form and size of the packets that carry an IP packet of this size, as a sender with this MTU cuts it."""
    if size <= mtu:
        return (("whole", size),)
    header = IP_HEADER[4]
    room = (mtu - header) // 8 * 8
    left, made = size - header, []
    while left > 0:
        made.append(("fragment", header + min(room, left)))
        left -= room
    return tuple(made)


def chance(seed: int, *parts: object) -> float:
    """Return a number from 0 to 1 that these parts determine: mending one fault moves no other fault's chance."""
    return crc32(repr((seed, parts)).encode()) / 2**32
