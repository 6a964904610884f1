"""Storage and copies on the interfaces of a change, such as NFS, dNFS and iSCSI, from mounts and connections."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable

from checks.change.plan.change_plan import Layer, PlannedUse
from checks.model.facts import Address, Cluster, Interface, Node, PrivateUse, Unknown


def uses_of(cluster: Cluster, layers: Iterable[Layer]) -> tuple[PlannedUse, ...]:
    """Return the uses of the layers and of the interfaces on them, as far as the nodes could be read."""
    changed = tuple(layers)
    found = (uses_on(cluster, node.name, changed) for node in cluster.read_nodes())
    return tuple(use for uses in found if not isinstance(uses, Unknown) for use in uses)


def uses_on(cluster: Cluster, node: str, layers: Iterable[Layer]) -> tuple[PlannedUse, ...] | Unknown:
    """Return the uses of the layers of one node, or the reason why its mounts and connections are not known."""
    read, setup = cluster.node(node), cluster.setup(node)
    if read is None or setup is None:
        return Unknown(f"{'the setup of ' if read else ''}{node} was not read")
    others = setup.host if isinstance(setup.host, Unknown) else setup.host.others
    if isinstance(others, Unknown):
        return others
    changed = {layer.interface for layer in layers if layer.node == node}
    places = ((use, _interface_of(use, _above(read, changed))) for use in others)
    return tuple(dict.fromkeys(PlannedUse(node, at, use.service, use.remote_ip, use.mount) for use, at in places if at))


def _interface_of(use: PrivateUse, interfaces: Iterable[Interface]) -> str:
    """Return the first of the interfaces with the address of a use; empty if there is none."""
    found = (interface.name for interface in interfaces if any(_is_at(use, a) for a in interface.addresses))
    return next(found, "")


def _above(node: Node, changed: Collection[str]) -> list[Interface]:
    """Return the changed interfaces and those stacked on them: a VLAN of another network shares the NIC."""
    return [i for i in node.interfaces if i.name in changed or (i.parent and i.parent in changed)]


def _is_at(use: PrivateUse, address: Address) -> bool:
    if use.local_ip == address.ip:
        return True
    try:
        return not use.local_ip and ipaddress.ip_address(use.remote_ip) in address.network
    except ValueError:
        return False
