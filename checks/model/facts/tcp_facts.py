"""Facts about the TCP connections of a node at its private addresses: how many bytes each address and port moved."""

from __future__ import annotations

from checks.model.facts.base import Fact


class TcpFlow(Fact, frozen=True):
    """The connections of a node between one of its private addresses and one port of one other address.

    The counts are those of the interval, of TCP's data and of its packets, in each direction.
    """

    local_ip: str
    remote_ip: str
    port: int
    """The port of the service: of the two ends a known one (`host_sections.SERVICES`), else the smaller number."""
    is_own_port: bool
    """Whether the node has that port; else the other end has it."""
    service: str = ""
    """`NFS`, `iSCSI`, `rsync`, ...; empty for a port without a known service."""
    connections: int = 1
    received_bytes: int = 0
    sent_bytes: int = 0
    received_packets: int = 0
    """0 where the node's `ss` does not show packets."""
    sent_packets: int = 0


class PrivateTcp(Fact, frozen=True):
    """What TCP moved at the private addresses of a node between two readings."""

    seconds: float
    flows: tuple[TcpFlow, ...]
    """Those that moved bytes, the largest first. A connection that ended between the readings is in none."""
    is_cut: bool = False
    """Whether the node has more connections than are read; the further ones are in no flow."""
