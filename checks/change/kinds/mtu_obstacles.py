"""The obstacles to a change of the MTU: what the NICs, the boot configuration and the checks say against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.plan import codes
from checks.change.plan.change_plan import Layer
from checks.change.plan.fixed_findings import is_fixed
from checks.change.plan.layers import has_address, interface_of, layers_of
from checks.change.plan.mtu_limits import limits
from checks.change.plan.next_boot_limits import keeping
from checks.change.plan.obstacles import Obstacle, obstacle
from checks.change.plan.preflight import common_obstacles, in_order
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep
from checks.model.report import Report
from checks.model.wording import listed


def mtu_obstacles(report: Report, target: int) -> tuple[Obstacle, ...]:
    """Return all obstacles to an MTU of `target` bytes, accepted or not: first those that cannot be accepted."""
    cluster = report.cluster
    layers = layers_of(cluster, target)

    def fixed(finding: Finding) -> bool:
        return is_fixed(finding, cluster, target)

    def hint(finding: Finding) -> str:
        also = [f for f in report.joined_with(finding) if fixed(f)]
        return f"This finding belongs to another one that the change fixes: {also[0].title}" if also else ""

    return in_order(
        (
            *common_obstacles(report, fixed, hint),
            *limits(cluster, target, layers),
            *public_below(cluster, layers),
            *_nothing_to_do(target, layers),
            *keeping(cluster, layers),
        )
    )


def public_below(cluster: Cluster, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    """Yield an obstacle for each parent or bond of a private interface that has an address of its own and changes."""
    for layer in layers:
        interface = interface_of(cluster, layer)
        if (
            interface
            and layer.role not in ("port", "member")
            and layer.mtu_after != layer.mtu_before
            and has_address(interface)
        ):
            addresses = listed(a.ip for a in interface.addresses)
            yield obstacle(
                codes.PUBLIC_BELOW,
                f"{layer.interface} of {layer.node} carries a private network and has an address of its own "
                f"({addresses}). Raising it would also raise the network of that address, which racwire does not plan.",
                "Plan the change with the network team: untagged and tagged traffic of that port change together.",
            )


def _nothing_to_do(target: int, layers: Sequence[Layer]) -> Iterator[Obstacle]:
    if layers and all(layer.mtu_before == layer.mtu_after for layer in layers):
        yield obstacle(
            codes.NOTHING_TO_DO,
            f"Every private network has MTU {target} on every node already.",
            NextStep("Test whether this MTU passes on every path.", ("racwire check mtu-consistency df-ping",)),
            NextStep(
                "Check the boot configuration, which can be fixed without an outage.", ("racwire check boot-mtu",)
            ),
        )
