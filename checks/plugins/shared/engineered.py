"""Engineered systems (Exadata and its kin): how they are known, and what the kernel does not count there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.model.facts import Cluster, Unknown
from checks.plugins.shared.grouping import briefly, named

_NIC = re.compile(r"(bondib|[a-z]{0,2}ib|[a-z]{0,2}re)\d.*")
"""How their private interfaces are called: bondib0, ib1, re0, stre0, clre1."""


def is_engineered(interface: str) -> bool:
    """Whether an interface is named as those of engineered systems."""
    return _NIC.fullmatch(interface) is not None


def beside_udp(cluster: Cluster, nodes: Iterable[str]) -> tuple[str, ...]:
    """What counters of IP and UDP do not see on these nodes: blocks that go over RDS (MOS 563566.1, cause 10)."""
    networks, looked_at = () if isinstance(cluster.networks, Unknown) else cluster.networks, set(nodes)
    ports = [p for n in networks for p in n.ports if p.node in looked_at and is_engineered(p.interface)]
    if not ports:
        return ()
    return (
        f"{named((p.node for p in ports), 'node')}: NICs as on engineered systems "
        f"({briefly((p.interface for p in ports), 'NIC')}); what the instances send over RDS is not in these counters",
    )
