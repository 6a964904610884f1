"""Built-in checks as gates: which of their findings let the next step come.

A gate asks less and more than a check. Less, since it is about what the change can have done, and not about all that is
odd on a cluster; more, since what was left out proves nothing. So PASS and INFO hold, FAIL, UNKNOWN and SKIPPED do not,
and a warning holds only where it stands below, or at the baseline: that step is there for figures, and what is wrong
before the change is what it may mend. There a failure holds, too, that was accepted when the change was opened;
afterwards only where it stands below.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from checks.change.gates.gate import Scene
from checks.finding import Finding, Status
from checks.plugin import Check

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
_NETWORKS_DIFFER = "IC-MTU-007"
_LEFT_OUT = ("history",)
"""Facts that no gate judges by: reading AWR takes long, and is of the past."""


def as_gate(check: Check) -> Check:
    """A built-in check without what a gate does not ask for."""
    return replace(check, uses=tuple(group for group in check.uses if group not in _LEFT_OUT))


def weighed(scene: Scene | None, finding: Finding) -> Status:
    """The status that a finding of a built-in check has as a gate's: INFO for a warning that holds. Without a scene
    only its code decides."""
    at_baseline = scene is not None and scene.step.id == "baseline"
    if finding.status is Status.SKIPPED:
        return Status.UNKNOWN
    if finding.status is Status.WARN and (at_baseline or _holds(scene, finding.code)):
        return Status.INFO
    is_accepted = finding.code in _accepted(scene)
    if finding.status is Status.FAIL and is_accepted and (at_baseline or finding.code in WARNINGS_THAT_HOLD):
        return Status.INFO
    return finding.status


def _holds(scene: Scene | None, code: str) -> bool:
    if code == _NETWORKS_DIFFER:
        return scene is not None and len({network.mtu_after for network in scene.plan.networks}) > 1
    return code in WARNINGS_THAT_HOLD


def _accepted(scene: Scene | None) -> Iterable[str]:
    return {accepted.code for accepted in scene.change.opened.accepted} if scene else ()
