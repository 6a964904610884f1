"""Conversions between an MTU, an ICMP payload, a database block and the bytes on the wire."""

from __future__ import annotations

ICMP_HEADER = 8
UDP_HEADER = 8
IP_HEADER = {4: 20, 6: 40}
"""Bytes of an IP header without options (RFC 791) and without extension headers (RFC 8200)."""
ETHERNET_HEADER = 14
"""Bytes that a NIC counts of each packet beyond those of IP."""
WIRE_BYTES = 38
"""Bytes that Ethernet adds to each packet on the wire: preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)."""

SMALL_PAYLOAD = 56
"""Payload of the small ping: the default of `ping`, which fits every link."""

USUAL_BLOCK_BYTES = 8192
"""Oracle's default of db_block_size: assumed where that of the database is not known."""
BLOCK_HEADER_BYTES = 136
"""The bytes that Oracle sends with a block: 8,328 bytes of UDP data for a block of 8 KB, one packet with Don't Fragment
at MTU 9000, six fragments at 1500 (packet dumps in Shamsudeen and others, Expert Oracle RAC 12c)."""


def ip_version(address: str) -> int:
    """Return the IP version of an address or a subnet: 4 or 6."""
    return 6 if ":" in address else 4


def overhead(version: int) -> int:
    """Return the bytes that ICMP and IP add to a payload: 28 for IPv4, 48 for IPv6."""
    return IP_HEADER[version] + ICMP_HEADER


def payload_for(mtu: int, version: int) -> int:
    """Return the ICMP payload that fills a packet of `mtu` bytes."""
    return mtu - overhead(version)


def packet_of(payload: int, version: int) -> int:
    """Return the bytes of the IP packet that carries `payload` bytes of ICMP."""
    return payload + overhead(version)


def fragments_of(block_bytes: int, mtu: int, version: int = 4) -> int:
    """Return the number of IP packets of a UDP datagram with a database block: 6 for 8 KB at MTU 1500, 1 at 9000.

    Every fragment but the last carries a multiple of 8 bytes (RFC 791). Oracle's header of a block fits into the free
    bytes of the last fragment for every usual block size, and is not counted.
    """
    room = (mtu - IP_HEADER[version]) // 8 * 8
    return -(-(block_bytes + UDP_HEADER) // room) if room > 0 else 1


def wire_bytes_of(block_bytes: int, mtu: int, version: int = 4) -> int:
    """Return the bytes of a block on the wire, with the headers of all its packets: IP, Ethernet, preamble and gap."""
    return _with_headers(block_bytes, mtu, version, WIRE_BYTES)


def counted_bytes_of(block_bytes: int, mtu: int, version: int = 4) -> int:
    """Return the bytes of a block as a NIC counts them: with Ethernet's header, without what only the wire has."""
    return _with_headers(block_bytes, mtu, version, ETHERNET_HEADER)


def _with_headers(block_bytes: int, mtu: int, version: int, of_frame: int) -> int:
    frames = fragments_of(block_bytes, mtu, version)
    return block_bytes + BLOCK_HEADER_BYTES + UDP_HEADER + frames * (IP_HEADER[version] + of_frame)


def ping_bytes(payload: int, mtu: int, version: int = 4) -> int:
    """Return the bytes on the wire of a ping: payload, ICMP header, and the IP headers of all fragments."""
    return payload + ICMP_HEADER + fragments_of(payload, mtu, version) * IP_HEADER[version]
