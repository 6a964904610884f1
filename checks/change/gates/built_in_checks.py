"""Built-in checks as gates: which of their findings allow the next step.

A gate is less strict than a check: it judges only the effects of the change, not every oddity of a cluster. It is also
more strict: a fact that was not measured proves nothing. The rules:

- PASS and INFO allow the next step; FAIL, UNKNOWN and SKIPPED prevent it.
- A warning prevents the next step. Exceptions: its code is in `WARNINGS_THAT_HOLD`; the step is the baseline, which
  only collects figures, and the change may fix the cause; or the change was opened with the same warning, or the
  operator accepted its code. The last two exceptions do not apply to the checks in `TO_BE_PROVED`.
- A failure that was accepted when the change was opened allows the next step at the baseline; later only if its code is
  in `WARNINGS_THAT_HOLD`.
- If no block or ping passed between instances that are open on several nodes, nothing was measured: the gate does not
  pass. At the baseline this is reported, and the gate passes. Real instances ping each other about every 12 s: an
  interval too short for a ping does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import wraps

import msgspec

from checks.change.gates.gate import GateContext
from checks.change.plan.change_plan import KnownWarning
from checks.model.check import Check
from checks.model.facts import Activity, Cluster, Database
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import VERIFY
from checks.model.wording import listed
from checks.rules.instance_pings import is_sure_to_ping

CHECKS = (
    "clusterware",
    "df-ping",
    "gc-blocks-lost",
    "gc-receive-time",
    "haip-path",
    "instance-ping",
    "interconnect-in-use",
    "interfaces",
    "mtu-consistency",
    "reassembly",
    "rp-filter",
    "udp-receive-buffers",
)
"""The built-in checks that can be gates."""
WARNINGS_THAT_HOLD = {
    "IC-GRID-002": "a file that names an old Grid home",
    "IC-LOST-006": "the false counts of 12.1.0.2",
    "IC-LOST-009": "earlier losses: the gate judges only losses since then",
    "IC-PING-003": "8 KB pings that take longer than 500-byte pings; slow pings still prevent the next step",
    "IC-UDP-004": "an overflow of a CPU's backlog: it does not depend on packet sizes",
    "IC-USE-004": "cluster_interconnects is set: the change did not set it",
}
"""Warnings that allow the next step: their code, and the reason why a change of MTU does not stop for them."""
TO_BE_PROVED = ("df-ping", "gc-blocks-lost", "haip-path", "mtu-consistency", "reassembly")
"""Checks whose warnings prevent the next step even if the change was opened with the same warning."""
_NETWORKS_DIFFER = "IC-MTU-007"
_LEFT_OUT = ("history",)
"""Groups of facts that no gate uses: reading AWR takes long, and AWR shows the time before the change."""
NOTHING_PASSED = {
    "IC-LOST-003": ("received_blocks", "no block passed between {}"),
    "IC-PING-006": ("pings", "no ping was answered between {}"),
    "IC-PING-007": ("", "no ping was answered between {}"),
}
"""Codes of findings without a measurement: which of their values is 0 if there was none, and the gate's text."""


def as_gate(check: Check) -> Check:
    """Return a built-in check as a gate: without facts that no gate uses, and UNKNOWN if nothing was measured."""

    @wraps(check.judge)
    def judge(cluster: Cluster) -> Iterator[Finding]:
        for finding in check.judge(cluster):
            yield _measured(finding, cluster)

    return replace(check, uses=tuple(group for group in check.uses if group not in _LEFT_OUT), judge=judge)


def _measured(finding: Finding, cluster: Cluster) -> Finding:
    """Return the finding; as UNKNOWN if nothing was measured although several nodes have open instances."""
    measured, text = NOTHING_PASSED.get(finding.code, ("", ""))
    open_at = _open_instances(cluster)
    if not text or finding.data.get(measured, 0) != 0 or len(set(open_at.values())) < 2:
        return finding
    seconds = cluster.activity.seconds if isinstance(cluster.activity, Activity) else 0.0
    if finding.code == "IC-PING-006" and not is_sure_to_ping(seconds):
        return finding
    return msgspec.structs.replace(
        finding,
        status=Status.UNKNOWN,
        title=f"Nothing was measured: {text.format(listed(open_at))} in {seconds:.0f} s.",
        subject="nothing measured",
        next=(
            NextStep("Allow the applications to connect, and verify again while the database is busy.", own=(VERIFY,)),
        ),
    )


def _open_instances(cluster: Cluster) -> dict[str, str]:
    """Return the host of each open instance, by the instance's name."""
    found = cluster.database.instances if isinstance(cluster.database, Database) else ()
    return {instance.name: instance.host.casefold() for instance in found if instance.status == "OPEN"}


def weighed(context: GateContext | None, finding: Finding) -> Status:
    """Return the status of a built-in check's finding in a gate: INFO for a warning that allows the next step.

    With `context` None, only the code of the finding decides.
    """
    at_baseline = context is not None and context.step.id == "baseline"
    if finding.status is Status.SKIPPED:
        return Status.UNKNOWN
    if finding.status is Status.UNKNOWN and at_baseline and finding.code in NOTHING_PASSED:
        return Status.INFO
    if finding.status is Status.WARN and (
        at_baseline or _holds(context, finding.code) or stood_before(context, finding)
    ):
        return Status.INFO
    is_accepted = finding.code in _accepted(context)
    if finding.status is Status.WARN and is_accepted and finding.check not in TO_BE_PROVED:
        return Status.INFO
    if finding.status is Status.FAIL and is_accepted and (at_baseline or finding.code in WARNINGS_THAT_HOLD):
        return Status.INFO
    return finding.status


def stood_before(context: GateContext | None, finding: Finding) -> bool:
    """Whether the change was opened with this warning, so that it allows the next step."""
    if context is None or context.step.id == "baseline":
        return False
    if finding.status is not Status.WARN or finding.check in TO_BE_PROVED:
        return False
    return KnownWarning(finding.code, finding.subject) in context.change.opened.known


def _holds(context: GateContext | None, code: str) -> bool:
    if code == _NETWORKS_DIFFER:
        return context is not None and len({network.mtu_after for network in context.plan.networks}) > 1
    return code in WARNINGS_THAT_HOLD


def _accepted(context: GateContext | None) -> Iterable[str]:
    return {accepted.code for accepted in context.change.opened.accepted} if context else ()
