"""Engineered systems (Exadata and similar): the names of their NICs, and the traffic that the kernel does not count."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.model.facts import Cluster, Unknown
from checks.plugins.shared.grouping import briefly, named

_NIC = re.compile(r"(bondib|[a-z]{0,2}ib|[a-z]{0,2}re)\d.*")
"""The names of their private interfaces: bondib0, ib1, re0, stre0, clre1."""


def is_engineered(interface: str) -> bool:
    """Return whether an interface has a name of engineered systems."""
    return _NIC.fullmatch(interface) is not None


def beside_udp(cluster: Cluster, nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the note that counters of IP and UDP miss blocks sent over RDS (MOS 563566.1, cause 10)."""
    networks, of_interest = () if isinstance(cluster.networks, Unknown) else cluster.networks, set(nodes)
    ports = [p for n in networks for p in n.ports if p.node in of_interest and is_engineered(p.interface)]
    if not ports:
        return ()
    return (
        f"{named((p.node for p in ports), 'node')}: NICs as on engineered systems "
        f"({briefly((p.interface for p in ports), 'NIC')}); these counters do not include traffic over RDS",
    )
