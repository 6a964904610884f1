"""The events of a change as sentences: for the log of a report, and for the operator who continues the change."""

from __future__ import annotations

from collections.abc import Iterable

from checks.change.plan.change_plan import ChangeKind, Minutes, Plan
from checks.change.progress.change_events import (
    AnyEvent,
    Attested,
    Begun,
    Booted,
    Closed,
    GateResult,
    Noted,
    ObservedState,
    Opened,
    Overridden,
    Reopened,
    RolledBack,
    Surprised,
    Verified,
)
from checks.change.progress.state import Change, StepStatus
from checks.model.finding import Status
from checks.model.wording import counted, listed

STEP_SIGNS = {StepStatus.DONE: "✓", StepStatus.OVERRIDDEN: "!", StepStatus.CURRENT: "▶", StepStatus.AHEAD: "·"}
"""The sign before a step, by its status."""
GATE_SIGNS = {
    Status.PASS: "✓",
    Status.INFO: "i",
    Status.SKIPPED: "i",
    Status.WARN: "✗",
    Status.FAIL: "✗",
    Status.UNKNOWN: "?",
}
"""The sign before a gate's result: it passed, is to be known and does not prevent the next step, prevents it, or is
unknown."""


def headline(plan: Plan) -> str:
    """Return the goal of a plan for a heading: `MTU 1500 → 9000`, `back to MTU 1500`, `rp_filter 2`."""
    if plan.goal:
        return plan.goal
    if plan.kind is ChangeKind.ROLLBACK:
        return f"back to MTU {plan.mtu_after}"
    return f"MTU {plan.mtu_before} → {plan.mtu_after}"


def place_of(change: Change) -> str:
    """Return where an open change is, for a heading: `change 6/15`, `rollback 2/9`; empty for a change that is over.

    When every step is done, it is at the last one: the signature closes it.
    """
    if not change.is_open:
        return ""
    steps = change.plan.steps
    number = change.plan.position(change.current.id) + 1 if change.current else len(steps)
    return f"{'rollback' if change.is_way_back else change.opened.noun} {number}/{len(steps)}"


def read_nodes(look: ObservedState) -> tuple[str, ...]:
    """Return the nodes of which a reading has anything."""
    return tuple(sorted({*look.boot_ids, *look.mtus, *look.running, *look.instances}))


def minutes_text(minutes: Minutes | None) -> str:
    """Return an estimate as text: `4 to 15 min, an estimate; it depends on the number of nodes`; empty for none."""
    if minutes is None:
        return ""
    return f"{minutes.least} to {minutes.most} min, an estimate; it depends on {minutes.depends_on}."


def minute(at: str) -> str:
    """Return a time of the journal without seconds and zone: `2026-11-20 18:02`."""
    return at[:16].replace("T", " ")


def gate_word(results: Iterable[GateResult], passed: bool) -> str:
    """Return the result of a gate's verification: `passed`, `not passed`, `could not tell`."""
    if passed:
        return "passed"
    waiting = [result for result in results if not result.holds]
    unknown = bool(waiting) and all(result.status is Status.UNKNOWN for result in waiting)
    return "could not tell" if unknown else "not passed"


def by_check(results: Iterable[GateResult]) -> dict[str, list[GateResult]]:
    """Return the results by check."""
    found: dict[str, list[GateResult]] = {}
    for result in results:
        found.setdefault(result.check, []).append(result)
    return found


def texts_by_check(results: Iterable[GateResult]) -> dict[str, list[str]]:
    """Return the short results by check, each once: `rac1 9000 kept`."""
    return {
        check: list(dict.fromkeys(" ".join(part for part in (r.node, r.text) if part) for r in found))
        for check, found in by_check(results).items()
    }


def sentence_of(event: AnyEvent) -> str:
    """Return one event of the journal as a sentence."""
    match event:
        case Opened(plan=plan):
            return f"Opened: {headline(plan)} on {', '.join(plan.nodes)}, {counted(len(plan.steps), 'step')}."
        case Begun(step=step, look=look):
            read = read_nodes(look)
            return f"{step} started; read right before: {listed(read) if read else 'no node could be read'}."
        case Verified(step=step, passed=passed, results=results):
            waiting = [_waiting(result) for result in results if not result.holds]
            details = f": {'; '.join(waiting)}" if waiting else ""
            return f"Gate of {step} verified: {gate_word(results, passed)}{details}."
        case Attested(step=step, by=by, note=note, host=host):
            return f"{by} attests {step}{f' for {host}' if host else ''}{_after_colon(note)}"
        case Overridden(step=step, by=by, reason=reason, not_held=not_held):
            details = f" ({'; '.join(map(_waiting, not_held))})" if not_held else ""
            return f"{by} overrides the gate of {step}{details}{_after_colon(reason)}"
        case Noted(step=step, text=text):
            return f"Note on {step}{_after_colon(text)}"
        case Surprised(sentence=sentence, dangerous=dangerous):
            return f"DANGER: {sentence}" if dangerous else f"Seen: {sentence}"
        case Booted(sentence=sentence):
            return f"As planned: {sentence}"
        case Reopened(step=step, why=why):
            return f"{step} must be done again{_after_colon(why)}"
        case RolledBack(plan=plan, by=by, reason=reason):
            return f"{by} starts the rollback, {counted(len(plan.steps), 'step')}{_after_colon(reason)}"
        case Closed(outcome=outcome, by=by, reason=reason):
            return f"Closed: {outcome} by {by}{_after_colon(reason)}"


def _waiting(result: GateResult) -> str:
    where = " ".join(part for part in (result.check, result.node) if part)
    return f"{where} {result.text}".strip()


def _after_colon(text: str) -> str:
    text = text.strip()
    if not text:
        return "."
    return f": {text}" if text.endswith((".", "!", "?")) else f": {text}."
