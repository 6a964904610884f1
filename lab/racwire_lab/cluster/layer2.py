"""The faults of layer 2: addresses and MAC addresses of two owners, crossed cables, and a switch in two halves."""

from __future__ import annotations

from dataclasses import dataclass

from racwire_lab.cluster.fault_kind import ActiveFault, Fault, of_nic, of_node
from racwire_lab.cluster.networks import Network
from racwire_lab.cluster.switch_side import SWITCH_SIDE_FAULTS
from racwire_lab.cluster.topology import STANDARD_MTU, PortId, Shape, index_of, number_before

_NO_NIC = "02:de:ad:00:00:01"
"""A MAC address that no NIC of the practice cluster has."""
_SECOND = "-2"
"""What the name of the second half of a switch ends with."""


@dataclass(frozen=True)
class Trunk:
    """The second half of a private network's switch, and the link to the first half."""

    bridge: str
    second: str
    mtu: int | None
    """The MTU of the link in bytes; None where the link is dead."""

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the two ends of the link: in the first half, and in the second."""
        return f"{self.second}-up", f"{self.second}-dn"


def address(shape: Shape, port: PortId, broken: frozenset[ActiveFault]) -> str:
    """Return the address of a NIC on a private network, without the prefix length."""
    network, index = shape.networks[port.network], index_of(port.node)
    if ActiveFault("duplicate-address", *port) in broken:
        return network.address(number_before(port.node))
    if ActiveFault("swapped-addresses", port.node, None) in broken:
        return _beside(shape, network).address(index)
    return network.address(index)


def mac(port: PortId, broken: frozenset[ActiveFault]) -> str:
    """Return the MAC address of a NIC: locally administered, of its network and its node."""
    if ActiveFault("spoof-check", *port) in broken:
        return f"02:72:61:64:{port.network:02x}:{index_of(port.node):02x}"
    index = number_before(port.node) if ActiveFault("duplicate-mac", *port) in broken else index_of(port.node)
    return f"02:72:61:63:{port.network:02x}:{index:02x}"


def set_neighbour(shape: Shape, port: PortId, broken: frozenset[ActiveFault]) -> tuple[str, str] | None:
    """Return the address and the MAC address of an entry that was made by hand; None where there is none."""
    if ActiveFault("wrong-neighbour", *port) in broken:
        return shape.networks[port.network].address(number_before(port.node)), _NO_NIC
    return None


def bridge(shape: Shape, port: PortId, broken: frozenset[ActiveFault]) -> str:
    """Return the switch, or the half of a switch, that the cable of a NIC is plugged into."""
    network = shape.networks[port.network]
    if network.private and ActiveFault("crossed-cables", port.node, None) in broken:
        network = _beside(shape, network)
    is_second_half = index_of(port.node) > shape.size // 2
    return f"{network.bridge}{_SECOND}" if is_second_half and _split(network, broken) else network.bridge


def trunks(shape: Shape, broken: frozenset[ActiveFault]) -> tuple[Trunk, ...]:
    """Return the switches that are in two halves."""
    split = [network for network in shape.private_networks if _split(network, broken)]
    dead = {n.bridge for n in split if ActiveFault("split-switch", None, n.number) in broken}
    return tuple(
        Trunk(bridge, f"{bridge}{_SECOND}", None if bridge in dead else STANDARD_MTU)
        for bridge in dict.fromkeys(network.bridge for network in split)
    )


def _split(network: Network, broken: frozenset[ActiveFault]) -> bool:
    faults = {ActiveFault(name, None, network.number) for name in ("split-switch", "split-switch-mtu")}
    return network.private and not broken.isdisjoint(faults)


def _beside(shape: Shape, network: Network) -> Network:
    """The other private network."""
    private = shape.private_networks
    return private[(private.index(network) + 1) % len(private)]


def _network(name: str, summary: str, effect: str) -> Fault:
    return Fault(name, summary, effect, "network", default_node=None)


LAYER2_FAULTS = (
    *SWITCH_SIDE_FAULTS,
    of_nic(
        "duplicate-address",
        "One private NIC of one node has the address of the node before it.",
        "Gives the NIC the address of the same network that belongs to the node before it (rac1 for rac2): both nodes "
        "answer ARP requests for the address.",
    ),
    of_nic(
        "duplicate-mac",
        "One private NIC of one node has the MAC address of the node before it.",
        "Gives the NIC the MAC address of the same network that belongs to the node before it (rac1 for rac2), as a "
        "cloned virtual machine does: the switch sends the packets for both to the port that sent last.",
    ),
    of_node(
        "crossed-cables",
        "The cables of the two private NICs of one node are exchanged.",
        "Plugs the cable of eth1 into the switch of the second private network, and that of eth2 into the switch of "
        "the first.",
    ),
    of_nic(
        "wrong-neighbour",
        "One node has a permanent neighbour entry with a wrong MAC address.",
        "Adds an entry that never expires for the node before it (192.168.11.1 on rac2), with a MAC address that no "
        "NIC has: the node sends the packets for this address to no host.",
    ),
    of_node(
        "swapped-addresses",
        "The addresses of the two private NICs of one node are exchanged.",
        "Gives eth1 the address of the second private network and eth2 that of the first; cables and HAIPs stay.",
    ),
    _network(
        "split-switch",
        "The link between two switches of one private network is dead.",
        "Plugs the second half of the nodes into a second switch whose link to the first is down: the nodes of each "
        "half reach each other, and none of the other half.",
    ),
    _network(
        "split-switch-mtu",
        "The link between two switches of one private network has MTU 1500.",
        "Plugs the second half of the nodes into a second switch whose link to the first drops packets above 1500 "
        "bytes: large packets pass within each half, and small packets pass everywhere.",
    ),
)
"""The faults of layer 2, for the catalogue."""
