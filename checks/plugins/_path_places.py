"""Where paths fail: the ways in words, and the one node that they accuse, if there is one."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import Cluster, PathProbe, PrivateNetwork, Unknown, Verdict
from checks.model.wording import Way, between, hub


def ways_of(paths: Sequence[PathProbe]) -> set[Way]:
    """From which node to which node they go."""
    return {(p.from_node, p.to_node) for p in paths}


def pairs_of(paths: Sequence[PathProbe]) -> set[frozenset[str]]:
    """Between which nodes they go, whichever way."""
    return {frozenset(way) for way in ways_of(paths)}


def on_all_nodes(cluster: Cluster, network: PrivateNetwork) -> bool:
    """Whether every node of the cluster could be probed on this network: otherwise "every node" would say too much."""
    nodes = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    return all(network.port(node.name) for node in nodes)


def where(cluster: Cluster, network: PrivateNetwork, ways: set[Way]) -> str:
    """Which ways are meant, each with its direction."""
    return between(ways, [p.node for p in network.ports], on_all_nodes(cluster, network))


def where_either_way(cluster: Cluster, network: PrivateNetwork, ways: set[Way]) -> str:
    """Which nodes are meant, where it is not known which direction is at fault.

    A ping that lost its answer now and then, or whose answer passed a router, does not say on which of its two ways.
    """
    there_and_back = where(cluster, network, ways | {(b, a) for a, b in ways})
    counted = there_and_back.startswith("over ")
    return where(cluster, network, ways) if counted else there_and_back.replace(", both ways", "")


def at_fault(cluster: Cluster, network: PrivateNetwork, ways: set[Way]) -> str:
    """The node that all these ways begin or end at; empty where the other paths do not bear that out.

    Those between the other nodes must have been measured, and must not be so too. And none of the node's own may
    pass: what crosses its port to one peer would cross it to the others.
    """
    centre = hub(ways, [p.node for p in network.ports])
    paths = () if isinstance(cluster.paths, Unknown) else cluster.paths
    here = [p for p in paths if p.network == network.name]
    own = [p for p in here if centre in (p.from_node, p.to_node)]
    of_others = [p for p in here if p not in own]
    if any(p.verdict is Verdict.PASSES for p in own):
        return ""
    return centre if any(p.verdict is not Verdict.UNKNOWN for p in of_others) else ""


def silent_nodes(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> list[str]:
    """Of the ends of these paths, the nodes that exchanged pings with nobody on this network; all ends if none is so.

    A node that answers one of its peers filters no pings: what it lacks with another peer is for that one to explain.
    """
    ends = {node for p in paths for node in (p.from_node, p.to_node)}
    probed = () if isinstance(cluster.paths, Unknown) else cluster.paths
    heard = {
        node
        for p in probed
        if p.network == network.name and any(s.received for s in p.series)
        for node in (p.from_node, p.to_node)
    }
    return sorted(ends - heard or ends)
