"""The change of the receive buffers to larger sizes: the request, and its plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from checks.change.kinds.shared_settings import SettingsRequest, settings_plan
from checks.change.plan.change_plan import ChangeKind, Plan, Step
from checks.change.plan.obstacles import plan_again
from checks.change.plan.planning import PlanContext
from checks.change.progress.state import ChangeError
from checks.change.steps import restarts, setting_steps
from checks.change.steps.draft import Draft
from checks.model.facts import Cluster, Unknown
from checks.model.finding import FAULTS, NextStep
from checks.model.report import Report
from checks.model.wording import listed
from checks.rules.buffer_sizes import below_minimum, proposed
from checks.rules.host_limits import BUFFER_MINIMUM
from checks.rules.node_counts import sysctl

_OVERFLOWED = "IC-UDP-002"
_MAX, _DEFAULT = "net.core.rmem_max", "net.core.rmem_default"
_OTHERWISE = NextStep(
    "No datagram overflowed a buffer, and the buffers are at Oracle's minimum. For larger ones all the same, state the "
    "sizes.",
    own=plan_again("receive-buffers --set net.core.rmem_max=16777216"),
)
_LARGEST = 2**31 - 1
"""The kernel holds these settings as a signed number of 32 bits."""


@dataclass(frozen=True)
class ReceiveBuffersRequest(SettingsRequest):
    """The receive buffers shall be larger on every node.

    `sizes` replaces the sizes in bytes that racwire proposes, by key. With `restarts_later`, the restart of the
    instances is left to a later maintenance.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    restarts_later: bool = False

    def plan(self, context: PlanContext) -> Plan:
        """Return the plan. Raises PlanError with the obstacles, ChangeError for a size that no node can have."""
        report = context.report
        cluster, target = report.cluster, self._target(report)
        return settings_plan(
            context,
            ChangeKind.RECEIVE_BUFFERS,
            {node.name: _of_node(cluster, node.name, target, self.sizes) for node in cluster.read_nodes()},
            reasons=("IC-UDP-002", "IC-KERNEL-002"),
            otherwise=_OTHERWISE,
            goal=lambda draft: (
                "receive buffers: " + ", ".join(dict.fromkeys(f"{v.key} {v.after}" for v in draft.values))
            ),
            steps=lambda draft: _steps(draft, report, self.restarts_later),
            about=_unrestarted,
        )

    def _target(self, report: Report) -> dict[str, int]:
        """Return the sizes for all nodes: the stated ones, else the proposed ones."""
        for key, size in self.sizes.items():
            if key not in BUFFER_MINIMUM:
                raise ChangeError(f"--set knows no {key}: the buffers are {listed(BUFFER_MINIMUM)}.")
            if not BUFFER_MINIMUM[key] <= size <= _LARGEST:
                raise ChangeError(
                    f"{key} can be {BUFFER_MINIMUM[key]} to {_LARGEST} bytes, not {size}: the smallest is Oracle's "
                    "minimum."
                )
        target = dict(self.sizes) or _default_target(report)
        if _DEFAULT in target and target[_DEFAULT] > target.get(_MAX, _LARGEST):
            raise ChangeError(f"{_DEFAULT} ({target[_DEFAULT]}) cannot be larger than {_MAX} ({target[_MAX]}).")
        return target


def _default_target(report: Report) -> dict[str, int]:
    """Return the sizes that racwire proposes; none where buffers are at the minimum and none overflowed."""
    cluster = report.cluster
    nodes = [node.name for node in cluster.read_nodes()]
    full = {node for f in report.findings if f.code == _OVERFLOWED and f.status in FAULTS for node in f.nodes}
    small = [key for key in BUFFER_MINIMUM if any(key in below_minimum(cluster, n, BUFFER_MINIMUM) for n in nodes)]
    target = {key: BUFFER_MINIMUM[key] for key in small}
    return target | proposed(cluster, nodes) if full or any(".rmem_" in key for key in small) else target


def _of_node(cluster: Cluster, node: str, target: Mapping[str, int], stated: Mapping[str, int]) -> dict[str, str]:
    """Return the values of one node: none smaller than now. Raises ChangeError for a smaller size that was stated."""
    found = {}
    for key, size in target.items():
        now = sysctl(cluster, node, key)
        if now is not None and now > size and key in stated:
            raise ChangeError(f"{key} of {node} is {now}: racwire plans no smaller buffers than now.")
        found[key] = str(max(size, now or 0))
    return found


def _unrestarted(draft: Draft) -> Iterator[str]:
    """Yield what a restart of the known instances does not cover."""
    yield (
        "How large a buffer an instance asks for is its own decision: racwire compares the sockets on the private "
        "networks before and after its restart. Clusterware and ASM take the new sizes at their own next restart."
    )
    unknown = [database.name for database in draft.databases if not database.instances]
    if unknown:
        yield f"The instances of {listed(unknown)} are not known: restart them by hand."
    if alone := restarts.without_other_instances(draft):
        yield f"{listed(alone)}: a single instance, whose restart is an outage of the database."


def _steps(draft: Draft, report: Report, later: bool) -> Iterator[Step]:
    nodes = setting_steps.changed_nodes(draft)
    sockets = {} if isinstance(report.cluster.changing, Unknown) else report.cluster.changing.udp_sockets
    reads_sockets = all(not isinstance(sockets.get(node, Unknown("")), Unknown) for node in nodes)
    failing = frozenset(finding.check for finding in report.findings if finding.status == "FAIL")
    paths = [check for check in ("df-ping",) if check not in failing]
    yield setting_steps.agree(draft, setting_steps.RECEIVE_BUFFERS, restarts=not later)
    yield setting_steps.backups(draft)
    yield setting_steps.set_first(draft, paths)
    yield from setting_steps.set_others(draft, paths)
    if later:
        yield from restarts.later(draft, nodes)
    else:
        yield from restarts.restarts(draft, nodes, reads_sockets=reads_sockets)
    proofs = [] if later else [setting_steps.RECEIVE_BUFFERS.check]
    yield setting_steps.sign_off(draft, [check for check in proofs if check not in draft.excused])
