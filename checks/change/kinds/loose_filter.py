"""The change of rp_filter to loose on the private interfaces: the request, and its plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.change.kinds.shared_settings import SettingsRequest, settings_plan
from checks.change.plan.change_plan import ChangeKind, Plan, Step
from checks.change.plan.planning import PlanContext
from checks.change.steps import setting_steps
from checks.change.steps.draft import Draft
from checks.model.facts import Cluster
from checks.model.finding import NextStep
from checks.model.report import Report
from checks.rules.sysctls_at_boot import LOOSE, effective_rp_filter, private_interfaces, rp_filter_key


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
        return settings_plan(
            context,
            ChangeKind.RP_FILTER,
            wanted_filters(context.report.cluster),
            reasons=("IC-RPF-002", "IC-RPF-004"),
            otherwise=NextStep("See the values.", ("racwire check rp-filter --full",)),
            goal=lambda _: f"rp_filter {LOOSE} on the private interfaces",
            steps=lambda draft: _steps(draft, context.report),
        )


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
