"""Whether a cluster is an engineered system (Exadata and similar), from the names of its interfaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from checks.model.facts import Cluster

PLATFORM = "Oracle Engineered System"
"""The platform of a node with the software of Oracle's own images."""
_ONLY_THERE = re.compile(r"(bondib|(st|cl)(ib|re)|re)\d.*")
"""Private interfaces: bondib0, stib0, clib0, re0, stre0, clre1. Other systems do not use these names."""
_PUBLIC_THERE = re.compile(r"bondeth\d.*")
_INFINIBAND = re.compile(r"ib\d.*")
"""Private interfaces of engineered systems from 2013 on, and of any InfiniBand card elsewhere."""


def engineered_names(names: Iterable[str]) -> list[str]:
    """Return the interface names that only engineered systems use for private networks, sorted."""
    return sorted({name for name in names if _ONLY_THERE.fullmatch(name)})


def is_engineered(cluster: Cluster, interface: str) -> bool:
    """Return whether an interface is a private interface of an engineered system.

    A plain `ib0` is one only where another interface of the nodes has a name of engineered systems.
    """
    if _ONLY_THERE.fullmatch(interface):
        return True
    return _INFINIBAND.fullmatch(interface) is not None and any(
        _ONLY_THERE.fullmatch(i.name) or _PUBLIC_THERE.fullmatch(i.name)
        for node in cluster.read_nodes()
        for i in node.interfaces
    )


def is_infiniband(interface: str) -> bool:
    """Return whether the name is that of an InfiniBand card, which engineered systems use too."""
    return _INFINIBAND.fullmatch(interface) is not None


def engineered_ports(cluster: Cluster, nodes: Iterable[str] | None = None) -> Sequence[tuple[str, str]]:
    """Return node and interface of each private port of an engineered system; all nodes where none are named."""
    chosen = None if nodes is None else set(nodes)
    return [
        (port.node, port.interface)
        for network in cluster.read_networks()
        for port in network.ports
        if (chosen is None or port.node in chosen) and is_engineered(cluster, port.interface)
    ]
