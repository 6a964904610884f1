"""A change as text at any width: its status, its steps with their commands, the results of its gates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.change.plan.change_plan import Plan, Step
from checks.change.plan.obstacles import Obstacle
from checks.change.plan.remarks import operator_remarks
from checks.change.progress.change_events import Booted, JournalLine, Reopened, Surprised
from checks.change.progress.change_text import STEP_SIGNS, headline, minute
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change, StepStatus
from checks.change.record.change_journal import FoundJournal
from checks.model.wording import counted, listed
from tui.text.gate_lines import gate_lines, step_by_step
from tui.text.line import Line, hanging, sanitize_line
from tui.text.step_lines import paragraph, step_lines

_ROLES = {StepStatus.OVERRIDDEN: "change", StepStatus.CURRENT: "title", StepStatus.AHEAD: "faint"}
_MOST_SURPRISES = 5


def status_lines(change: Change, width: int, own: OwnCommands, *, path: str) -> Iterator[Line]:
    """The status of a change: its steps, the gate of the current step, unexpected changes."""
    yield from _head_lines(change, path)
    if not change.is_open:
        last = change.lines[-1]
        yield from paragraph("Ended", f"{change.outcome}, {minute(last.at)}", width)
    yield []
    wide = max(len(step.title) for step in change.plan.steps) + 2
    for number, step in enumerate(change.plan.steps, 1):
        standing = change.standing(step)
        if standing is StepStatus.CURRENT and not change.is_open:
            standing = StepStatus.AHEAD  # a change that has ended waits for no step
        head = f" {STEP_SIGNS[standing]} {number:>2} {sanitize_line(step.title):<{wide}}"
        role = _ROLES.get(standing, "")
        yield from hanging([(head, role)], _how(change, step, standing), width, role)
    current = change.current
    if current is not None and change.is_open:
        results = change.mark(current).results
        verified = change.mark(current).verified
        if verified is not None and results:
            yield []
            yield from gate_lines(results, verified, width, own)
    yield from _surprise_lines(change, width)


def _head_lines(change: Change, path: str) -> Iterator[Line]:
    yield [(header(change), "title")]
    yield [(f"opened {minute(change.lines[0].at)} by {sanitize_line(change.opened.made_by)}; its journal is", "faint")]
    yield [(sanitize_line(path), "faint")]


def header(change: Change) -> str:
    """The heading: `Change 2026-11-20-a of prodrac  MTU 1500 → 9000  4 nodes  step 7 of 14`."""
    plan = change.opened
    parts = [f"{plan.noun.capitalize()} {plan.id} of {plan.cluster}", headline(plan), counted(len(plan.nodes), "node")]
    if change.is_way_back:
        parts.append("rollback")
    if (step := change.current) is not None and change.is_open:
        parts.append(f"step {change.plan.position(step.id) + 1} of {len(change.plan.steps)}")
    elif not change.is_open:
        parts.append(change.outcome)
    return "  ".join(sanitize_line(part) for part in parts)


def plan_lines(change: Change, width: int, own: OwnCommands, *, node: str = "") -> Iterator[Line]:
    """The current plan: its remarks and all its steps."""
    yield [(header(change), "title")]
    for remark in operator_remarks(change.plan):
        yield from hanging([("- ", "")], own.text(remark), width)
    for step in change.plan.steps:
        yield []
        yield from step_lines(change, step, width, own, node=node)


def opened_lines(change: Change, width: int, own: OwnCommands, *, path: str) -> Iterator[Line]:
    """A new change: its remarks and the titles of its steps."""
    yield from _head_lines(change, path)
    yield []
    remarks = tuple(operator_remarks(change.plan))
    for remark in remarks:
        yield from hanging([("- ", "")], own.text(remark), width)
    if remarks:
        yield []
    steps = ", ".join(f"{number} {step.title}" for number, step in enumerate(change.plan.steps, 1))
    yield from paragraph("Steps", f"{steps}.", width)


def rollback_lines(plan: Plan, width: int, own: OwnCommands) -> Iterator[Line]:
    """The plan of a rollback: each step and what it does."""
    yield [(f"Rollback from the current step, {headline(plan)}: {counted(len(plan.steps), 'step')}", "title")]
    for number, step in enumerate(plan.steps, 1):
        yield from hanging([(f" {number:>2} ", "")], f"{step.title}: {own.text(step.what)}", width)


def obstacle_lines(obstacles: Sequence[Obstacle], width: int, own: OwnCommands) -> Iterator[Line]:
    """The obstacles of a change, each with its next steps."""
    for obstacle in obstacles:
        yield [(f"{sanitize_line(obstacle.code)}  {sanitize_line(obstacle.title)}", "title")]
        yield from hanging([("  ", "")], obstacle.sentence, width)
        yield from step_by_step(obstacle.next, 2, width, own, numbered=True)
        yield []


def list_lines(found: Iterable[FoundJournal], width: int) -> Iterator[Line]:
    """One or two lines for each change in a directory."""
    for each in found:
        if each.change is None:
            yield [(f"?  {sanitize_line(each.problem)}", "unknown")]
        else:
            sign = "▶" if each.change.is_open else "✓"
            yield [(f"{sign}  {header(each.change)}", "")]
            yield [(f"   opened {minute(each.change.lines[0].at)}  {sanitize_line(str(each.path))}", "faint")]


def event_lines(lines: Iterable[JournalLine], width: int) -> Iterator[Line]:
    """Events that the check of the gates found: unexpected changes, boots as planned, and steps to repeat."""
    for line in lines:
        if isinstance(line.event, Booted):
            yield from hanging([(f"{minute(line.at)}  ", "faint")], line.event.sentence, width)
        if isinstance(line.event, Surprised):
            yield from _surprise(line.event, minute(line.at), width)
        elif isinstance(line.event, Reopened):
            yield from paragraph("Repeat", f"{line.event.step}: {line.event.why}", width, "warn")


def _how(change: Change, step: Step, standing: StepStatus) -> str:
    """The result of a step, or the actions that it waits for, in one phrase."""
    mark = change.mark(step)
    parts = []
    if standing is StepStatus.CURRENT and (starts := change.starts(step)):
        parts.append(f"started {minute(starts[-1].at)}")
    if mark.overridden is not None:
        by, reason = getattr(mark.overridden.event, "by", ""), getattr(mark.overridden.event, "reason", "")
        parts.append(f"OVERRIDDEN by {by}, {minute(mark.overridden.at)}: {reason}")
    elif mark.passed and mark.verified is not None:
        parts.append(f"passed {minute(mark.verified.at)}")
    elif mark.reopened is not None:
        parts.append("must be repeated")
    for line in mark.attested_for.values() or filter(None, (mark.attested,)):
        host = f" for {getattr(line.event, 'host', '')}" if mark.attested_for else ""
        parts.append(f"attested{host} by {getattr(line.event, 'by', '')}, {minute(line.at)}")
    if standing is StepStatus.CURRENT:
        hosts = mark.unattested(step)
        parts.append(
            f"waits for {' and '.join(mark.waits_for(step))}{f' for each of {listed(hosts)}' if hosts else ''}"
        )
    return ", ".join(parts)


def _surprise_lines(change: Change, width: int) -> Iterator[Line]:
    lines = change.surprises
    if not lines:
        return
    standing = standing_alarms(change)
    yield []
    yield [("Unexpected changes", "title")]
    if len(lines) > _MOST_SURPRISES:
        yield [(f"  {len(lines) - _MOST_SURPRISES} earlier; the report lists all", "faint")]
    for line in lines[-_MOST_SURPRISES:]:
        if isinstance(line.event, Surprised):
            past = "" if line.event in standing else "was a DANGER, is over" if change.is_open else "was a DANGER"
            yield from _surprise(line.event, f"  {minute(line.at)}", width, past=past)


def _surprise(event: Surprised, label: str, width: int, *, past: str = "") -> Iterator[Line]:
    """Yield a surprise; `past` names a danger that does not stand any more."""
    danger, role = ("DANGER: ", "fail") if event.dangerous else ("", "warn")
    if event.dangerous and past:
        danger, role = f"{past}: ", "faint"
    yield from hanging([(f"{label}  ", role)], f"{danger}{event.sentence}", width, role)
