"""What the plan wants of the nodes now, whichever step is open: a reopened step does not restore an earlier demand.

No I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from checks.change.plan.change_plan import Layer, Plan, PlannedNetwork, Registrations
from checks.change.progress.state import Change

STOPPED, REGISTER, NODE_UP = "stack-down", "register", "node-up"
"""The steps that stop Clusterware, that first change the registry of a running cluster, and that start one node."""
_SET_MTU, _STARTED = "set-mtu", "first-node"


class MtuDemand(StrEnum):
    """The MTU that the plan wants of every layer."""

    BEFORE = "before"
    """The MTU from before the plan: the change has not come to the step set-mtu."""
    EITHER = "either"
    """The one or the other, with Clusterware down: set-mtu is open for the first time, or a rollback is on its way to
    it."""
    AFTER = "after"
    """The planned MTU: set-mtu was done, or the plan has no such step."""


def demand(change: Change) -> MtuDemand:
    """Return what the plan wants of every layer now."""
    at = change.plan.position(_SET_MTU)
    if at == len(change.plan.steps) or change.reached > at:
        return MtuDemand.AFTER
    return MtuDemand.EITHER if change.reached == at or change.is_way_back else MtuDemand.BEFORE


def mtus(change: Change, layer: Layer) -> tuple[int, ...]:
    """Return the MTUs that the plan allows for a layer now."""
    allowed = {
        MtuDemand.BEFORE: (layer.mtu_before,),
        MtuDemand.EITHER: (layer.mtu_before, layer.mtu_after),
        MtuDemand.AFTER: (layer.mtu_after,),
    }
    return allowed[demand(change)]


def stops_first(change: Change, node: str) -> bool:
    """Whether the cure of a wrong MTU of a node while Clusterware runs is to stop Clusterware, not to set the MTU.

    This is so from the moment when Clusterware must be down on every node until the first node may start. A plan that
    stops nothing cures it by setting the MTU. A plan of one node stops that node, and no other.
    """
    if change.plan.node:
        return node == change.plan.node and demand(change) is not MtuDemand.BEFORE
    match demand(change):
        case MtuDemand.BEFORE:
            return False
        case MtuDemand.EITHER:
            return True
    plan, current = change.plan, change.current
    stop = plan.position(STOPPED)
    if stop == len(plan.steps):
        return False
    if plan.position(_SET_MTU) == len(plan.steps) and change.reached < stop:
        return False  # the plan changes no MTU, and nothing was to be stopped yet
    return change.reached < plan.position(_STARTED) or (current is not None and current.id == STOPPED)


def is_stopped(change: Change) -> bool:
    """Whether the change has come to the step that stops Clusterware, or to a later one."""
    at = change.plan.position(STOPPED)
    return at < len(change.plan.steps) and change.reached >= at


def plan_now(change: Change) -> Plan:
    """Return the plan with the private networks, and their layers, that it wants up on the nodes now."""
    plan = change.plan
    if not any(network.since or network.until for network in plan.networks):
        return plan
    networks = tuple(network for network in plan.networks if is_up_now(change, network))
    names = {network.name for network in networks}
    layers = tuple(layer for layer in plan.layers if not names.isdisjoint(layer.networks))
    return msgspec.structs.replace(plan, networks=networks, layers=layers)


def is_up_now(change: Change, network: PlannedNetwork) -> bool:
    """Return whether the plan wants a private network up on the nodes, from the furthest step on that was reached."""
    plan = change.plan
    if network.since and change.reached < plan.position(network.since):
        return False
    return not network.until or change.reached < plan.position(network.until)


def registrations(change: Change) -> Registrations:
    """Return what the plan wants in the registry, from the furthest step on that was reached."""
    plan = change.plan
    known = [step.registered for step in plan.steps[: change.reached + 1] if step.registered is not None]
    return known[-1] if known else Registrations(plan.interconnects, plan.asm_listeners)


def at_risk(plan: Plan, node: str, running: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the nodes where Clusterware is known to run, and that lose packets if this node has another MTU.

    While one node is changed the others run, and it harms none while it is down.
    """
    nodes = (node,) if plan.node else plan.nodes
    return tuple(one for one in nodes if running.get(one))


def differ(plan: Plan, seen: Mapping[str, Mapping[str, int]], running: Mapping[str, bool]) -> bool:
    """Whether ports of one private network have different MTUs, as far as they were read: by node, by interface.

    For a plan of one node, the ports of nodes that are known to be down do not count.
    """
    return any(len(set(known)) > 1 for known in _known(plan, seen, running))


def agree(plan: Plan, seen: Mapping[str, Mapping[str, int]], running: Mapping[str, bool]) -> bool:
    """Whether every port of the private networks was read, and has the MTU of its network's other ports."""
    ports = [layer for layer in plan.layers if layer.role == "port" and _counts(plan, layer.node, running)]
    return all(layer.interface in seen.get(layer.node, {}) for layer in ports) and not differ(plan, seen, running)


def _known(plan: Plan, seen: Mapping[str, Mapping[str, int]], running: Mapping[str, bool]) -> Iterator[list[int]]:
    """Yield the known MTUs of the ports of each private network."""
    for network in plan.networks:
        ports = (layer for layer in plan.layers if layer.role == "port" and network.name in layer.networks)
        counted = (port for port in ports if _counts(plan, port.node, running))
        yield [mtu for port in counted if (mtu := seen.get(port.node, {}).get(port.interface)) is not None]


def _counts(plan: Plan, node: str, running: Mapping[str, bool]) -> bool:
    return not plan.node or running.get(node, True)
