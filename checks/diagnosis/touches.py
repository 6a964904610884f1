"""What causes do to packets, by name, and what a value read at a place does to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checks.diagnosis.cause import Touch, Way
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding
from checks.model.hypothesis import Footprint, How
from checks.model.observation import Fate
from checks.model.traffic import MOST, SMALL, Traffic

FULL = (SMALL + 1, MOST)
"""The sizes of full-size packets; what passed at the place decides from which size on."""


def touch(how: How, way: Way = Way.BOTH, *, every_network: bool = False, **packets: Any) -> Touch:
    """Return what a cause does to these packets, given as fields of a Traffic."""
    return Touch(how, Traffic(**packets), way, every_network)


SHARE_ALL = touch(How.SHARE)
SHARE_IN = touch(How.SHARE, Way.TO)


def smaller_mtu(cluster: Cluster, finding: Finding) -> Iterator[Footprint]:
    """Yield what the MTU of a node does: a NIC drops packets above its own MTU. A node with a smaller MTU than its
    network sends fragments, which pass; one with a larger MTU sends packets that the others drop."""
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    network = next((n for n in networks if n.name == finding.network), None)
    for seen in finding.observed:
        if seen.fate is not Fate.STATE or not isinstance(seen.value, int) or isinstance(seen.value, bool):
            continue
        if finding.code in _OF_ROUTES:
            continue
        own, there = Traffic(networks=(finding.network,)), (network.mtu if network else 0)
        if isinstance(there, int) and seen.value > there > 0:
            yield Footprint(how=How.STOPS, traffic=own & Traffic(senders=seen.nodes, sizes=(there + 1, MOST)))
        else:
            yield Footprint(how=How.STOPS, traffic=own & Traffic(receivers=seen.nodes, sizes=(seen.value + 1, MOST)))


_OF_ROUTES = frozenset({"IC-MTU-005", "IC-EROUTE-002", "IC-EROUTE-004", "IC-PATH-002"})
"""Findings about routes: they make the node send smaller packets, and lose none."""
