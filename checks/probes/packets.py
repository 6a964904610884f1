"""Packet arithmetic: how an MTU, an ICMP payload and the bytes on the wire belong together."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from checks.facts import Port, PrivateNetwork

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


@dataclass(frozen=True, slots=True)
class Path:
    """The way from one node's port to another's on a private network."""

    network: PrivateNetwork
    source: Port
    destination: Port
    mtu: int
    """What ought to pass, in bytes of IP packet."""
    subnet_is_shared: bool = False
    """Whether another private network has the same subnet: then an address alone does not choose the interface."""

    @property
    def version(self) -> int:
        """4 or 6."""
        return ipaddress.ip_address(self.destination.ip).version

    @property
    def name(self) -> str:
        """How the journal calls it."""
        return f"path {self.network.name} {self.source.node} {self.destination.node}"

    @property
    def small_payload(self) -> int:
        """Payload of the ping that passes wherever the other node is reached at all."""
        return SMALL_PAYLOAD

    @property
    def full_payload(self) -> int:
        """Payload of the largest packet that ought to pass."""
        return payload_for(self.mtu, self.version)
