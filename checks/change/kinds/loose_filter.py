"""The change of rp_filter to loose on the private interfaces: the request, and its plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.change.kinds.shared_settings import (
    SettingsRequest,
    planned_values,
    settings_draft,
    settings_obstacles,
    settings_remarks,
    with_joined,
)
from checks.change.plan.change_plan import ChangeKind, Plan, Step
from checks.change.plan.planning import PlanContext, accept, plan_of
from checks.change.plan.preflight import common_obstacles, in_order
from checks.change.steps import setting_steps
from checks.change.steps.draft import Draft
from checks.model.facts import Cluster
from checks.model.report import Report
from checks.rules.sysctls_at_boot import LOOSE, effective_rp_filter, private_interfaces, rp_filter_key

_REASONS = ("IC-RPF-002", "IC-RPF-004")
_GOAL = f"rp_filter {LOOSE} on the private interfaces"


def wanted_filters(cluster: Cluster) -> dict[str, dict[str, str]]:
    """Return rp_filter 2 for each private interface that filters strictly, or whose rp_filter is not known.

    The larger of `all` and the interface's own value counts, so 2 is enough, whatever `all` is.
    """
    return {
        node.name: {
            rp_filter_key(nic): str(LOOSE)
            for nic in private_interfaces(cluster, node.name)
            if effective_rp_filter(cluster, node.name, nic) not in (0, LOOSE)
        }
        for node in cluster.read_nodes()
    }


@dataclass(frozen=True)
class RpFilterRequest(SettingsRequest):
    """rp_filter shall be loose on every private interface that filters strictly."""

    def plan(self, context: PlanContext) -> Plan:
        """Return the plan. Raises PlanError with the obstacles."""
        report = context.report
        wanted = wanted_filters(report.cluster)
        values = planned_values(report.cluster, wanted)
        cured = with_joined(report, _REASONS)
        found = (
            *common_obstacles(report, lambda finding: finding in cured, lambda _: ""),
            *settings_obstacles(report.cluster, wanted, values, "See the values: racwire check rp-filter --full"),
        )
        outweighed = accept(context, in_order(found))
        draft = settings_draft(context, ChangeKind.RP_FILTER, values, outweighed)
        remarks = settings_remarks(report, draft, cured)
        return plan_of(context, draft, _steps(draft, report), outweighed, dict.fromkeys(remarks), goal=_GOAL)


def _steps(draft: Draft, report: Report) -> Iterator[Step]:
    failing = frozenset(finding.check for finding in report.findings if finding.status == "FAIL")
    paths = ("df-ping", *(("haip-path",) if draft.has_haip else ()))
    yield setting_steps.agree(draft, setting_steps.RP_FILTER, restarts=False)
    yield setting_steps.backups(draft)
    # A path that fails for the old values can pass only when both its ends have the new ones.
    yield setting_steps.set_first(draft, [check for check in paths if check not in failing])
    proofs = [check for check in (*paths, setting_steps.RP_FILTER.check) if check not in draft.excused]
    yield from setting_steps.set_others(draft, proofs)
    yield setting_steps.sign_off(draft, proofs)
