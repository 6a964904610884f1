"""Which unexpected changes of the cluster still stand: until a verification shows that they are over. No I/O."""

from __future__ import annotations

from checks.change.gates.mtu_gates import is_harmless
from checks.change.progress.change_events import RolledBack, Surprise, Surprised, Verified
from checks.change.progress.state import Change
from checks.change.progress.wanted import MtuDemand, agree, demand


def standing_alarms(change: Change) -> tuple[Surprised, ...]:
    """Return the surprises since the last verification that passed without a surprise, dangerous ones first.

    The result excludes surprises that the newest verification shows to be over. It is empty once the change is over.
    """
    alarms: list[Surprised] = []
    since_check: list[Surprised] = []
    for line in change.lines if change.is_open else ():
        match line.event:
            case Surprised():
                since_check.append(line.event)
            case Verified(passed=passed):
                alarms = [*(() if passed and not since_check else alarms), *since_check]
                since_check = []
            case RolledBack():  # the target is another one; what is dangerous stays dangerous
                alarms = [alarm for alarm in alarms if alarm.dangerous]
                since_check = [alarm for alarm in since_check if alarm.dangerous]
    left = dict.fromkeys([*(alarm for alarm in alarms if not _is_over(alarm, change)), *since_check])
    return tuple(sorted(left, key=lambda alarm: not alarm.dangerous))


def _is_over(alarm: Surprised, change: Change) -> bool:
    match alarm.what:
        case Surprise.LIVE_CHANGE:
            return _is_down(alarm.node, change) or _is_harmless_now(alarm.node, change)
        case Surprise.REBOOTED:
            return alarm.dangerous and (_is_down(alarm.node, change) or _is_harmless_now(alarm.node, change))
        case Surprise.STACK_STARTED:
            is_equal = alarm.dangerous and (_agree(change) or _is_target_of_one_node(alarm.node, change))
            return is_equal or change.look.running.get(alarm.node) is False
        case Surprise.MTU_LOST:
            return _has(change, alarm.node, after=demand(change) is not MtuDemand.BEFORE)
    return False


def _is_down(node: str, change: Change) -> bool:
    """Whether nothing runs that a wrong MTU of the node can harm: on any node, or on that node of a plan of one."""
    nodes = (node,) if change.plan.node else change.plan.nodes
    return all(change.look.running.get(one) is False for one in nodes)


def _agree(change: Change) -> bool:
    return agree(change.plan, change.look.mtus, change.look.running)


def _is_harmless_now(node: str, change: Change) -> bool:
    """Whether the node has the MTUs that the plan wants now, or others without harm.

    Before the step set-mtu, interfaces below the private ones may be larger; later, all ports may be equal.
    """
    match demand(change):
        case MtuDemand.BEFORE:
            seen = change.look.mtus.get(node, {})
            moved = [
                one for one in change.plan.layers if one.node == node and seen.get(one.interface) != one.mtu_before
            ]
            is_same = is_harmless(moved, {one.interface: seen.get(one.interface) for one in moved})
            return is_same or (bool(change.plan.node) and _agree(change))
        case MtuDemand.EITHER:
            return _agree(change) or _is_target_of_one_node(node, change)
        case MtuDemand.AFTER:
            return _has(change, node, after=True) or _agree(change)


def _is_target_of_one_node(node: str, change: Change) -> bool:
    """Whether a node has the MTUs that a plan of one node ends with: its rollback ends with different MTUs."""
    if not change.plan.node or demand(change) is MtuDemand.BEFORE:
        return False
    return _has(change, node, after=True)


def _has(change: Change, node: str, *, after: bool) -> bool:
    """Whether the node was last seen with the MTUs from after the plan, or from before it."""
    seen = change.look.mtus.get(node, {})
    layers = [layer for layer in change.plan.layers if layer.node == node]
    return bool(layers) and all(
        seen.get(layer.interface) == (layer.mtu_after if after else layer.mtu_before) for layer in layers
    )
