"""Facts of the private networks and of the paths over them."""

from __future__ import annotations

from enum import StrEnum

from checks.model.facts.base import Fact, Unknown


class Port(Fact, frozen=True):
    """A node's place on a private network."""

    node: str
    interface: str
    ip: str


class PrivateNetwork(Fact, frozen=True):
    """A private network: what was configured, and the ports that the nodes really have on it."""

    name: str
    """How it is called on screens and in findings: `192.168.11.0/24`, or `eth2 192.168.11.0/24`
    where two share a subnet."""
    interface: str
    """The configured interface name or pattern."""
    subnet: str
    """In CIDR form; only the address where no node has an interface on it (oifcfg prints no netmask)."""
    named_by: str
    """`oifcfg` or `settings`."""
    ports: tuple[Port, ...] = ()
    mtu: int | Unknown = Unknown("no node has a port on it")
    """What the network is meant to carry: the MTU of most of its ports; where they are even, the one that the other
    private networks have, then the larger one."""

    @property
    def is_pattern(self) -> bool:
        """Whether a wildcard stands for the interface, so that its name may differ from node to node."""
        return "*" in self.interface or "?" in self.interface

    def port(self, node: str) -> Port | None:
        """The node's port on this network."""
        return next((p for p in self.ports if p.node == node), None)


class Verdict(StrEnum):
    """How a path between two nodes treats full-size packets."""

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
        """The sign in a path matrix."""
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
    """Which way of a ping lost the packets: seen by counting the echo requests that reached the other node."""

    REQUEST = "request"
    """On the way there."""
    REPLY = "reply"
    """On the way back: the requests arrived."""
    BOTH = "both"
    UNKNOWN = "unknown"


class PingSeries(Fact, frozen=True):
    """Several DF pings of one size."""

    payload: int
    """ICMP payload in bytes: the packet is 28 bytes larger (48 for IPv6)."""
    sent: int
    received: int
    refused_locally: int = 0
    """Packets that this node's own kernel would not send: larger than the interface or route allows."""
    local_mtu: int | None = None
    """The MTU that the kernel named when it refused."""
    too_big_mtu: int | None = None
    """The next-hop MTU in a "fragmentation needed" answer."""
    too_big_from: str = ""
    """The router that sent it."""
    unreachable_from: str = ""
    """The host or router that answered "destination unreachable"; the node itself when ARP got no answer."""
    rtt_ms_min: float | None = None
    rtt_ms_median: float | None = None
    rtt_ms_max: float | None = None
    ttl: int | None = None
    """TTL of the answers: 64 (or 128, 255) on one wire, one less for each router."""
    errors: tuple[str, ...] = ()
    """Other errors, as the system worded them."""


class PathProbe(Fact, frozen=True):
    """What was found on the way from one node to another on a private network."""

    network: str
    from_node: str
    to_node: str
    source_ip: str
    destination_ip: str
    expected_mtu: int
    """The network's MTU: what ought to pass."""
    verdict: Verdict
    series: tuple[PingSeries, ...] = ()
    path_mtu: int | Unknown | None = None
    """The largest packet that passes, to the byte; None where it was not searched for."""
    lost_leg: Leg = Leg.UNKNOWN
    hops: int | None = None
    """Routers on the way back, from the TTL; 0 on one wire."""
    reason: str = ""
    """Why the verdict is unknown, filtered or unreachable: one sentence."""
    sent_by: str = ""
    """`icmp socket` or `ping`."""
    packets_sent: int = 0
    bytes_sent: int = 0
    elapsed_ms: float = 0.0
