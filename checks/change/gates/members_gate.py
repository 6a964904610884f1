"""Gate: the cluster has the nodes that it had when the plan was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.gates.gate import GateContext, gate, whole
from checks.model.check import Kind
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

SAME = Kind("CH-NODES-001", "The cluster has the same nodes as before the change")
OTHER = Kind(
    "CH-NODES-002",
    "The cluster has other nodes than the plan of the change",
    "A node that the plan does not know is neither stopped nor set nor looked at: it runs on with the MTU that it has, "
    "and cannot stay in one cluster with the others.",
)
NOT_TOLD = Kind("CH-NODES-003", "Which nodes the cluster has is not known")


@gate(
    "members-unchanged",
    question="Has the cluster the nodes of the plan?",
    needs=("clusterware",),
    kinds=(SAME, OTHER, NOT_TOLD),
)
def members_unchanged(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the nodes that `olsnodes` lists with those of the plan. Only Clusterware tells of a node that was added,
    so it is asked while it runs: until it is stopped, and when it is up again."""
    facts = cluster.clusterware
    members = facts if isinstance(facts, Unknown) else facts.members
    evidence = [(cluster.local_node, "olsnodes")]
    if isinstance(members, Unknown):
        sentence = f"Which nodes the cluster has is not known: {whole(members.reason)}"
        yield NOT_TOLD.finding(Status.UNKNOWN, sentence, subject="not told", evidence=evidence)
        return
    now = [member.name for member in members]
    came, gone = _without(now, scene.plan.nodes), _without(scene.plan.nodes, now)
    if not came and not gone:
        yield SAME.finding(
            Status.PASS, "The cluster has the nodes of the plan.", subject="the same nodes", evidence=evidence
        )
        return
    told = [f"{name} is in it and not in the plan" for name in came]
    told += [f"{name} is in the plan and not in it" for name in gone]
    yield OTHER.finding(
        Status.FAIL,
        f"The cluster has other nodes than the plan: {listed(told)}.",
        subject="other nodes",
        next=[Remedy("Go back or give the change up, and plan it anew for the nodes that there are.")],
        evidence=evidence,
    )


def _without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    known = {_short(name) for name in others}
    return [name for name in names if _short(name) not in known]


def _short(name: str) -> str:
    return name.partition(".")[0].casefold()
