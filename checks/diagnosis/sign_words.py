"""The words of signs: what a person sees at a place. They decide nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checks.diagnosis.cause import Cause
from checks.model.signs import Sign

SIGN_WORDS: Mapping[Sign, str] = {
    Sign.PORT_CRC: "damaged frames that the switch port counts",
    Sign.NIC_CRC: "damaged frames that the NIC counts",
    Sign.WITH_CABLE: "a loss that goes with the cable",
    Sign.WITH_PORT: "a loss that ends at another port",
    Sign.WITH_NIC: "a loss that stays with the NIC",
    Sign.WITH_MEMBER: "a loss that ends while one member is down",
    Sign.NIC_MISSED: "the counters rx_missed and rx_fifo of the NIC",
    Sign.NEIGHBOURS_FAIL: "neighbour entries that fail and return",
    Sign.OPTICS: "optical power outside of its limits",
    Sign.PORT_DISCARDS: "drops in the queues of the switch port",
    Sign.PORT_POLICED: "drops of a policer on the switch",
    Sign.PORT_ACL: "drops of an access list on the switch",
    Sign.PORT_MTU: "the MTU of the switch port",
    Sign.TRUNK_MTU: "the MTU of the link between the switches",
    Sign.SWITCH_MTU: "the MTU of the switch",
    Sign.PORT_DOWN: "a switch port that is down",
    Sign.PORT_BLOCKED: "a switch port that does not forward",
    Sign.PORT_VLAN: "a switch port in another VLAN",
    Sign.TRUNK_DOWN: "the link between the switches",
    Sign.MEMBER_DOWN: "a member of the aggregation without packets",
    Sign.MEMBER_CRC: "damaged frames that a member of the aggregation counts",
    Sign.MEMBER_MTU: "the MTU of each member of the aggregation",
    Sign.SECOND_MAC: "a second MAC address for the private address, at another port",
    Sign.NODE_RULE: "the counters of the packet filter of the node",
    Sign.NODE_QDISC: "the drops of a policer or queue of the node (tc)",
    Sign.NODE_DROPS: "the reason that the kernel gives for its drops",
    Sign.FABRIC: "drops inside the switch",
    Sign.PAUSED: "pause frames at the port",
    Sign.TUNNEL: "a tunnel (VXLAN, Geneve, NVGRE, IPsec) and the MTU of the network below it",
    Sign.HOST_FILTER: "spoof checks, security lists or bridge rules of the virtual machine's host",
}
"""Each as a noun, for a list: `drops inside the switch`."""


def signs_by_kind(cause: Cause) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each form of a cause that shows anything, with what it shows."""
    for kind in cause.kinds:
        if words := tuple(SIGN_WORDS[sign] for sign in kind.signs or kind.may_show):
            yield kind.name, words
