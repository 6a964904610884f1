"""The faults that a change of the MTU fixes: they are a reason for the change, not an obstacle."""

from __future__ import annotations

from checks.change.plan.layers import ports_of
from checks.change.plan.mtu_limits import STANDARD
from checks.model.facts import Cluster, Unknown, Verdict
from checks.model.finding import Finding

_NODES_DISAGREE = frozenset(
    {"IC-MTU-002", "IC-MTU-003", "IC-MTU-004", "IC-MTU-007", "IC-PATH-002", "IC-PATH-010", "IC-DEV-002"}
)
"""Nodes or layers with different MTUs: the change gives all of them the same MTU."""
_SMALL_PATH = frozenset({"IC-PATH-003", "IC-PATH-004", "IC-PATH-033"})
"""Black holes and routers with a small MTU: an MTU that the path carries fixes them."""
_ROUTE = "IC-MTU-005"


def is_fixed(finding: Finding, cluster: Cluster, target: int) -> bool:
    """Whether an MTU of `target` bytes on every private network fixes the fault."""
    if finding.code in _NODES_DISAGREE:
        return True
    if finding.code in _SMALL_PATH:
        return target <= _carried(cluster)
    return finding.code == _ROUTE and target <= _smallest_route(cluster)


def _carried(cluster: Cluster) -> int:
    """The MTU that every path with a black hole or a small router carries; 1500 for a path that was not measured."""
    paths = () if isinstance(cluster.paths, Unknown) else cluster.paths
    small = [p for p in paths if p.verdict in (Verdict.BLACK_HOLE, Verdict.TOO_BIG)]
    return min((p.path_mtu if isinstance(p.path_mtu, int) else STANDARD for p in small), default=STANDARD)


def _smallest_route(cluster: Cluster) -> int:
    ports = {(p.node, p.interface) for p in ports_of(cluster)}
    set_ = [
        route.mtu
        for node in cluster.read_nodes()
        for route in node.routes
        if route.mtu is not None and (node.name, route.interface) in ports
    ]
    return min(set_, default=0)
