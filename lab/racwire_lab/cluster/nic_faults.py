"""The faults of a NIC that stays up: it does no ARP, answers none, or has an address of another network."""

from __future__ import annotations

from racwire_lab.cluster.fault_kind import ActiveFault, of_nic
from racwire_lab.cluster.topology import PortId, Shape, index_of

_OTHER = 80
"""What is added to the number of the node for its address on the other network."""


NIC_FAULTS = (
    of_nic(
        "arp-off",
        "One private NIC does no ARP.",
        "Sets the flag NOARP (`ip link set ... arp off`): the node neither asks nor answers, and sends every frame of "
        "this NIC to its own MAC address. Its link is up.",
    ),
    of_nic(
        "arp-ignore",
        "The kernel of one node answers no ARP request on one private NIC.",
        "Sets net.ipv4.conf.ethN.arp_ignore to 8: the node asks, and answers for none of its addresses. A peer reaches "
        "it only while an own request of the node is fresh.",
    ),
    of_nic(
        "other-network-address",
        "One private NIC also has an address of the other private network.",
        f"Adds a second address, in the subnet of the other private network, that ends in {_OTHER} and the number of "
        "the node (.82 for rac2).",
    ),
)


def other_address(shape: Shape, port: PortId, broken: frozenset[ActiveFault]) -> str | None:
    """Return the address of the other private network on a NIC, with its prefix length; None without the fault."""
    if ActiveFault("other-network-address", *port) not in broken:
        return None
    private = shape.private_networks
    own = next(place for place, network in enumerate(private) if network.number == port.network)
    network = private[(own + 1) % len(private)]
    return f"{network.address(_OTHER + index_of(port.node))}/{network.prefix_length}"
