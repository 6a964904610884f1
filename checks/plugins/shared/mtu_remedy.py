"""The remedy of nodes with another MTU than their network: a change of the one node that differs, or of all nodes."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import Cluster
from checks.model.finding import NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.plugins.shared.path_text import safe_change
from checks.rules.node_apart import nodes_apart

_EVICTS = "A change while Clusterware runs there evicts nodes."


def node_change(node: str) -> str:
    """Return the command that plans the change of one node to the MTU of all others."""
    return shell("racwire change new node-mtu --node {node}", node=node)


def same_mtu(cluster: Cluster, mtu: int, nodes: Iterable[str]) -> NextStep:
    """Return the remedy for nodes whose interfaces do not have MTU `mtu`.

    Where one node differs from all others, which have one MTU, that node alone is stopped.
    """
    wrong = tuple(dict.fromkeys(nodes))
    candidates = () if cluster.unread_nodes() else nodes_apart(cluster)
    if len(candidates) > 1:
        ways = listed((f"{one.node} to {one.mtu}" for one in candidates), "or")
        return NextStep(
            f"Ask which MTU is intended. Then set {ways}, with the change of one node: Clusterware down there, and up "
            f"on the other node. {_EVICTS}",
            tuple(node_change(one.node) for one in candidates),
            is_change=True,
        )
    if candidates and {*wrong} <= {candidates[0].node}:
        (one,) = candidates
        others = f"{listed(one.others)} {'keeps' if len(one.others) == 1 else 'keep'}"
        return NextStep(
            f"Set MTU {one.mtu} on {one.node} alone, at run time and in the boot configuration, with the change of one "
            f"node: Clusterware down on {one.node}; {others} running. {_EVICTS}",
            (node_change(one.node),),
            is_change=True,
        )
    return NextStep(
        f"Set MTU {mtu} on {listed(wrong)}, at run time and in the boot configuration, with the safe-change procedure: "
        "Clusterware down on all nodes. A change of one node while Clusterware runs evicts nodes.",
        (safe_change(mtu),),
        is_change=True,
    )
