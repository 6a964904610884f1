"""Unexpected changes of the cluster since the last verification: a boot, another MTU, a started stack. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from checks.change.gates import GateContext, looked_at
from checks.change.gates.boot_gates import ways_of_keeping
from checks.change.gates.mtu_gates import VANISH, is_harmless
from checks.change.plan.change_plan import Layer, Plan
from checks.change.progress.boot_proofs import boot_proofs
from checks.change.progress.change_events import Booted, ObservedState, Surprise, Surprised
from checks.change.progress.wanted import MtuDemand, at_risk, demand, differ, is_stopped, mtus, stops_first
from checks.change.steps.experiment_steps import CHANGE
from checks.model.report import Report
from checks.model.wording import listed

_SURVIVES = "survives-boot"
_NO_PORT_DIFFERS = "no port of the private networks differs from the others now"


def surprises(context: GateContext, now: ObservedState, report: Report) -> Iterator[Surprised | Booted]:
    """Yield each unexpected difference from the last verification, once for each node, and the boots that the step asks
    for."""
    before = context.change.look
    for node in context.plan.nodes:
        running = at_risk(context.plan, node, now.running)
        moved = _moved(context, node, before, now)
        boots = before.boot_ids.get(node), now.boot_ids.get(node)
        if all(boots) and boots[0] != boots[1]:
            yield _booted(context, node, now, running, report)
        elif moved and running and not _by_own_change(context, moved, now):
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
    """Whether the plan expects this change of MTUs while nothing runs: until set-mtu is done, or to the planned MTU."""
    if not _may_change(context.plan, moved[0].node):
        return _is_wanted(context, moved, now)
    match demand(context.change):
        case MtuDemand.BEFORE:
            return is_stopped(context.change)
        case MtuDemand.EITHER:
            return True
    return _is_wanted(context, moved, now)


def _may_change(plan: Plan, node: str) -> bool:
    """Whether the plan changes the MTU of this node."""
    return plan.node in ("", node)


def _by_own_change(context: GateContext, moved: list[Layer], now: ObservedState) -> bool:
    """Whether the step of an experiment that leads to a change of its own explains other MTUs: that change stopped
    Clusterware for them, and proved them."""
    return _in_own_change(context) and _is_wanted(context, moved, now) and not _are_mixed(context, now)


def _in_own_change(context: GateContext) -> bool:
    return context.change.opened.experiment is not None and context.step.id == CHANGE


def _are_mixed(context: GateContext, now: ObservedState) -> bool:
    return differ(context.plan, now.mtus, now.running)


def _ends_here(context: GateContext, node: str, now: ObservedState) -> bool:
    """Whether a node has the MTUs that a plan of one node ends with: a rollback ends with different MTUs."""
    if not context.plan.node or demand(context.change) is MtuDemand.BEFORE:
        return False
    seen = now.mtus.get(node, {})
    return all(seen.get(layer.interface) == layer.mtu_after for layer in context.layers(node))


def _is_wanted(context: GateContext, layers: list[Layer], now: ObservedState) -> bool:
    """Whether the plan wants these layers of a node as they are now."""
    return all(now.mtus[layer.node][layer.interface] in mtus(context.change, layer) for layer in layers)


def _booted(
    context: GateContext, node: str, now: ObservedState, running: tuple[str, ...], report: Report
) -> Surprised | Booted:
    """Return the event of a boot: as planned if the step asks for it and the node came back right, dangerous if it came
    back with an unwanted MTU while Clusterware runs."""
    seen = now.mtus.get(node, {})
    layers = [layer for layer in context.layers(node) if layer.interface in seen]
    wrong = [layer for layer in layers if not _is_wanted(context, [layer], now)]
    now_is = demand(context.change)
    if now_is is MtuDemand.BEFORE and is_harmless(wrong, seen):
        wrong = []
    is_asked = _is_asked(context, node) or _in_own_change(context)
    why = "by the change of this step" if _in_own_change(context) else "as this step requires"
    required = f", {why}," if is_asked else ""
    when = _time_of(context, node, report)
    named = wrong or layers
    alike: dict[int, list[str]] = {}
    for layer in named:
        alike.setdefault(seen[layer.interface], []).append(layer.interface)
    came_back = listed(f"{listed(names)} at MTU {mtu}" for mtu, names in alike.items())
    sentence = f"{node} was booted{when}{required}" + (f" and came back with {came_back}" if named else "")
    if wrong and now_is is MtuDemand.AFTER:
        sentence += ": the boot configuration does not set the planned MTU"
    elif wrong:
        sentence += f": {_until_set(context, wrong)}"
    is_mixed = _are_mixed(context, now)
    cuts = {
        MtuDemand.BEFORE: bool(wrong) and (is_mixed or not context.plan.node),
        MtuDemand.EITHER: is_mixed and not _ends_here(context, node, now),
        MtuDemand.AFTER: bool(wrong) and is_mixed,
    }
    danger = bool(running) and cuts[now_is]
    if danger:
        cure = _cure(context, node, wrong, running)
        sentence += f", while Clusterware runs on {listed(running)}. {VANISH} {cure}"
        return Surprised(Surprise.REBOOTED, node, sentence, dangerous=True)
    if is_asked and not wrong:
        return Booted(node, f"{sentence}.")
    return Surprised(Surprise.REBOOTED, node, f"{sentence}.")


def _cure(context: GateContext, node: str, layers: list[Layer], running: tuple[str, ...]) -> str:
    """Return what ends the danger of these layers: to stop Clusterware, or to set their MTU back."""
    if stops_first(context.change, node):
        return f"Stop Clusterware on {listed(running)} at once."
    return f"Set the MTU back to {_values(context, layers)} at once."


def _is_asked(context: GateContext, node: str) -> bool:
    """Whether the current step asks for a boot of this node: it needs one boot for each kind of network configuration,
    and another boot of a node that came back wrong. A later boot has no such reason."""
    if context.step.id != _SURVIVES:
        return False
    proofs = boot_proofs(context.change)
    if not _may_change(context.plan, node):
        return False
    own = proofs.get(node)
    if own is not None and own.lost_the_mtu:
        return True
    kind = ways_of_keeping(context, node)
    return not any(
        proof.proved_by
        for other, proof in proofs.items()
        if ways_of_keeping(context, other) == kind and _may_change(context.plan, other)
    )


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
    context: GateContext,
    node: str,
    moved: list[Layer],
    before: ObservedState,
    now: ObservedState,
    running: tuple[str, ...],
) -> Surprised:
    """Return the event of an MTU changed while Clusterware runs: dangerous unless it was set back, or is harmless."""
    change = f"{_change(node, moved, before, now)} while Clusterware runs on {listed(running)}"
    now_is = demand(context.change)
    is_mixed = _are_mixed(context, now)
    if _ends_here(context, node, now) or (
        _is_wanted(context, moved, now) and not (is_mixed and now_is is MtuDemand.EITHER)
    ):
        again = _NO_PORT_DIFFERS if now_is is MtuDemand.EITHER and not is_mixed else "the MTU is right again"
        return Surprised(Surprise.OTHER, node, f"{change}: {again}.")
    if now_is is MtuDemand.BEFORE and is_harmless(moved, now.mtus[node]):
        return Surprised(Surprise.OTHER, node, f"{change}; the private interfaces above still have their old MTU.")
    if not is_mixed and (now_is is MtuDemand.AFTER or context.plan.node):
        planned = f"the plan is MTU {_values(context, moved)}"
        return Surprised(Surprise.OTHER, node, f"{change}; {planned}, and {_NO_PORT_DIFFERS}.")
    cure = _cure(context, node, moved, running)
    return Surprised(Surprise.LIVE_CHANGE, node, f"{change}. {VANISH} {cure}", dangerous=True)


def _lost(context: GateContext, node: str, moved: list[Layer], before: ObservedState, now: ObservedState) -> str:
    is_early = demand(context.change) is MtuDemand.BEFORE
    wanted = _until_set(context, moved) if is_early else f"the plan is MTU {_values(context, moved)}"
    return f"{_change(node, moved, before, now)}; {wanted}."


def _until_set(context: GateContext, layers: list[Layer]) -> str:
    return f"until the step set-mtu, the plan is MTU {_values(context, layers)}"


def _values(context: GateContext, layers: list[Layer]) -> str:
    """Return the MTUs that the plan wants of these layers now: `9000`."""
    return listed(dict.fromkeys(str(mtu) for layer in layers for mtu in mtus(context.change, layer)))


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
    is_mixed = _are_mixed(context, now)
    if (context.plan.node and demand(context.change) is MtuDemand.BEFORE) or _ends_here(context, node, now):
        is_mixed = False  # it ran with this MTU when the plan was made, or the rollback leaves it so
    if is_mixed:
        wanted = _values(context, [layer for layer in context.plan.layers if layer.role == "port"])
        cure = "Stop Clusterware" if stops_first(context.change, node) else f"Set MTU {wanted} on every node"
        sentence = f"Clusterware was started on {node} while the nodes have different MTUs. {VANISH} {cure} at once."
    else:
        sentence = f"Clusterware was started on {node} too early: this step requires it to be down."
    return Surprised(Surprise.STACK_STARTED, node, sentence, dangerous=is_mixed)
