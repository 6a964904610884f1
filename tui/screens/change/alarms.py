"""Unexpected changes of the cluster during a change: displayed above everything else until a check of the gate
passes."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.change_events import GateResult, ObservedState, RolledBack, Surprise, Surprised, Verified
from checks.change.change_plan import Plan
from checks.change.state import Change
from tui.screens.change.command_keys import next_steps_with_keys
from tui.text.gate_lines import step_by_step
from tui.text.line import Line, hanging

_MOST = 5


def standing_alarms(change: Change) -> tuple[Surprised, ...]:
    """Return the surprises since the last check of a gate that passed without a surprise, dangerous ones first.

    The result excludes surprises that the newest check shows to be over. It is empty once the change is over."""
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


def alarm_lines(change: Change, width: int) -> Iterator[Line]:
    """Yield the alarms in full, dangerous ones with what to do; of many, the first ones and the number of the
    others."""
    alarms = standing_alarms(change)
    for alarm in alarms[:_MOST]:
        yield from _alarm(alarm, change, width)
    if len(alarms) > _MOST:
        yield [(f" ! and {len(alarms) - _MOST} more unexpected changes: Enter shows all.", "warn")]


def all_alarm_lines(change: Change, width: int) -> Iterator[Line]:
    """Yield every alarm in full."""
    for alarm in standing_alarms(change):
        yield from _alarm(alarm, change, width)


def _alarm(alarm: Surprised, change: Change, width: int) -> Iterator[Line]:
    start, role = ("DANGER ", "fail") if alarm.dangerous else ("!", "warn")
    if not alarm.dangerous and _has_passed(change):
        start, role = "·", "accent"  # such as a boot that a step requires: worth knowing, and nothing is wrong
    yield from hanging([(f" {start} ", role)], alarm.sentence.removeprefix("DANGER: "), width, role)
    if alarm.dangerous and (same := _same_in_gate(alarm, change)):
        yield from step_by_step(next_steps_with_keys(same.next), 9, width)


def _same_in_gate(alarm: Surprised, change: Change) -> GateResult | None:
    """Return the result of the last checked gate with the same sentence: it has the next steps."""
    last = _last_check(change)
    return next((r for r in last.results if r.sentence == alarm.sentence), None) if last else None


def _has_passed(change: Change) -> bool:
    last = _last_check(change)
    return last is not None and last.passed


def _last_check(change: Change) -> Verified | None:
    return next((line.event for line in reversed(change.lines) if isinstance(line.event, Verified)), None)


def _is_over(alarm: Surprised, change: Change) -> bool:
    observed = change.look
    match alarm.what:
        case Surprise.LIVE_CHANGE:
            # The MTUs from when the change was opened, also during a rollback, whose target they are.
            return _is_all_down(observed, change) or _has(observed, alarm.node, change.opened, after=False)
        case Surprise.STACK_STARTED:
            return observed.running.get(alarm.node) is False
        case Surprise.MTU_LOST:
            return _has(observed, alarm.node, change.plan, after=True)
    return False


def _is_all_down(observed: ObservedState, change: Change) -> bool:
    return all(observed.running.get(node) is False for node in change.plan.nodes)


def _has(observed: ObservedState, node: str, plan: Plan, *, after: bool) -> bool:
    """Return whether the node was last observed with the MTUs from after the plan, or from before it."""
    seen = observed.mtus.get(node, {})
    layers = [layer for layer in plan.layers if layer.node == node]
    return bool(layers) and all(
        seen.get(layer.interface) == (layer.mtu_after if after else layer.mtu_before) for layer in layers
    )
