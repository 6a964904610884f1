"""What happened in a change, as sentences: for the log of a report, and for who comes next."""

from __future__ import annotations

from collections.abc import Iterable

from checks.change.change_events import (
    AnyEvent,
    Attested,
    Closed,
    GateResult,
    Noted,
    Opened,
    Overridden,
    Reopened,
    RolledBack,
    Surprised,
    Verified,
)
from checks.change.change_plan import ChangeKind, Plan
from checks.change.state import StepStatus
from checks.model.finding import Status

STEP_SIGNS = {StepStatus.DONE: "✓", StepStatus.OVERRIDDEN: "!", StepStatus.CURRENT: "▶", StepStatus.AHEAD: "·"}
"""The sign before a step: how it stands."""
GATE_SIGNS = {
    Status.PASS: "✓",
    Status.INFO: "✓",
    Status.SKIPPED: "✓",
    Status.WARN: "✗",
    Status.FAIL: "✗",
    Status.UNKNOWN: "?",
}
"""The sign before a gate's result: whether it lets the next step come, does not, or could not be told."""


def headline(plan: Plan) -> str:
    """What a plan is to do, for a heading: `MTU 1500 → 9000`, `back to MTU 1500`."""
    if plan.kind is ChangeKind.ROLLBACK:
        return f"back to MTU {plan.mtu_after}"
    return f"MTU {plan.mtu_before} → {plan.mtu_after}"


def minute(at: str) -> str:
    """A time of the journal for reading: `2026-11-20 18:02`."""
    return at[:16].replace("T", " ")


def gate_word(results: Iterable[GateResult], passed: bool) -> str:
    """How a look at a gate ended: `passed`, `not passed`, `could not tell`."""
    if passed:
        return "passed"
    waiting = [result for result in results if not result.holds]
    unknown = bool(waiting) and all(result.status is Status.UNKNOWN for result in waiting)
    return "could not tell" if unknown else "not passed"


def sentence_of(event: AnyEvent) -> str:
    """One event of the journal as a sentence."""
    match event:
        case Opened(plan=plan):
            return f"Opened: {headline(plan)} on {', '.join(plan.nodes)}, {len(plan.steps)} steps."
        case Verified(step=step, passed=passed, results=results):
            waiting = [_waiting(result) for result in results if not result.holds]
            told = f": {'; '.join(waiting)}" if waiting else ""
            return f"Gate of {step} looked at: {gate_word(results, passed)}{told}."
        case Attested(step=step, by=by, note=note):
            return f"{by} attests {step}{_said(note)}"
        case Overridden(step=step, by=by, reason=reason):
            return f"{by} goes past the gate of {step}{_said(reason)}"
        case Noted(step=step, text=text):
            return f"Note on {step}{_said(text)}"
        case Surprised(sentence=sentence, dangerous=dangerous):
            return f"DANGER: {sentence}" if dangerous else f"Seen meanwhile: {sentence}"
        case Reopened(step=step, why=why):
            return f"{step} is to be done again{_said(why)}"
        case RolledBack(plan=plan, by=by, reason=reason):
            return f"{by} goes back, in {len(plan.steps)} steps{_said(reason)}"
        case Closed(outcome=outcome, by=by, reason=reason):
            return f"Over: {outcome} by {by}{_said(reason)}"


def _waiting(result: GateResult) -> str:
    where = " ".join(part for part in (result.check, result.node) if part)
    return f"{where} {result.text}".strip()


def _said(text: str) -> str:
    text = text.strip()
    if not text:
        return "."
    return f": {text}" if text.endswith((".", "!", "?")) else f": {text}."
