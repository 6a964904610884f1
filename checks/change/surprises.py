"""Unexpected changes of the cluster since the last verification: a boot, another MTU, a started stack. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from checks.change.change_events import ObservedState, Surprise, Surprised
from checks.change.change_plan import Layer
from checks.change.gates import GateContext, looked_at
from checks.change.gates.mtu_gates import VANISH, is_harmless
from checks.model.report import Report
from checks.model.wording import listed

_SET_MTU, _SURVIVES, _STOPPED = "set-mtu", "survives-boot", "stack-down"


def surprises(context: GateContext, now: ObservedState, report: Report) -> Iterator[Surprised]:
    """Yield each unexpected difference from the last verification, once for each node."""
    before = context.change.look
    running = [node for node in context.plan.nodes if now.running.get(node)]
    for node in context.plan.nodes:
        moved = _moved(context, node, before, now)
        boots = before.boot_ids.get(node), now.boot_ids.get(node)
        if all(boots) and boots[0] != boots[1]:
            yield _booted(context, node, now, running, report)
        elif moved and running:
            yield _live(context, node, moved, before, now, running)
        elif moved and not _is_to_be(context, moved, now):
            yield Surprised(Surprise.MTU_LOST, node, _lost(context, node, moved, before, now))
        if now.running.get(node) and before.running.get(node) is False and node in _must_be_down(context):
            yield _started(context, node, now)


def _moved(context: GateContext, node: str, before: ObservedState, now: ObservedState) -> list[Layer]:
    """The layers whose MTU differs from the last verification."""
    old, new = before.mtus.get(node, {}), now.mtus.get(node, {})
    return [
        layer
        for layer in context.layers(node)
        if layer.interface in old and layer.interface in new and old[layer.interface] != new[layer.interface]
    ]


def _is_to_be(context: GateContext, moved: list[Layer], now: ObservedState) -> bool:
    """Whether the plan expects this change of MTUs at this step: while MTUs are set, or to the planned values."""
    position = context.plan.position(context.step.id)
    if position < context.plan.position(_STOPPED) < len(context.plan.steps):
        return False
    if context.step.id in (_SET_MTU, _STOPPED):
        return True
    return all(now.mtus[layer.node][layer.interface] == layer.mtu_after for layer in moved)


def _booted(context: GateContext, node: str, now: ObservedState, running: list[str], report: Report) -> Surprised:
    """Return the event of a boot: dangerous if the node lost its MTU while Clusterware runs."""
    mtus = now.mtus.get(node, {})
    layers = [layer for layer in context.layers(node) if layer.interface in mtus]
    wrong = [layer for layer in layers if mtus[layer.interface] != layer.mtu_after] if _is_set(context) else []
    required = ", as this step requires," if context.step.id == _SURVIVES else ""
    when = _time_of(context, node, report)
    named = wrong or layers
    alike: dict[int, list[str]] = {}
    for layer in named:
        alike.setdefault(mtus[layer.interface], []).append(layer.interface)
    came_back = listed(f"{listed(names)} at MTU {mtu}" for mtu, names in alike.items())
    sentence = f"{node} was booted{when}{required}" + (f" and came back with {came_back}" if named else "")
    if wrong:
        sentence += ": the boot configuration does not set the planned MTU"
    danger = bool(wrong and running)
    if danger:
        sentence += f", while Clusterware runs on {listed(running)}. {VANISH}".removesuffix(".")
    return Surprised(Surprise.REBOOTED, node, f"{sentence}.", danger)


def _is_set(context: GateContext) -> bool:
    """Whether the step set-mtu is done, so that all nodes had the planned MTU."""
    position = context.plan.position(_SET_MTU)
    if position == len(context.plan.steps):
        return False
    return context.change.standing(context.plan.steps[position]).is_behind


def _time_of(context: GateContext, node: str, report: Report) -> str:
    """Return the time of the boot as ` at 18:02`, in the zone of the local node; empty if it is not known.

    A time before the start of the change is not the time of this boot: the clock is wrong, or it is a container's.
    """
    setup = report.cluster.setup(node)
    if setup is None or not isinstance(setup.booted_at, str):
        return ""
    try:
        booted = datetime.fromisoformat(setup.booted_at)
        if booted < datetime.fromisoformat(context.change.lines[0].at):
            return ""
        return f" at {booted.astimezone(datetime.fromisoformat(report.started_at).tzinfo):%H:%M}"
    except (ValueError, TypeError):
        return ""


def _live(
    context: GateContext, node: str, moved: list[Layer], before: ObservedState, now: ObservedState, running: list[str]
) -> Surprised:
    """Return the event of an MTU changed while Clusterware runs: dangerous unless it was set back, or is harmless."""
    change = f"{_change(node, moved, before, now)} while Clusterware runs on {listed(running)}"
    # A rollback that sets no MTU must find the old MTU, which is its `mtu_after`.
    is_set = _is_set(context) or context.plan.position(_SET_MTU) == len(context.plan.steps)
    if all(now.mtus[node][m.interface] == (m.mtu_after if is_set else m.mtu_before) for m in moved):
        return Surprised(Surprise.OTHER, node, f"{change}: the MTU is right again.")
    if not is_set and is_harmless(moved, now.mtus[node]):
        return Surprised(Surprise.OTHER, node, f"{change}; the private interfaces above still have their old MTU.")
    return Surprised(Surprise.LIVE_CHANGE, node, f"{change}. {VANISH} Set the MTU back at once.", dangerous=True)


def _lost(context: GateContext, node: str, moved: list[Layer], before: ObservedState, now: ObservedState) -> str:
    planned = listed(dict.fromkeys(str(layer.mtu_after) for layer in moved))
    wanted = f"the plan is MTU {planned}" if _is_set(context) else "the change has not reached the step set-mtu yet"
    return f"{_change(node, moved, before, now)}; {wanted}."


def _change(node: str, moved: list[Layer], before: ObservedState, now: ObservedState) -> str:
    """Return `eth1 of rac2 was changed from MTU 9000 to 1500`; layers with the same change are listed together."""
    alike: dict[tuple[int, int], list[str]] = {}
    for layer in moved:
        key = before.mtus[node][layer.interface], now.mtus[node][layer.interface]
        alike.setdefault(key, []).append(layer.interface)
    return listed(
        f"{listed(names)} of {node} {'was' if len(names) == 1 else 'were'} changed from MTU {old} to {new}"
        for (old, new), names in alike.items()
    )


def _must_be_down(context: GateContext) -> frozenset[str]:
    """The nodes where Clusterware must be down at this step."""
    gates = [gate for gate in looked_at(context.change, context.step) if gate.check == "stack-down"]
    return frozenset(node for gate in gates for node in gate.nodes or context.plan.nodes)


def _started(context: GateContext, node: str, now: ObservedState) -> Surprised:
    differ = _differ(context, now)
    if differ:
        sentence = (
            f"Clusterware was started on {node} while the nodes have different MTUs. {VANISH} Stop Clusterware at once."
        )
    else:
        sentence = f"Clusterware was started on {node} too early: this step requires it to be down."
    return Surprised(Surprise.STACK_STARTED, node, sentence, dangerous=differ)


def _differ(context: GateContext, now: ObservedState) -> bool:
    """Whether the ports of a private network have different MTUs, as far as they are known."""
    for network in context.plan.networks:
        mtus = {
            mtu
            for layer in context.plan.layers
            if layer.role == "port" and network.name in layer.networks
            if (mtu := now.mtus.get(layer.node, {}).get(layer.interface)) is not None
        }
        if len(mtus) > 1:
            return True
    return False
