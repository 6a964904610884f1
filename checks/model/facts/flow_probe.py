"""Facts about UDP datagrams that racwire sent between private addresses to a closed port."""

from __future__ import annotations

from checks.model.facts.base import Fact, Unknown


class FlowPort(Fact, frozen=True):
    """The datagrams of one source port. The target's kernel answers each with "port unreachable"."""

    source_port: int
    payload: int
    """Bytes of UDP payload: the packet is 28 bytes larger (48 for IPv6)."""
    whole: bool = True
    """Whether Don't Fragment was set; False where the sender's kernel cut the datagram into fragments, as a block."""
    sent: int = 1
    answered: int = 0
    late: bool = False
    """Whether the first one got no answer, and a later one of the same size did."""
    small_sent: int = 0
    """Small datagrams from the same source port, sent only where a large one got no answer."""
    small_answered: int = 0
    full_sent: int = 0
    """Datagrams that fill one packet, sent only where one in fragments got no answer."""
    full_answered: int = 0
    prohibited_by: str = ""
    """The host that answered that a filter refuses the datagram (ICMP "administratively prohibited")."""
    error: str = ""
    """Another error, as errno: `EMSGSIZE`, `EHOSTUNREACH`."""


class FlowProbe(Fact, frozen=True):
    """UDP datagrams from one node to another on a private network."""

    network: str
    from_node: str
    to_node: str
    source_ip: str
    destination_ip: str
    expected_mtu: int
    destination_port: int = 0
    ports: tuple[FlowPort, ...] = ()
    reason: str = ""
    """Why nothing was sent, or nothing more; empty where all went as planned."""

    @property
    def datagrams(self) -> int:
        """The datagrams sent."""
        return sum(p.sent + p.small_sent + p.full_sent for p in self.ports)


class FlowArrivals(Fact, frozen=True):
    """The datagrams that reached a closed port of a node while racwire sent its own: growth of Udp.NoPorts."""

    node: str
    sent: int
    """Datagrams of racwire to this node, on all private networks."""
    counted: int


class Flows(Fact, frozen=True):
    """All datagrams of a run."""

    probes: tuple[FlowProbe, ...] = ()
    arrivals: tuple[FlowArrivals, ...] = ()
    """For each node whose kernel reported the counter before and after."""

    def arrived(self, node: str) -> FlowArrivals | None:
        """Return the count of a node; None where it is not known."""
        return next((a for a in self.arrivals if a.node == node), None)


class AddressProbe(Fact, frozen=True):
    """ARP probes for one private address (RFC 5227: sender address 0.0.0.0), and the MAC addresses that answered."""

    network: str
    node: str
    """The node that has the address."""
    ip: str
    interface: str
    """The interface of this node from which the probes were sent."""
    sent: int = 0
    macs: tuple[str, ...] = ()


class AddressProbes(Fact, frozen=True):
    """The search for second owners of private addresses, from one node."""

    node: str
    probes: tuple[AddressProbe, ...] | Unknown = ()


class HaipPath(Fact, frozen=True):
    """DF pings between two HAIP addresses, which the instances use and the owner's private NIC has."""

    network: str
    from_node: str
    to_node: str
    source_ip: str
    destination_ip: str
    mtu: int
    small_sent: int = 0
    small_answered: int = 0
    full_sent: int = 0
    full_answered: int = 0
    reason: str = ""
    """Why nothing was sent, or what failed."""


class HaipPaths(Fact, frozen=True):
    """The pings between HAIP addresses."""

    paths: tuple[HaipPath, ...] = ()
    reason: str = ""
    """Why there is none: `The instances use no HAIP.`"""
