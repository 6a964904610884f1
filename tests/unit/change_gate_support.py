"""The results of a gate on a cluster made of facts."""

from checks.change.gates import GATES
from checks.change.gates.gate import GateContext
from checks.change.progress.state import Change
from checks.model.facts import Cluster
from checks.model.finding import Finding
from tests.unit.change_support import (
    until,
)


def found(gate: str, now: Cluster, of: Change | None = None) -> tuple[Finding, ...]:
    of = of or until("set-mtu")
    assert of.current
    declared = next(one for one in GATES if one.id == gate)
    return declared.made_for(GateContext(of, of.current)).run(now)


def gate_results(gate: str, now: Cluster, of: Change | None = None) -> dict[str, str]:
    """Return the result of a gate for each node: the status and the short text of the list; the cluster has an empty
    name."""
    return {(f.nodes or ("",))[0]: f"{f.status} {f.subject}" for f in found(gate, now, of)}


def sentence(gate: str, now: Cluster, node: str, of: Change | None = None) -> str:
    return next(f.title for f in found(gate, now, of) if f.nodes == (node,))


def commands(gate: str, now: Cluster, node: str, of: Change | None = None) -> list[str]:
    return [
        c
        for f in found(gate, now, of)
        if f.nodes == (node,)
        for remedy in f.next
        for c in (*remedy.commands, *(own.line() for own in remedy.own))
    ]
