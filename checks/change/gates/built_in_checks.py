"""Built-in checks as gates: which of their findings let the next step come.

A gate asks less and more than a check. Less, since it is about what the change can have done, and not about all that is
odd on a cluster; more, since what was left out proves nothing. So PASS and INFO hold, FAIL, UNKNOWN and SKIPPED do not,
and a warning holds only where it stands below, or at the baseline: that step is there for figures, and what is wrong
before the change is what it may mend. There a failure holds, too, that was accepted when the change was opened;
afterwards only where it stands below. And a warning holds that stood in the same words when the change was opened: it
is not of its making; but never one of what a change of the MTU is to prove.

Where nothing passed between instances that are open on several nodes, nothing was measured: a check calls that too few
to judge, and a gate does not hold by it. At the baseline it is told, and holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import wraps

import msgspec

from checks.change.change_plan import KnownWarning
from checks.change.gates.gate import LOOK_AGAIN, GateContext
from checks.model.check import Check
from checks.model.facts import Activity, Cluster, Database
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

CHECKS = (
    "clusterware",
    "df-ping",
    "gc-blocks-lost",
    "gc-receive-time",
    "instance-ping",
    "interconnect-in-use",
    "interfaces",
    "mtu-consistency",
    "reassembly",
    "rp-filter",
    "udp-receive-buffers",
)
"""Those that can be gates."""
WARNINGS_THAT_HOLD = {
    "IC-GRID-002": "a file that names an old Grid home",
    "IC-LOST-006": "the false counts of 12.1.0.2",
    "IC-LOST-009": "losses of the past: what counts is what is lost now",
    "IC-PING-003": "8 KB taking longer than 500 bytes; pings that are slow do not hold",
    "IC-UDP-004": "a CPU's backlog that overflows: it is no matter of packet sizes",
    "IC-USE-004": "cluster_interconnects being set: the change did not set it",
}
"""By their code, and why a change of MTU does not stop for them."""
TO_BE_PROVED = ("df-ping", "gc-blocks-lost", "mtu-consistency", "reassembly")
"""Checks whose warnings never hold because they stood before: what is lost now is lost now."""
_NETWORKS_DIFFER = "IC-MTU-007"
_LEFT_OUT = ("history",)
"""Facts that no gate judges by: reading AWR takes long, and is of the past."""
NOTHING_PASSED = {
    "IC-LOST-003": ("0 blocks", "no block went between {}"),
    "IC-PING-006": ("0 pings", "no ping was answered between {}"),
}
"""Codes of too little to judge: how the few words begin where it was nothing at all, and what is said then."""


def as_gate(check: Check) -> Check:
    """A built-in check without what a gate does not ask for; it does not know what was not measured."""

    @wraps(check.judge)
    def judge(cluster: Cluster) -> Iterator[Finding]:
        for finding in check.judge(cluster):
            yield _measured(finding, cluster)

    return replace(check, uses=tuple(group for group in check.uses if group not in _LEFT_OUT), judge=judge)


def _measured(finding: Finding, cluster: Cluster) -> Finding:
    """The finding, or that nothing was measured where something could have been."""
    begins, told = NOTHING_PASSED.get(finding.code, ("", ""))
    open_at = _open_instances(cluster)
    if not begins or not finding.subject.startswith(begins) or len(set(open_at.values())) < 2:
        return finding
    seconds = cluster.activity.seconds if isinstance(cluster.activity, Activity) else 0.0
    return msgspec.structs.replace(
        finding,
        status=Status.UNKNOWN,
        title=f"Nothing was measured: {told.format(listed(open_at))} in {seconds:.0f} s.",
        subject="nothing measured",
        next=(Remedy("Let the applications in, and look again while the database is busy.", (LOOK_AGAIN,)),),
    )


def _open_instances(cluster: Cluster) -> dict[str, str]:
    """The node of each instance that is open, by the instance's name."""
    found = cluster.database.instances if isinstance(cluster.database, Database) else ()
    return {instance.name: instance.host.casefold() for instance in found if instance.status == "OPEN"}


def weighed(scene: GateContext | None, finding: Finding) -> Status:
    """The status that a finding of a built-in check has as a gate's: INFO for a warning that holds. Without a scene
    only its code decides."""
    at_baseline = scene is not None and scene.step.id == "baseline"
    if finding.status is Status.SKIPPED:
        return Status.UNKNOWN
    if finding.status is Status.UNKNOWN and at_baseline and finding.code in NOTHING_PASSED:
        return Status.INFO
    if finding.status is Status.WARN and (at_baseline or _holds(scene, finding.code) or stood_before(scene, finding)):
        return Status.INFO
    is_accepted = finding.code in _accepted(scene)
    if finding.status is Status.FAIL and is_accepted and (at_baseline or finding.code in WARNINGS_THAT_HOLD):
        return Status.INFO
    return finding.status


def stood_before(scene: GateContext | None, finding: Finding) -> bool:
    """Whether it is a warning that stood so when the change was opened, and holds for that."""
    if scene is None or scene.step.id == "baseline":
        return False
    if finding.status is not Status.WARN or finding.check in TO_BE_PROVED:
        return False
    return KnownWarning(finding.code, finding.subject) in scene.change.opened.known


def _holds(scene: GateContext | None, code: str) -> bool:
    if code == _NETWORKS_DIFFER:
        return scene is not None and len({network.mtu_after for network in scene.plan.networks}) > 1
    return code in WARNINGS_THAT_HOLD


def _accepted(scene: GateContext | None) -> Iterable[str]:
    return {accepted.code for accepted in scene.change.opened.accepted} if scene else ()
