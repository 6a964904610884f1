"""How the cluster changed under a change since it was looked at last: booted, changed, started by somebody. No I/O."""

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


def surprises(scene: GateContext, now: ObservedState, report: Report) -> Iterator[Surprised]:
    """Each once: what is different from the last look, node by node."""
    before = scene.change.look
    running = [node for node in scene.plan.nodes if now.running.get(node)]
    for node in scene.plan.nodes:
        moved = _moved(scene, node, before, now)
        boots = before.boot_ids.get(node), now.boot_ids.get(node)
        if all(boots) and boots[0] != boots[1]:
            yield _booted(scene, node, now, running, report)
        elif moved and running:
            yield _live(scene, node, moved, before, now, running)
        elif moved and not _is_to_be(scene, moved, now):
            yield Surprised(Surprise.MTU_LOST, node, _lost(scene, node, moved, before, now))
        if now.running.get(node) and before.running.get(node) is False and node in _must_be_down(scene):
            yield _started(scene, node, now)


def _moved(scene: GateContext, node: str, before: ObservedState, now: ObservedState) -> list[Layer]:
    """The layers whose MTU is another one than at the last look."""
    old, new = before.mtus.get(node, {}), now.mtus.get(node, {})
    return [
        layer
        for layer in scene.layers(node)
        if layer.interface in old and layer.interface in new and old[layer.interface] != new[layer.interface]
    ]


def _is_to_be(scene: GateContext, moved: list[Layer], now: ObservedState) -> bool:
    """Whether a move is what the plan asks for at this step: while MTUs are being set, towards what was planned."""
    position = scene.plan.position(scene.step.id)
    if position < scene.plan.position(_STOPPED) < len(scene.plan.steps):
        return False
    if scene.step.id in (_SET_MTU, _STOPPED):
        return True
    return all(now.mtus[layer.node][layer.interface] == layer.mtu_after for layer in moved)


def _booted(scene: GateContext, node: str, now: ObservedState, running: list[str], report: Report) -> Surprised:
    """An expected boot is told, and not alarming; one that lost the MTU is."""
    mtus = now.mtus.get(node, {})
    layers = [layer for layer in scene.layers(node) if layer.interface in mtus]
    wrong = [layer for layer in layers if mtus[layer.interface] != layer.mtu_after] if _is_set(scene) else []
    asked = ", as this step asks," if scene.step.id == _SURVIVES else ""
    when = _time_of(scene, node, report)
    told = wrong or layers
    alike: dict[int, list[str]] = {}
    for layer in told:
        alike.setdefault(mtus[layer.interface], []).append(layer.interface)
    came_back = listed(f"{listed(names)} at {mtu}" for mtu, names in alike.items())
    sentence = f"{node} was booted{when}{asked}" + (f" and came back with {came_back}" if told else "")
    if wrong:
        sentence += f": {'its' if len(wrong) == 1 else 'their'} MTU was not kept"
    danger = bool(wrong and running)
    if danger:
        sentence += f", while Clusterware runs on {listed(running)}. {VANISH}".removesuffix(".")
    return Surprised(Surprise.REBOOTED, node, f"{sentence}.", danger)


def _is_set(scene: GateContext) -> bool:
    """Whether the nodes were all at the planned MTU once."""
    position = scene.plan.position(_SET_MTU)
    if position == len(scene.plan.steps):
        return False
    return scene.change.standing(scene.plan.steps[position]).is_behind


def _time_of(scene: GateContext, node: str, report: Report) -> str:
    """` at 18:02`, in the zone of the node that racwire runs on. A time from before the last look is no time of this
    boot: a clock that is wrong, or a container's."""
    setup = report.cluster.setup(node)
    if setup is None or not isinstance(setup.booted_at, str):
        return ""
    try:
        booted = datetime.fromisoformat(setup.booted_at)
        if booted < datetime.fromisoformat(scene.change.lines[0].at):
            return ""
        return f" at {booted.astimezone(datetime.fromisoformat(report.started_at).tzinfo):%H:%M}"
    except (ValueError, TypeError):
        return ""


def _live(
    scene: GateContext, node: str, moved: list[Layer], before: ObservedState, now: ObservedState, running: list[str]
) -> Surprised:
    """One that is set back to what it has to be is told, too, and alarms nobody."""
    change = f"{_change(node, moved, before, now)} while Clusterware runs on {listed(running)}"
    # A way back that sets nothing has to find what was before, which is what it calls after.
    is_set = _is_set(scene) or scene.plan.position(_SET_MTU) == len(scene.plan.steps)
    if all(now.mtus[node][m.interface] == (m.mtu_after if is_set else m.mtu_before) for m in moved):
        return Surprised(Surprise.OTHER, node, f"{change}: it is as it has to be again.")
    if not is_set and is_harmless(moved, now.mtus[node]):
        return Surprised(Surprise.OTHER, node, f"{change}; the private interfaces above have the MTU that they had.")
    return Surprised(Surprise.LIVE_CHANGE, node, f"{change}. {VANISH} Set it back at once.", dangerous=True)


def _lost(scene: GateContext, node: str, moved: list[Layer], before: ObservedState, now: ObservedState) -> str:
    planned = listed(dict.fromkeys(str(layer.mtu_after) for layer in moved))
    wanted = f"{planned} was planned" if _is_set(scene) else "the step that changes it has not come yet"
    return f"{_change(node, moved, before, now)}; {wanted}."


def _change(node: str, moved: list[Layer], before: ObservedState, now: ObservedState) -> str:
    """`eth1 of rac2 was changed from 9000 to 1500`, with the layers that were changed alike told together."""
    alike: dict[tuple[int, int], list[str]] = {}
    for layer in moved:
        key = before.mtus[node][layer.interface], now.mtus[node][layer.interface]
        alike.setdefault(key, []).append(layer.interface)
    return listed(
        f"{listed(names)} of {node} {'was' if len(names) == 1 else 'were'} changed from {old} to {new}"
        for (old, new), names in alike.items()
    )


def _must_be_down(scene: GateContext) -> frozenset[str]:
    """The nodes on which nothing may run at this step."""
    gates = [gate for gate in looked_at(scene.change, scene.step) if gate.check == "stack-down"]
    return frozenset(node for gate in gates for node in gate.nodes or scene.plan.nodes)


def _started(scene: GateContext, node: str, now: ObservedState) -> Surprised:
    differ = _differ(scene, now)
    if differ:
        sentence = f"Clusterware was started on {node} while the nodes do not have one MTU. {VANISH} Stop it at once."
    else:
        sentence = f"Clusterware was started on {node}, before its turn."
    return Surprised(Surprise.STACK_STARTED, node, sentence, dangerous=differ)


def _differ(scene: GateContext, now: ObservedState) -> bool:
    """Whether some private network has ports of different MTU, as far as they are known."""
    for network in scene.plan.networks:
        mtus = {
            mtu
            for layer in scene.plan.layers
            if layer.role == "port" and network.name in layer.networks
            if (mtu := now.mtus.get(layer.node, {}).get(layer.interface)) is not None
        }
        if len(mtus) > 1:
            return True
    return False
