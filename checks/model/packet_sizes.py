"""How an MTU, an ICMP payload, a database block and the bytes on the wire belong together."""

from __future__ import annotations

ICMP_HEADER = 8
UDP_HEADER = 8
IP_HEADER = {4: 20, 6: 40}
"""Bytes of an IP header without options (RFC 791) and without extension headers (RFC 8200)."""

SMALL_PAYLOAD = 56
"""Payload of the small ping: what `ping` sends when not told otherwise; it fits every link."""

USUAL_BLOCK_BYTES = 8192
BLOCK_HEADER_BYTES = 136
"""What Oracle sends with a block: 8,328 bytes of UDP data for one of 8 KB, seen with Don't Fragment set at MTU 9000
and cut into six at 1500 (packet dumps in Shamsudeen and others, Expert Oracle RAC 12c)."""


def overhead(version: int) -> int:
    """Bytes that ICMP and IP add to a payload: 28 for IPv4, 48 for IPv6."""
    return IP_HEADER[version] + ICMP_HEADER


def payload_for(mtu: int, version: int) -> int:
    """The ICMP payload that fills a packet of `mtu` bytes."""
    return mtu - overhead(version)


def packet_of(payload: int, version: int) -> int:
    """The bytes of the IP packet that carries `payload` bytes of ICMP."""
    return payload + overhead(version)


def fragments_of(block_bytes: int, mtu: int, version: int = 4) -> int:
    """Into how many IP packets a UDP datagram with a database block is cut: 6 for 8 KB at MTU 1500, 1 at 9000.

    Every fragment but the last carries a multiple of 8 bytes (RFC 791). What Oracle adds to a block is less than what
    is left over in the last fragment of every usual block size, and is not counted.
    """
    room = (mtu - IP_HEADER[version]) // 8 * 8
    return -(-(block_bytes + UDP_HEADER) // room) if room > 0 else 1


def ping_bytes(payload: int, mtu: int, version: int = 4) -> int:
    """Bytes on the wire of a ping that may be fragmented: payload, ICMP header, and the IP headers of all fragments."""
    return payload + ICMP_HEADER + fragments_of(payload, mtu, version) * IP_HEADER[version]
