"""Nodes that could not be read: those that are down, and those about which nothing is known."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import FailKind, UnknownKind
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Unknown, UnreadNode
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import continued, few, first_and_rest
from checks.rules.observed.states import state

NODE_NOT_READ = UnknownKind(
    "IC-IFACE-010",
    "A node could not be read",
    "The node's side of every private network is unknown. racwire cannot detect a fault there.",
)
NODE_DOWN = FailKind(
    "IC-IFACE-033",
    "A node is down",
    "Its instances are down, and the others do its work. What racwire does not know about the node follows from this.",
    ("Clusterware Administration Guide, olsnodes -s",),
)
KINDS = (NODE_NOT_READ, NODE_DOWN)


def unread_node_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each node that could not be read, and one where there is none at all."""
    inactive = _inactive(cluster)
    for node in cluster.unread_nodes():
        yield _down(cluster, node) if node.is_silent and node.name in inactive else _not_read(node)
    if not cluster.nodes:
        yield NODE_NOT_READ.finding(
            "No node could be read.",
            subject="no node read",
            expected=("The interfaces of every node",),
            next=[NextStep("List the nodes of the cluster.", ("olsnodes -n -s",), "the Grid owner")],
        )


def _inactive(cluster: Cluster) -> set[str]:
    members = () if isinstance(cluster.clusterware, Unknown) else cluster.clusterware.members
    return set() if isinstance(members, Unknown) else {m.name for m in members if m.status == "Inactive"}


def _down(cluster: Cluster, node: UnreadNode) -> Finding:
    others = few(other.name for other in cluster.read_nodes())
    return NODE_DOWN.finding(
        f"{node.name} is down: Clusterware shows it inactive, and no host answers ssh at its address.",
        subject=f"{node.name} is down",
        seen=(f"olsnodes: {node.name} Inactive", node.reason),
        expected=("Active, and read over ssh",),
        next=[
            NextStep(
                f"Look at {node.name} on its console (management controller, hypervisor): is it powered on, what did "
                "it print last, and are its links up? It may also run, cut off from its networks.",
                where=f"the system administrator of {node.name}",
            ),
            NextStep(
                f"Read when and why it left the cluster: the Clusterware alert logs of {others} have the eviction, or "
                "the shutdown.",
                ("racwire check log-lines",),
            ),
            NextStep(f"When {node.name} is up, run the checks again.", ("racwire check",)),
        ],
        evidence=[(cluster.local_node, "olsnodes"), (node.name, "ssh")],
        nodes=[node.name],
        observed=[state(NODE_DOWN.code, node.name, condition=ConditionKind.NODE)],
    )


def _not_read(node: UnreadNode) -> Finding:
    return NODE_NOT_READ.finding(
        f"{node.name} could not be read: {continued(first_and_rest(node.reason, ': ')[0])}.",
        subject=f"{node.name} not read",
        seen=(node.reason,),
        expected=("The interfaces of the node, read over ssh without a password",),
        next=[
            NextStep("Try the same connection by hand.", (shell("ssh -o BatchMode=yes {node} true", node=node.name),))
        ],
        evidence=[(node.name, "ssh")],
        nodes=[node.name],
        lacks=[node],
    )
