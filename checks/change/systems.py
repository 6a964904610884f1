"""Engineered systems: Exadata and its kin, whose interconnect is changed by the vendor's own procedure only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.change import codes
from checks.change.layers import ports_of
from checks.change.obstacles import Obstacle
from checks.model.facts import Cluster
from checks.model.wording import listed

PLATFORM = "Oracle Engineered System"
_NIC = re.compile(r"(bondib|(st|cl)(ib|re)|re)\d.*")
"""Names that only engineered systems give their private interfaces; a plain `ib0` is any InfiniBand card."""


def engineered(cluster: Cluster) -> Iterator[Obstacle]:
    """The obstacle that no reason outweighs: RDS and the storage cells depend on the interconnect's MTU there."""
    nodes = [s.name for s in cluster.read_setups() if s.platform == PLATFORM]
    nics = sorted({p.interface for p in ports_of(cluster) if _NIC.fullmatch(p.interface)})
    if not nodes and not nics:
        return
    seen = f"{listed(nodes)} belong to one" if nodes else f"its private interfaces are named so ({listed(nics)})"
    yield Obstacle(
        code=codes.ENGINEERED.code,
        title="An engineered system",
        sentence=f"This is an engineered system: {seen}. Its interconnect carries RDS and the storage cells' traffic, "
        "and is changed by the vendor's procedure only.",
        next=("Follow the vendor's document for your system, or open a service request.",),
    )
