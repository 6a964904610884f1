"""Unexpected changes of the cluster during a change: displayed above everything else until a check of the gate
passes."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.progress.change_events import GateResult, Surprised, Verified
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change
from tui.text.gate_lines import step_by_step
from tui.text.line import Line, hanging
from tui.text.own_keys import KEYS

_MOST = 5


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
    yield from hanging([(f" {start} ", role)], alarm.sentence, width, role)
    if alarm.dangerous and (same := _same_in_gate(alarm, change)):
        yield from step_by_step(same.next, 9, width, KEYS)


def _same_in_gate(alarm: Surprised, change: Change) -> GateResult | None:
    """Return the danger of the same node in the last checked gate: it has the next steps."""
    last = _last_check(change)
    return next((r for r in last.results if r.is_danger and r.node == alarm.node), None) if last else None


def _has_passed(change: Change) -> bool:
    last = _last_check(change)
    return last is not None and last.passed


def _last_check(change: Change) -> Verified | None:
    return next((line.event for line in reversed(change.lines) if isinstance(line.event, Verified)), None)
