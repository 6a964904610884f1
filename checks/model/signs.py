"""Signs: what can be seen at one place, by a reading or by hand, and which causes make it.

A packet that is lost shows where; a sign shows by what. Signs are data; their words are in
`checks.diagnosis.sign_words`.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.model.traffic import Traffic

_ANY_PACKETS = Traffic()


class Sign(StrEnum):
    """What is seen. Counters are seen to move around datagrams of our own, never by a total since the start."""

    PORT_CRC = "port counts damaged frames"
    """The switch port counts frames with a bad checksum: damaged on the way from the node."""
    NIC_CRC = "NIC counts damaged frames"
    """The NIC counts them: damaged on the way from the switch."""
    WITH_CABLE = "goes with the cable"
    """The loss is at another port once the cables were exchanged."""
    WITH_PORT = "ends at another port"
    """The loss ends once the same cable and NIC are in another switch port."""
    WITH_NIC = "stays with the NIC"
    """The loss stays at the node with another cable and in another port."""
    WITH_MEMBER = "ends without one member"
    """The loss ends while one member of an aggregation is down."""
    NIC_MISSED = "NIC has no receive buffer free"
    NEIGHBOURS_FAIL = "neighbour entries fail and return"
    OPTICS = "optics out of range"
    """The received or sent power is outside of the thresholds of the transceiver."""
    PORT_DISCARDS = "port discards from a full queue"
    PORT_POLICED = "port polices"
    """A policer of the port, or of the class of these packets, drops them."""
    PORT_ACL = "port filters"
    """An access list of the port, or of its VLAN, drops these packets."""
    PORT_MTU = "port has a smaller MTU"
    TRUNK_MTU = "trunk has a smaller MTU"
    SWITCH_MTU = "switch has a smaller MTU"
    PORT_DOWN = "port is down"
    PORT_BLOCKED = "port does not forward"
    """Spanning tree blocks it, or it is off for errors."""
    PORT_VLAN = "port has another VLAN"
    TRUNK_DOWN = "trunk carries nothing"
    MEMBER_DOWN = "member of an aggregation carries nothing"
    MEMBER_CRC = "member of an aggregation counts damaged frames"
    MEMBER_MTU = "member of an aggregation has a smaller MTU"
    SECOND_MAC = "address is learned at another port"
    """The MAC table has the MAC address of a second host that answers for a private address, at another port."""
    NODE_RULE = "node filters"
    """A rule of a packet filter on the node matches these packets, and its counter moves."""
    NODE_QDISC = "node polices"
    """A policer or queue of the node (tc) drops these packets."""
    NODE_DROPS = "kernel drops"
    """The kernel of the node says why it dropped these packets (`skb:kfree_skb`)."""
    FABRIC = "switch counts drops inside"
    """The switch counts drops that are of no port (fabric, forwarding engine)."""
    PAUSED = "port is paused"
    """Pause frames or priority flow control stop the port."""
    TUNNEL = "tunnel is below the NIC"
    """The operators of the hypervisor, cloud or container host say which, and what it leaves of the MTU."""
    HOST_FILTER = "host of the virtual machine filters"
    """Its spoof checks, security lists or bridge rules drop these packets, as its operators read them."""


SOLE = frozenset(Sign) - {Sign.PORT_CRC, Sign.NIC_CRC, Sign.NODE_DROPS, Sign.PAUSED, Sign.WITH_PORT}
"""The signs that one kind of cause alone makes: seen at the place of a cause, nothing else explains them. What ends at
another port can also be set at the port; where the port counted damaged frames, it is the port."""


class SignAt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, order=True):
    """A sign at a place."""

    sign: Sign
    network: str
    """The name of the private network."""
    node: str = ""
    """The node whose port or NIC it is; empty: the switch of the network."""
    packets: Traffic = _ANY_PACKETS
    """Of a rule, a policer or a queue: the packets that it drops; else all."""

    @property
    def place(self) -> tuple[str, str]:
        """Network and node."""
        return self.network, self.node

    def shows(self, other: SignAt) -> bool:
        """Return whether this sign, as seen, is the other, as expected: same sign and place, of packets in common."""
        return self.sign is other.sign and self.place == other.place and self.packets.meets(other.packets)
