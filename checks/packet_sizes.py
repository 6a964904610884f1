"""How an MTU, an ICMP payload and the bytes on the wire belong together."""

from __future__ import annotations

ICMP_HEADER = 8
IP_HEADER = {4: 20, 6: 40}
"""Bytes of an IP header without options (RFC 791) and without extension headers (RFC 8200)."""

SMALL_PAYLOAD = 56
"""Payload of the small ping: what `ping` sends when not told otherwise; it fits every link."""


def overhead(version: int) -> int:
    """Bytes that ICMP and IP add to a payload: 28 for IPv4, 48 for IPv6."""
    return IP_HEADER[version] + ICMP_HEADER


def payload_for(mtu: int, version: int) -> int:
    """The ICMP payload that fills a packet of `mtu` bytes."""
    return mtu - overhead(version)


def packet_of(payload: int, version: int) -> int:
    """The bytes of the IP packet that carries `payload` bytes of ICMP."""
    return payload + overhead(version)
