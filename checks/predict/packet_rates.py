"""How many packets the same traffic takes at another MTU. Pure functions.

The kernel counts the fragments that arrive and the datagrams that it puts together from them (RFC 4293: ipReasmReqds,
ipReasmOKs), and likewise those that it sends (ipFragCreates, ipFragOKs). So the number of packets that are no fragments
is known, and so is the mean size of the fragmented datagrams within a fragment. What is not counted is the sizes of
the other packets: at a smaller MTU, the blocks among them come from the instances, or from the mean size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from checks.model.packet_sizes import BLOCK_HEADER_BYTES, IP_HEADER, UDP_HEADER, WIRE_BYTES, fragments_of

ETHERNET_BYTES = 14
"""The header that an interface counts with each packet."""
_SMALL_BYTES = 242
"""Bytes of a message of 200 bytes with UDP, IP and Ethernet headers: AWR and Statspack assume 200."""
_LEAST_BYTES = 60
"""The smallest Ethernet frame without its checksum."""
_WHOLE = 0.1
"""How near the mean number of fragments must be to that of a block, so that the datagrams count as blocks."""


@dataclass(frozen=True)
class Flow:
    """One direction of a node's private traffic, per second."""

    packets: float
    bytes_: float
    """With the Ethernet header of each packet, as the interface counts them."""
    fragments: float
    """The packets among `packets` that are fragments."""
    datagrams: float
    """The datagrams that these fragments make up."""
    blocks: float | None = None
    """The blocks that the node's instances received or served; None without a database."""


class Packets(NamedTuple):
    """A number of packets per second: the most likely one, and its limits."""

    likely: float
    low: float
    high: float


def packets_at(flow: Flow, before: int, after: int, block_bytes: int, version: int = 4) -> Packets:
    """Return the packets per second of the same traffic at the MTU `after`; it was measured at the MTU `before`."""
    whole = flow.packets - flow.fragments
    refragmented = _refragmented(flow, before, after, block_bytes, version)
    if after >= before:
        return Packets(*(whole + part for part in refragmented))
    added = _newly_fragmented(flow, before, after, block_bytes, version)
    return Packets(*(whole + part + more for part, more in zip(refragmented, added, strict=True)))


def _refragmented(flow: Flow, before: int, after: int, block_bytes: int, version: int) -> Packets:
    """Return the packets of the datagrams that are fragmented now."""
    if flow.datagrams <= 0:
        return Packets(flow.fragments, flow.fragments, flow.fragments)
    mean = flow.fragments / flow.datagrams
    if abs(mean - fragments_of(block_bytes, before, version)) <= _WHOLE:
        each = fragments_of(block_bytes, after, version)
        return Packets(*[each * flow.datagrams] * 3)
    room = _room(before, version)
    most = math.ceil(mean - _WHOLE) * room
    least = max(most - room, room) + 1
    low, high = (flow.datagrams * -(-size // _room(after, version)) for size in (least, most))
    likely = flow.datagrams * max(1.0, mean * room / _room(after, version))
    return Packets(min(max(likely, low), high), low, high)


def _newly_fragmented(flow: Flow, before: int, after: int, block_bytes: int, version: int) -> Packets:
    """Return the packets that are added by datagrams that fit `before` and do not fit `after`."""
    size = block_bytes if fragments_of(block_bytes, before, version) == 1 else before - IP_HEADER[version] - UDP_HEADER
    more = fragments_of(size, after, version) - 1
    whole = flow.packets - flow.fragments
    if more <= 0 or whole <= 0:
        return Packets(0.0, 0.0, 0.0)
    if flow.blocks is not None and fragments_of(block_bytes, before, version) == 1:
        blocks = min(max(flow.blocks, 0.0), whole)
        return Packets(*[blocks * more] * 3)
    header = BLOCK_HEADER_BYTES if size == block_bytes else 0
    frame = size + header + UDP_HEADER + IP_HEADER[version] + ETHERNET_BYTES
    bytes_ = max(flow.bytes_ - flow.fragments * (before + ETHERNET_BYTES), 0.0)
    least, likely, most = (
        min(max((bytes_ - whole * small) / (frame - small), 0.0), whole)
        for small in (min(after + ETHERNET_BYTES, frame - 1), _SMALL_BYTES, _LEAST_BYTES)
    )
    return Packets(likely * more, least * more, most * more)


def wire_bits(packets: float, bytes_: float) -> float:
    """Return the bits per second on the wire of packets whose `bytes_` include the Ethernet header."""
    return 8 * (bytes_ + packets * (WIRE_BYTES - ETHERNET_BYTES))


def _room(mtu: int, version: int) -> int:
    """Return the bytes of a datagram that a fragment carries: a multiple of 8 (RFC 791)."""
    return max((mtu - IP_HEADER[version]) // 8 * 8, 8)
