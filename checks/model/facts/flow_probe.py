"""Facts about UDP datagrams that racwire sent between private addresses to a closed port."""

from __future__ import annotations

from enum import StrEnum

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
    held: int = 0
    """Datagrams in fragments that were not sent; see FlowProbe.held."""


class PortTurn(Fact, frozen=True):
    """A row of full-size datagrams from one source port, with nothing else sent at the same time."""

    source_port: int
    turn: int
    """Each source port has a row in each turn; 0 is the first turn."""
    sent: int
    counted: int
    """Those that reached the target's closed port: growth of its Udp.NoPorts."""


class SmallDatagrams(Fact, frozen=True):
    """Small datagrams of a path on which each full-size one was answered: messages of the instances are as small."""

    payload: int
    """Bytes of UDP payload."""
    source_ports: tuple[int, ...]
    sent: int
    counted: int
    """Those that reached the target's closed port: growth of its Udp.NoPorts."""
    error: str = ""
    """The error with which the sender's kernel refused them, as errno; then none was sent."""


class Held(StrEnum):
    """Why datagrams in fragments were not sent: each that stays incomplete holds memory of its receiver."""

    MEMORY = "the receiver's memory for reassembly is in use"
    SHARE = "others without an answer hold the share of the memory that racwire uses"
    OTHERS = "another racwire sent before"


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
    held: Held | None = None
    """Why datagrams in fragments were not sent; None where all were."""
    turns: tuple[PortTurn, ...] = ()
    """Further datagrams, counted by source port, where the path had lost a part of those in `ports`."""
    small: SmallDatagrams | Unknown | None = None
    """None where none was sent: full-size ones were lost, or not sent."""

    @property
    def datagrams(self) -> int:
        """The datagrams sent, without those of `turns` and `small`."""
        return sum(p.sent + p.small_sent + p.full_sent for p in self.ports)


class FlowArrivals(Fact, frozen=True):
    """The datagrams that reached a closed port of a node while racwire sent its own: growth of Udp.NoPorts."""

    node: str
    sent: int
    """Datagrams of racwire to this node, on all private networks."""
    counted: int


class OtherSender(Fact, frozen=True):
    """Another process that had the lock of racwire's senders on a node: one sends at a time."""

    node: str
    pid: int
    """Its number; 0 where the node does not tell it."""
    age_s: float | None = None
    """Seconds from its start until its results were used; None where this racwire sent itself."""
    waited_s: float = 0.0
    """Seconds that this racwire waited for it before it sent."""
    is_still: bool = False
    """Whether it still had the lock then, so that both sent."""


class Flows(Fact, frozen=True):
    """All datagrams of a run."""

    probes: tuple[FlowProbe, ...] = ()
    arrivals: tuple[FlowArrivals, ...] = ()
    """For each node whose kernel reported the counter before and after."""
    later_arrivals: tuple[FlowArrivals, ...] = ()
    """Those of the datagrams that examined missing answers alone."""
    others: tuple[OtherSender, ...] = ()
    """Who else sent from the nodes meanwhile."""

    def arrived(self, node: str) -> FlowArrivals | None:
        """Return the count of a node; None where it is not known."""
        return next((a for a in self.arrivals if a.node == node), None)

    def arrived_later(self, node: str) -> FlowArrivals | None:
        """Return the count of a node while missing answers were examined; None where it is not known."""
        return next((a for a in self.later_arrivals if a.node == node), None)


class AddressProbe(Fact, frozen=True):
    """ARP probes for one address of a private NIC, HAIP or not, and the MAC addresses that answered.

    They have the sender address 0.0.0.0 (RFC 5227).
    """

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
    across: tuple[AddressProbe, ...] | None = None
    """Probes from the NIC of one private network for the fixed addresses of another one; None where none was sent."""


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
    neighbour_mac: str | None = None
    """The MAC address that the sender had for the destination after pings without any answer; empty where it had none,
    None where it was not read."""
    full_refused: int = 0
    """The full-size pings that the sender's own kernel did not send."""


class HaipPaths(Fact, frozen=True):
    """The pings between HAIP addresses."""

    paths: tuple[HaipPath, ...] = ()
    reason: str = ""
    """Why there is none: `The instances use no HAIP.`"""
