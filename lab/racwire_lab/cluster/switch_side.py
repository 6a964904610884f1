"""What someone connects to the practice switch: a cable between the private networks, and hosts with a node's HAIP."""

from __future__ import annotations

from collections.abc import Iterator

from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.topology import SWITCH_MTU, Shape, index_of

_UP, _DOWN = "joined-up", "joined-dn"

SWITCH_SIDE_FAULTS = (
    Fault(
        "joined-networks",
        "The two private networks are one broadcast domain.",
        "Connects the switches of the two private networks by a cable: each node answers an ARP request for one of its "
        "addresses with both of its NICs.",
        "cluster",
        default_node=None,
        default_network=None,
    ),
    Fault(
        "haip-stranger",
        "A host that is no node has the HAIP of one node.",
        "Gives the switch of the network the HAIP of the node: both answer ARP requests for it. The host has no "
        "private address.",
        "nic",
    ),
)


def switch_steps(shape: Shape, broken: frozenset[ActiveFault]) -> Iterator[tuple[str, str]]:
    """Yield the `ip` commands that make these faults in the switch, each with the one that ends it."""
    bridges = list(dict.fromkeys(network.bridge for network in shape.private_networks))
    if ActiveFault("joined-networks", None, None) in broken and len(bridges) > 1:
        yield f"link add {_UP} mtu {SWITCH_MTU} type veth peer name {_DOWN} mtu {SWITCH_MTU}", f"link delete {_UP}"
        for end, bridge in zip((_UP, _DOWN), bridges, strict=False):
            yield f"link set {end} master {bridge} up", ""
    for network in shape.private_networks:
        owners = [n for n in shape.nodes if ActiveFault("haip-stranger", n, network.number) in broken]
        if owners and network.haip_subnet:
            # With the length of the subnet, the end of one address would end the others there.
            for haip in (network.haip(index_of(owner)) or "" for owner in owners):
                address = f"{haip.partition('/')[0]}/32 dev {network.bridge}"
                yield f"address add {address}", f"address del {address}"
            # Ends first: the kernel drops it with the last address.
            route = f"{network.haip_subnet}/17 dev {network.bridge}"
            yield f"route add {route}", f"route del {route}"
