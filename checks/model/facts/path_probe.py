"""Facts about the private networks and the paths over them."""

from __future__ import annotations

from enum import StrEnum

from checks.model.facts.base import Fact, Unknown
from checks.model.packet_sizes import ip_version, payload_for


class Port(Fact, frozen=True):
    """The interface and address of a node on a private network."""

    node: str
    interface: str
    ip: str


class PrivateNetwork(Fact, frozen=True):
    """A private network: its configuration, and the ports of the nodes."""

    name: str
    """The name on screens and in findings: `192.168.11.0/24`, or `eth2 192.168.11.0/24` where two networks share a
    subnet."""
    interface: str
    """The configured interface name or pattern."""
    subnet: str
    """The subnet in CIDR notation; only the address where no node has an interface on it (oifcfg prints no netmask)."""
    named_by: str
    """`oifcfg` or `settings`."""
    ports: tuple[Port, ...] = ()
    mtu: int | Unknown = Unknown("no node has a port on this network")
    """The expected MTU: the MTU of most ports; in a tie the MTU of most ports on other private networks, then the
    larger one."""

    @property
    def is_pattern(self) -> bool:
        """Whether the configured interface is a wildcard, so that its name may differ between nodes."""
        return "*" in self.interface or "?" in self.interface

    def port(self, node: str) -> Port | None:
        """Return the node's port on this network, or None."""
        return next((p for p in self.ports if p.node == node), None)


class Verdict(StrEnum):
    """The verdict on a path: what happens to full-size packets."""

    PASSES = "passes"
    LOCAL_MTU = "local MTU too small"
    TOO_BIG = "fragmentation needed"
    BLACK_HOLE = "black hole"
    LOSS = "loss"
    UNREACHABLE = "unreachable"
    FILTERED = "filtered"
    UNKNOWN = "unknown"

    @property
    def letter(self) -> str:
        """The letter in a path matrix."""
        return _VERDICT_LETTERS[self]


_VERDICT_LETTERS = {
    Verdict.PASSES: "P",
    Verdict.LOCAL_MTU: "M",
    Verdict.TOO_BIG: "T",
    Verdict.BLACK_HOLE: "B",
    Verdict.LOSS: "L",
    Verdict.UNREACHABLE: "U",
    Verdict.FILTERED: "F",
    Verdict.UNKNOWN: "?",
}


class Leg(StrEnum):
    """The direction in which a ping was lost, from the count of echo requests that reached the other node."""

    REQUEST = "request"
    """The requests were lost."""
    REPLY = "reply"
    """The replies were lost: the requests arrived."""
    BOTH = "both"
    UNKNOWN = "unknown"


class PingSeries(Fact, frozen=True):
    """Several DF pings of one size."""

    payload: int
    """ICMP payload in bytes: the packet is 28 bytes larger (48 for IPv6)."""
    sent: int
    received: int
    refused_locally: int = 0
    """Packets that the sender's own kernel refused: larger than the interface or route allows."""
    local_mtu: int | None = None
    """The MTU in the kernel's refusal."""
    too_big_mtu: int | None = None
    """The next-hop MTU in a "fragmentation needed" answer."""
    too_big_from: str = ""
    """The router that sent this answer."""
    unreachable_from: str = ""
    """The host or router that answered "destination unreachable"; the node itself when ARP got no answer."""
    rtt_ms_min: float | None = None
    rtt_ms_median: float | None = None
    rtt_ms_max: float | None = None
    ttl: int | None = None
    """TTL of the answers: 64 (or 128, 255) on one layer 2 network, one less for each router."""
    errors: tuple[str, ...] = ()
    """Other errors, in the words of the system."""


class PathProbe(Fact, frozen=True):
    """The result of probing the path from one node to another on a private network."""

    network: str
    from_node: str
    to_node: str
    source_ip: str
    destination_ip: str
    expected_mtu: int
    """The network's MTU, which the path must carry."""
    verdict: Verdict
    series: tuple[PingSeries, ...] = ()
    path_mtu: int | Unknown | None = None
    """The largest packet that passes, to the byte; None where it was not searched for."""
    lost_leg: Leg = Leg.UNKNOWN
    hops: int | None = None
    """The number of routers that the answers passed, from the TTL; 0 on one layer 2 network."""
    reason: str = ""
    """The reason for the verdict unknown, filtered or unreachable, in one sentence."""
    neighbour_mac: str = ""
    """The MAC address that the sender had for the destination after the pings; read where pings got no answer, and for
    other paths of the same nodes."""
    neighbour_is_new: bool | None = None
    """Whether a packet confirmed this MAC address after the start of the pings, and so after the nodes were read; None
    where it is not known."""
    sent_by: str = ""
    """`icmp socket` or `ping`."""
    packets_sent: int = 0
    bytes_sent: int = 0
    elapsed_ms: float = 0.0
    beside_pid: int = 0
    """A process that may have pinged from racwire's node at the same time: it kept the lock of racwire's pings; 0 where
    none did."""

    @property
    def version(self) -> int:
        """The IP version: 4 or 6."""
        return ip_version(self.destination_ip)

    @property
    def full_payload(self) -> int:
        """Bytes of ping payload that fill a packet of the network's MTU."""
        return payload_for(self.expected_mtu, self.version)
