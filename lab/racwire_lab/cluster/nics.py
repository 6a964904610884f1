"""Compute the desired state of each NIC of the practice nodes from the cluster's shape and its faults."""

from __future__ import annotations

from dataclasses import dataclass

from racwire_lab.cluster import layer2, nic_faults
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.topology import STANDARD_MTU, PortId, Shape, index_of


@dataclass(frozen=True)
class Nic:
    """A node's NIC. Its addresses have a prefix length."""

    name: str
    mtu: int
    address: str
    haip: str | None
    """The address that Clusterware adds to the NIC while it runs."""
    link_local: str | None = None
    """An address in the range of HAIP that another program added."""
    other: str | None = None
    """An address of another private network that someone added."""
    has_arp: bool = True
    mac: str = ""
    set_neighbour: tuple[str, str] | None = None
    """An address with the MAC address that was entered for it by hand (`ip neigh ... nud permanent`)."""


def nic(shape: Shape, port: PortId, broken: frozenset[ActiveFault]) -> Nic:
    """Return the desired NIC at a port."""
    network, index = shape.networks[port.network], index_of(port.node)
    mtu = shape.mtu if network.is_fast else STANDARD_MTU
    address = network.address(index)
    if network.private:
        address = layer2.address(shape, port, broken)
    if port.network == 2 and ActiveFault("duplicate-subnet", None, None) in broken:
        address = shape.private_networks[0].address(100 + index)
    return Nic(
        name=f"ens{port.network}f1" if ActiveFault("names-differ", *port) in broken else network.nic,
        mtu=STANDARD_MTU if ActiveFault("node-mtu", *port) in broken else mtu,
        address=f"{address}/{network.prefix_length}",
        haip=network.haip(index),
        link_local=_link_local(shape, port, broken),
        other=nic_faults.other_address(shape, port, broken),
        has_arp=ActiveFault("arp-off", *port) not in broken,
        mac=layer2.mac(port, broken),
        set_neighbour=layer2.set_neighbour(shape, port, broken),
    )


def _link_local(shape: Shape, port: PortId, broken: frozenset[ActiveFault]) -> str | None:
    """The address of zeroconf on the public NIC: its subnet contains the first HAIP of the next node."""
    if port.network or ActiveFault("zeroconf", port.node, None) not in broken:
        return None
    haip = shape.private_networks[0].haip(index_of(port.node) % shape.size + 1) or "169.254.10.1"
    return f"{haip.rpartition('.')[0]}.254/24"


def is_up(node: str, broken: frozenset[ActiveFault]) -> bool:
    """Whether the node is powered on."""
    return ActiveFault("peer-down", node, None) not in broken
