"""A path to probe: its two ports, and the expected MTU."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from checks.model.facts import Port, PrivateNetwork
from checks.model.packet_sizes import payload_for


@dataclass(frozen=True, slots=True)
class Path:
    """The way from one node's port to another's on a private network."""

    network: PrivateNetwork
    source: Port
    destination: Port
    mtu: int
    """The expected MTU, in bytes of IP packet."""
    subnet_is_shared: bool = False
    """Whether another private network has the same subnet: then an address does not determine the interface."""

    @property
    def version(self) -> int:
        """4 or 6."""
        return ipaddress.ip_address(self.destination.ip).version

    @property
    def name(self) -> str:
        """The name of the path in the journal."""
        return f"path {self.network.name} {self.source.node} {self.destination.node}"

    @property
    def full_payload(self) -> int:
        """Payload of the largest packet of the expected MTU."""
        return payload_for(self.mtu, self.version)
