"""Which faults a change of the MTU cures: they are the reason for it, and do not stand in its way."""

from __future__ import annotations

from checks.change.layers import ports_of
from checks.change.mtu_limits import STANDARD
from checks.model.facts import Cluster, Unknown, Verdict
from checks.model.finding import Finding

_NODES_DISAGREE = frozenset(
    {"IC-MTU-002", "IC-MTU-003", "IC-MTU-004", "IC-MTU-007", "IC-PATH-002", "IC-PATH-010", "IC-DEV-002"}
)
"""Nodes or layers with different MTUs: the change gives all of them one."""
_SMALL_PATH = frozenset({"IC-PATH-003", "IC-PATH-004"})
"""Black holes and small routers: cured by an MTU that they carry."""
_ROUTE = "IC-MTU-005"


def is_cured(finding: Finding, cluster: Cluster, target: int) -> bool:
    """Whether bringing every private network to `target` bytes makes the fault go away."""
    if finding.code in _NODES_DISAGREE:
        return True
    if finding.code in _SMALL_PATH:
        return target <= _carried(cluster)
    return finding.code == _ROUTE and target <= _smallest_route(cluster)


def _carried(cluster: Cluster) -> int:
    """What every path with a black hole or a small router carries; the standard where it was not measured."""
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
