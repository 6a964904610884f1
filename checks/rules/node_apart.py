"""The one node whose private MTU differs from the equal MTU of all other nodes: pure functions of facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.model.facts import Cluster, Interface, Port
from checks.model.networks import layers_below


@dataclass(frozen=True)
class NodeApart:
    """A node whose interfaces differ, and what the others have."""

    node: str
    others: tuple[str, ...]
    mtu: int
    """The MTU of every private interface of the others, in bytes."""


def nodes_apart(cluster: Cluster) -> tuple[NodeApart, ...]:
    """Return each node that differs while all others that were read have one MTU on all private networks.

    There are two where the two nodes of a cluster differ; none where one has no interface on a private network.
    """
    names = tuple(node.name for node in cluster.read_nodes())
    found = (apart(cluster, name) for name in names)
    return tuple(one for one in found if one and _differs(cluster, one))


def apart(cluster: Cluster, node: str) -> NodeApart | None:
    """Return a node with the MTU of the others, whether it differs or not; None if theirs is not one MTU."""
    others = tuple(one.name for one in cluster.read_nodes() if one.name != node)
    mtus = {interface.mtu if interface else None for port, interface in _ports(cluster) if port.node != node}
    networks = cluster.read_networks()
    if (
        not others
        or len(mtus) != 1
        or any(network.port(one) is None for network in networks for one in (node, *others))
    ):
        return None
    (mtu,) = mtus
    return None if mtu is None else NodeApart(node, others, mtu)


def _differs(cluster: Cluster, one: NodeApart) -> bool:
    """Whether a private interface of the node has another MTU, or an interface below it a smaller one."""
    read = cluster.node(one.node)
    return read is not None and any(
        top is not None and (top.mtu != one.mtu or any(lower.mtu < one.mtu for _, lower in layers_below(read, top)))
        for port, top in _ports(cluster)
        if port.node == one.node
    )


def _ports(cluster: Cluster) -> Iterator[tuple[Port, Interface | None]]:
    return ((port, cluster.interface(port)) for network in cluster.read_networks() for port in network.ports)
