"""Gate: the cluster has the nodes that it had when the plan was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.gates.gate import GatePlace, gate
from checks.model.check import Kind
from checks.model.facts import Unknown, part_of
from checks.model.finding import Finding, NextStep
from checks.model.wording import listed

SAME = Kind("CH-NODES-001", "The cluster has the same nodes as before the change")
OTHER = Kind(
    "CH-NODES-002",
    "The cluster has other nodes than the plan of the change",
    "The plan neither stops nor sets nor verifies a node that it does not know. Such a node keeps its old MTU, and "
    "cannot stay in one cluster with the others.",
)
NOT_LISTED = Kind("CH-NODES-003", "Which nodes the cluster has is not known")


@gate(
    "members-unchanged",
    question="Does the cluster have the same nodes as the plan?",
    needs=("clusterware",),
    topic="olsnodes",
    kinds=(SAME, OTHER, NOT_LISTED),
)
def members_unchanged(at: GatePlace) -> Iterator[Finding]:
    """Compares the nodes that `olsnodes` lists with the nodes of the plan.

    Only Clusterware shows an added node. So this gate is verified while Clusterware runs: until the step stack-down,
    and again after the restart.
    """
    members = part_of(at.cluster.clusterware, lambda facts: facts.members)
    if isinstance(members, Unknown):
        yield at.not_known(NOT_LISTED, "Which nodes the cluster has is not known", members)
        return
    now = [member.name for member in members]
    differences = [f"{name} is in the cluster but not in the plan" for name in _without(now, at.plan.nodes)]
    differences += [f"{name} is in the plan but not in the cluster" for name in _without(at.plan.nodes, now)]
    if not differences:
        yield at.holds(SAME, "the same nodes", "The cluster has the nodes of the plan.")
        return
    yield at.fails(
        OTHER,
        "other nodes",
        f"The cluster has other nodes than the plan: {listed(differences)}.",
        NextStep("Roll back or abandon this change. Then plan a change for the present nodes of the cluster."),
    )


def _without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    known = {_short(name) for name in others}
    return [name for name in names if _short(name) not in known]


def _short(name: str) -> str:
    return name.partition(".")[0].casefold()
