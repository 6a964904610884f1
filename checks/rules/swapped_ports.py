"""Nodes on which two private networks are on each other's interface."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from checks.model.facts import Cluster, Port, PrivateNetwork


@dataclass(frozen=True)
class SwappedPorts:
    """Two ports of one node, each with the interface that oifcfg names for the other network."""

    node: str
    first: Port
    second: Port
    networks: tuple[PrivateNetwork, PrivateNetwork]


def swapped_ports(cluster: Cluster) -> tuple[SwappedPorts, ...]:
    """Return the nodes with swapped ports. Most nodes must have each network on the interface that oifcfg names."""
    named = [n for n in cluster.read_networks() if n.named_by == "oifcfg" and not n.is_pattern]
    return tuple(
        SwappedPorts(node.name, first, second, (a, b))
        for a, b in combinations(named, 2)
        if a.subnet != b.subnet and _is_usual(a) and _is_usual(b)
        for node in cluster.read_nodes()
        if (first := a.port(node.name)) and (second := b.port(node.name))
        if (first.interface, second.interface) == (b.interface, a.interface)
    )


def _is_usual(network: PrivateNetwork) -> bool:
    return sum(port.interface == network.interface for port in network.ports) * 2 >= len(network.ports)
