"""Storage and copies on the interfaces of a change, such as NFS, dNFS and iSCSI, from mounts and connections."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Iterator

from checks.change.plan.change_plan import Layer, PlannedUse
from checks.model.facts import Address, Cluster, HostSetup, Interface, Node, PrivateUse, Unknown


def uses_of(cluster: Cluster, layers: Iterable[Layer]) -> tuple[PlannedUse, ...]:
    """Return the uses of the layers and of the interfaces on them, as far as the nodes could be read."""
    changed: dict[str, set[str]] = {}
    for layer in layers:
        changed.setdefault(layer.node, set()).add(layer.interface)
    found = (use for node in cluster.read_nodes() for use in _of_node(cluster, node, changed.get(node.name, set())))
    return tuple(dict.fromkeys(found))


def not_read(cluster: Cluster, nodes: Iterable[str]) -> dict[str, str]:
    """Return the nodes whose mounts or connections are not known, with the reasons."""
    reasons = ((node, _others(cluster, node)) for node in nodes)
    return {node: found.reason for node, found in reasons if isinstance(found, Unknown)}


def _of_node(cluster: Cluster, node: Node, changed: Collection[str]) -> Iterator[PlannedUse]:
    found = _others(cluster, node.name)
    for use in () if isinstance(found, Unknown) else found:
        for interface in _above(node, changed):
            if any(_is_at(use, address) for address in interface.addresses):
                yield PlannedUse(node.name, interface.name, use.service, use.remote_ip, use.mount)
                break


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


def _others(cluster: Cluster, node: str) -> tuple[PrivateUse, ...] | Unknown:
    setup = cluster.setup(node)
    host = setup.host if setup else Unknown(f"the setup of {node} was not read")
    return host.others if isinstance(host, HostSetup) else host
