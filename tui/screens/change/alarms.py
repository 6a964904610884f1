"""What changed under a change and is not over yet: shown above everything else until a look finds all well again."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.change_events import GateResult, ObservedState, RolledBack, Surprise, Surprised, Verified
from checks.change.change_plan import Plan
from checks.change.state import Change
from tui.screens.change.change_words import next_in_keys
from tui.text.gate_lines import step_by_step
from tui.text.line import Line, hanging

_MOST = 5


def standing_alarms(change: Change) -> tuple[Surprised, ...]:
    """The surprises since the last look that passed and was surprised by nothing, without those that the newest look
    shows to be over; the dangerous ones first. None once the change is over."""
    alarms: list[Surprised] = []
    since_look: list[Surprised] = []
    for line in change.lines if change.is_open else ():
        match line.event:
            case Surprised():
                since_look.append(line.event)
            case Verified(passed=passed):
                alarms = [*(() if passed and not since_look else alarms), *since_look]
                since_look = []
            case RolledBack():  # what was to be is not to be any more; what is dangerous still is
                alarms = [alarm for alarm in alarms if alarm.dangerous]
                since_look = [alarm for alarm in since_look if alarm.dangerous]
    left = dict.fromkeys([*(alarm for alarm in alarms if not _is_over(alarm, change)), *since_look])
    return tuple(sorted(left, key=lambda alarm: not alarm.dangerous))


def alarm_lines(change: Change, width: int) -> Iterator[Line]:
    """They in full, the dangerous ones with what to do; of many, the first, and how many more there are."""
    alarms = standing_alarms(change)
    for alarm in alarms[:_MOST]:
        yield from _alarm(alarm, change, width)
    if len(alarms) > _MOST:
        yield [(f" ! and {len(alarms) - _MOST} more unexpected changes: Enter shows all.", "warn")]


def all_alarm_lines(change: Change, width: int) -> Iterator[Line]:
    """Every one of them, for reading."""
    for alarm in standing_alarms(change):
        yield from _alarm(alarm, change, width)


def _alarm(alarm: Surprised, change: Change, width: int) -> Iterator[Line]:
    start, role = ("DANGER ", "fail") if alarm.dangerous else ("!", "warn")
    if not alarm.dangerous and _has_passed(change):
        start, role = "·", "accent"  # such as a boot that a step asked for: worth knowing, and nothing is wrong
    yield from hanging([(f" {start} ", role)], alarm.sentence.removeprefix("DANGER: "), width, role)
    if alarm.dangerous and (same := _same_in_gate(alarm, change)):
        yield from step_by_step(next_in_keys(same.next), 9, width)


def _same_in_gate(alarm: Surprised, change: Change) -> GateResult | None:
    """What the gate that was looked at last says of the same: it knows what to do."""
    seen = _last_look(change)
    return next((r for r in seen.results if r.sentence == alarm.sentence), None) if seen else None


def _has_passed(change: Change) -> bool:
    look = _last_look(change)
    return look is not None and look.passed


def _last_look(change: Change) -> Verified | None:
    return next((line.event for line in reversed(change.lines) if isinstance(line.event, Verified)), None)


def _is_over(alarm: Surprised, change: Change) -> bool:
    look = change.look
    match alarm.what:
        case Surprise.LIVE_CHANGE:
            # What it was when the change was opened, also where the way back is followed, whose aim that is.
            return _is_all_down(look, change) or _has(look, alarm.node, change.opened, after=False)
        case Surprise.STACK_STARTED:
            return look.running.get(alarm.node) is False
        case Surprise.MTU_LOST:
            return _has(look, alarm.node, change.plan, after=True)
    return False


def _is_all_down(look: ObservedState, change: Change) -> bool:
    return all(look.running.get(node) is False for node in change.plan.nodes)


def _has(look: ObservedState, node: str, plan: Plan, *, after: bool) -> bool:
    """Whether the node was last seen with the MTUs of after the plan, or of before it."""
    seen = look.mtus.get(node, {})
    layers = [layer for layer in plan.layers if layer.node == node]
    return bool(layers) and all(
        seen.get(layer.interface) == (layer.mtu_after if after else layer.mtu_before) for layer in layers
    )
