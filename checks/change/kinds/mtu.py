"""The change of the private networks' MTU: the request, and its plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from checks.change.kinds.mtu_obstacles import mtu_obstacles
from checks.change.plan.change_plan import Plan, Step
from checks.change.plan.layers import inheriting, kind_of, layers_of
from checks.change.plan.mtu_limits import JUMBO, offered, switch_ports
from checks.change.plan.next_boot_limits import fragile_of
from checks.change.plan.planning import PlanContext, accept, draft_of, plan_of
from checks.change.plan.remarks import remarks
from checks.change.plan.stated_network import StatedNetwork, guests_of, maybe_guests
from checks.change.plan.switch_order import aggregated, order_of_hypervisors, order_of_switches
from checks.change.progress.state import ChangeError
from checks.change.steps import after, before, outage, outside, people, starting
from checks.change.steps.draft import Draft, Fragile
from checks.model.report import Report


def default_target(report: Report) -> int | None:
    """Return the default target MTU; None for InfiniBand, whose fabric decides, or if no port is known."""
    return offered(report.cluster, layers_of(report.cluster, JUMBO))


@dataclass(frozen=True)
class MtuRequest:
    """The private networks of the cluster shall have the MTU `target`; the default target if it is None.

    `stated` is what the operator states about the network, with the known kinds of switch and hypervisor.
    """

    target: int | None
    stated: StatedNetwork

    def plan(self, context: PlanContext) -> Plan:
        """Return the plan.

        Raises PlanError with the obstacles, ChangeError without a target.
        """
        report = context.report
        target = default_target(report) if self.target is None else self.target
        if target is None:
            raise ChangeError("racwire has no default target MTU for this cluster: specify the MTU with --to.")
        stated = self.stated.with_switches(self.stated.switches or context.settings.change.switches)
        outweighed = accept(context, (*stated.problems(), *mtu_obstacles(report, target)))
        cluster = report.cluster
        layers = layers_of(cluster, target)
        common = draft_of(context, kind_of(cluster, target), layers, outweighed)
        draft = _with_outside(common, report, stated)
        about = (
            *outside.remarks(draft),
            *remarks(report, target, draft.networks, draft.layers, draft.databases),
        )
        plan = plan_of(context, draft, _steps(draft), outweighed, about)
        return msgspec.structs.replace(plan, switch_pair=stated.pair)


def _with_outside(draft: Draft, report: Report, stated: StatedNetwork) -> Draft:
    """Return the draft with the switches, the hypervisors, and what else sets an MTU at boot."""
    cluster = report.cluster
    neighbours = switch_ports(cluster, draft.layers)
    kinds = tuple(dict.fromkeys((*stated.switches, *stated.kinds.recognised(n for _, n in neighbours))))
    guests = guests_of(cluster, stated, kinds)
    return replace(
        draft,
        neighbours=neighbours,
        kinds=stated.kinds,
        switches=kinds,
        aggregated=aggregated(cluster, draft.layers),
        switch_order=order_of_switches(cluster, draft.layers, neighbours, stated, guests),
        guests=guests,
        maybe_guests=maybe_guests(cluster, stated, kinds),
        hosts=stated.hosts,
        hypervisor_order=order_of_hypervisors(guests, stated.kinds.hypervisors),
        fragile=tuple(
            Fragile(node, line, wanted)
            for node in draft.nodes
            for line, wanted in fragile_of(cluster, node, draft.layers)
        ),
        inheriting=inheriting(cluster, draft.layers),
    )


def _steps(draft: Draft) -> Iterator[Step]:
    yield people.agree(draft)
    yield before.baseline(draft)
    yield before.backups(draft)
    yield people.console_access(draft)
    yield from outside.steps(draft, after_stop=False)
    yield outage.stack_down(draft)
    yield from outside.steps(draft, after_stop=True)
    yield outage.set_mtu(draft)
    yield outage.survives_boot(draft)
    yield outage.prove_paths(draft)
    yield starting.first_node(draft)
    yield starting.other_nodes(draft)
    yield from starting.databases(draft)
    yield after.interconnect(draft)
    yield after.compare(draft)
    yield people.sign_off(draft)
