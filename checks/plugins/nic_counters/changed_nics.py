"""Findings about values of private interfaces that changed between the first reading of a run and its last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind, WarnKind
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep
from checks.plugins.shared.counter_text import TOPIC
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.changed_meanwhile import ChangedValue, ReadAgain, changed_values, haip_moved_status
from checks.rules.observed.states import state

_MEANWHILE = (
    "The checks judged the value that was read first. What they found may be about a moment of a change, and does not "
    "show the state now."
)
MTU_CHANGED = WarnKind("IC-RUN-001", "The MTU of a private interface changed during this run", _MEANWHILE)
LINK_CHANGED = WarnKind("IC-RUN-002", "A private interface lost or got its link during this run", _MEANWHILE)
VALUE_CHANGED = WarnKind(
    "IC-RUN-004", "The MAC address, an address or a route of a private interface changed during this run", _MEANWHILE
)
MOVED = Kind(
    "IC-RUN-003",
    "A HAIP address moved to another interface during this run",
    "Clusterware moves a HAIP address when its interface fails and when it is back. What the checks found about the "
    "address may be about either interface.",
    ("MOS 1210883.1",),
)
KINDS = (MTU_CHANGED, LINK_CHANGED, VALUE_CHANGED, MOVED)
_KINDS = {ReadAgain.MTU: MTU_CHANGED, ReadAgain.LINK: LINK_CHANGED}


def changed_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for each value that changed; one for the same change of several nodes."""
    for changed in alike(changed_values(cluster), lambda c: (c.network, c.what, c.before, c.after)):
        yield _haip_moved(changed[0]) if changed[0].what is ReadAgain.HAIP else _changed(changed)


def _changed(changed: Sequence[ChangedValue]) -> Finding:
    first, nodes = changed[0], list(dict.fromkeys(c.node for c in changed))
    where = named((f"{c.nic} of {c.node}" for c in changed), "private interface")
    had = "had" if len(changed) == 1 else "each had"
    has = "has" if len(changed) == 1 else "have"
    kind = _KINDS.get(first.what, VALUE_CHANGED)
    return kind.finding(
        f"{where} {had} {first.before} at the start of this run, and {has} {first.after} at its end.",
        subject=f"{briefly((c.nic for c in changed), 'interface')}: {first.before} -> {first.after}",
        data={"interfaces": len(changed)},
        seen=some([f"{c.node}: {c.text}" for c in changed]),
        expected=("The same values at the beginning and the end of a run",),
        next=[NextStep("Find out who changes the interface, then run the check again.", ("racwire check",))],
        evidence=[(node, TOPIC) for node in nodes],
        network=first.network,
        nodes=nodes,
        extent=(len(changed), "interfaces"),
        observed=[state(kind.code, c.node, c.network, c.nic, c.least or c.after) for c in changed],
    )


def _haip_moved(changed: ChangedValue) -> Finding:
    return MOVED.finding(
        f"HAIP {changed.before} of {changed.node} was on {changed.nic} at the start of this run, and is on "
        f"{changed.after} at its end.",
        status=haip_moved_status(changed),
        subject=f"{changed.before}: {changed.nic} -> {changed.after}",
        data={"address": changed.before, "interface": changed.nic},
        seen=(f"{changed.node}: {changed.text}",),
        expected=("The same interface at the beginning and the end of a run",),
        next=[
            NextStep(
                "Find out whether the interface failed, then run the check again.",
                ("crsctl stat res ora.cluster_interconnect.haip -init", "racwire check"),
            )
        ],
        evidence=[(changed.node, TOPIC)],
        network=changed.network,
        nodes=[changed.node],
        observed=[state(MOVED.code, changed.node, changed.network, changed.nic, changed.after)],
    )
