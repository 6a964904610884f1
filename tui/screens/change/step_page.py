"""The displayed step of a change: what to do and why, the commands, the gate, and the rollback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.change.plan.change_plan import Plan, Step
from checks.change.plan.command_block import Commands
from checks.change.plan.remarks import operator_remarks
from checks.change.progress.change_events import Attested, Begun, JournalLine, Noted, Overridden
from checks.change.progress.change_text import minute, minutes_text
from checks.change.progress.planned_stops import planned_stops
from checks.change.progress.state import Change, StepRecord, StepStatus
from checks.model.wording import listed
from tui.console.change_state import Work
from tui.screens.change.gate_page import INDENT, LABEL, gate_lines, waiting_for
from tui.text.line import Line, Span, hanging, sanitize_line, wrapped
from tui.text.own_keys import KEYS
from tui.text.step_lines import STEP_ROLES, block_lines, sign_of_step, why_again
from tui.text.stop_lines import read_text, stop_text

_COPIES = "c copies"
_COMMENT = 70
"""Columns of a comment."""


@dataclass(frozen=True)
class StepPage:
    """The lines of a page, and the position of its parts."""

    lines: Sequence[Line]
    blocks: tuple[tuple[int, int], ...] = ()
    """The first and the last line of each block of commands."""
    gate: tuple[int, int] | None = None
    """The first and the last line of the gate; None where there is no gate."""


def step_page(change: Change, step: Step, chosen: int, work: Work, width: int) -> StepPage:
    """Return the lines of a step for a width; `chosen` is the number of the block of commands that `c` copies."""
    lines: list[Line] = [*_heading(change, step, width)]
    blocks: list[tuple[int, int]] = []
    for number, block in enumerate(step.commands):
        first = len(lines) + 1
        is_chosen = number == chosen
        role, right = ("accent", _COPIES) if is_chosen else ("title", " " * len(_COPIES))
        lines += [[], *block_lines(block, INDENT, width, KEYS, role=role, right=right)]
        blocks.append((first, len(lines) - 1))
    if step.commands:
        lines += _paragraph("", "racwire runs none of these commands; you run them.", width, "faint")
    lines += [[]] if step.commands or step.why else []
    lines += _part("Expected", step.expected, width)
    first = len(lines)
    lines += gate_lines(change, step, work, width)
    gate = (first, len(lines) - 1) if len(lines) > first else None
    lines += _people(change, step, width)
    if step is change.plan.steps[0]:
        lines += _of_plan(change.plan, width)
    lines += _part("Takes", minutes_text(step.minutes), width, "faint")
    lines += _part("No return", step.no_return if change.is_open else "", width, "faint")
    lines += _part("Rollback", KEYS.text(step.if_rolled_back) if change.is_open else "", width, "faint")
    return StepPage(lines, tuple(blocks), gate)


def next_action(change: Change) -> str:
    """Return what the operator does next, short enough for the rule above the keys."""
    step = change.current
    if not change.is_open:
        return f"This change is over: {sanitize_line(change.outcome)}. Esc goes to the overview."
    if step is None:
        return "All steps are done: Enter signs the change off."
    mark = change.mark(step)
    if not change.is_proved(step):
        if waiting := waiting_for(mark):
            return f"{waiting}; v checks again"
        if step is change.plan.steps[-1]:
            return "v checks once more, then Enter signs the change off"
        return f"{'do this, then' if step.commands or step.attest else 'ready:'} v checks the gate"
    if step is change.plan.steps[-1]:
        return "Enter signs the change off"
    return "the gate passed; press a to attest" if step.gates else "do this, then press a to attest"


def block_text(plan_id: str, block: Commands) -> str:
    """Return a block for the clipboard: who runs it and where, as a comment, then the commands."""
    return "\n".join([f"# {sanitize_line(plan_id)}: {sanitize_line(block.heading)}", *_lines(block)])


def whole_step_text(plan_id: str, step: Step) -> str:
    """Return a whole step, for a ticket or a runbook: what to do, and each block with who runs it and where.

    The blocks are for different shells. Each line is a comment, so that no command runs if an operator pastes all of
    them by mistake."""
    lines = [f"# {sanitize_line(plan_id)}: {sanitize_line(step.title)}", *_comment(KEYS.text(step.what))]
    for block in step.commands:
        lines += ["#", f"# {sanitize_line(block.heading)}", *(f"#   {line}" for line in _single_lines(block))]
        lines += _comment(KEYS.text(block.remarks))
    lines += ["#", *_comment(f"Expected: {step.expected}")] if step.expected else []
    return "\n".join(lines)


def _comment(text: str) -> list[str]:
    """Return a text as comments that a mail does not wrap; nothing for no text."""
    return [f"# {line}" for line in wrapped(sanitize_line(text), _COMMENT)] if text else []


def _lines(block: Commands) -> tuple[str, ...]:
    return (*block.lines, *map(KEYS.line, block.own))


def _single_lines(block: Commands) -> Iterator[str]:
    for line in _lines(block):
        yield from line.splitlines()


def _heading(change: Change, step: Step, width: int) -> Iterator[Line]:
    standing = change.standing(step)
    number = change.plan.position(step.id) + 1
    sign, role = sign_of_step(standing)
    line: list[Span] = [(f" {sign} ", role), (f"{number} {sanitize_line(step.title)}", "title")]
    if standing is not StepStatus.CURRENT:
        line += [(f"   {_status_text(standing)}", STEP_ROLES[standing])]
    yield line
    yield from _paragraph("", KEYS.text(step.what), width)
    if why := why_again(change, step):
        yield from _paragraph("Again", f"this step must be done again: {why}", width, "warn")
    yield from _part("Why", step.why, width, "faint")


def _status_text(standing: StepStatus) -> str:
    return {
        StepStatus.DONE: "done",
        StepStatus.OVERRIDDEN: "overridden without proof",
        StepStatus.AHEAD: "not reached yet",
        StepStatus.CURRENT: "",
    }[standing]


def _of_plan(plan: Plan, width: int) -> Iterator[Line]:
    """Yield the remarks and the accepted obstacles of the plan, to be read before the first step."""
    for number, remark in enumerate(operator_remarks(plan)):
        yield from _paragraph(" " if number else "Remarks", KEYS.text(remark), width)
    for finding in plan.accepted:
        text = f"{finding.code} {finding.title}: {finding.reason}"
        yield from _paragraph("Accepted", text, width, "warn")


def _people(change: Change, step: Step, width: int) -> Iterator[Line]:
    """Yield attestations, overrides and notes of the step, and what is still to attest."""
    mark = change.mark(step)
    if step.attest:
        yield from _part("Attest", step.to_attest, width)
        attested = mark.attests(step)
        for line in mark.attested_for.values() or filter(None, (mark.attested,)):
            yield from _paragraph(" ", _attested(line), width, "pass")
        if not attested:
            yield from _paragraph(" ", _to_attest(change, step, mark), width, "accent")
    if mark.overridden and isinstance(mark.overridden.event, Overridden):
        override = mark.overridden.event
        text = f"! {override.by} overrode the gate at {minute(mark.overridden.at)}: {override.reason}"
        yield from _paragraph("Override", text, width, "warn")
    for line in change.starts(step):
        if isinstance(line.event, Begun):
            read = read_text(line.event.look, change.plan.nodes)
            yield from _paragraph("Started", f"{minute(line.at)} by {line.who}: {read}", width, "accent")
            for stop in planned_stops(change):
                if stop.began == line.at:
                    over = f"; over at {minute(stop.over)}" if stop.over else ""
                    yield from _paragraph(" ", f"planned: {stop_text(stop)}{over}", width, "faint")
    for number, line in enumerate(change.notes(step)):
        if isinstance(line.event, Noted):
            text = f"{minute(line.at)} {line.who}: {line.event.text}"
            yield from _paragraph(" " if number else "Notes", text, width)


def _attested(line: JournalLine) -> str:
    if not isinstance(event := line.event, Attested):
        return ""
    host = f"{event.host}: " if event.host else ""
    return f"✓ {host}{event.by}, {minute(line.at)}{': ' + event.note if event.note else ''}"


def _to_attest(change: Change, step: Step, mark: StepRecord) -> str:
    hosts = f" for {listed(unattested)}" if (unattested := mark.unattested(step)) else ""
    return f"Press a to attest{hosts}." if step is change.current and change.is_open else f"Not attested{hosts}."


def _part(label: str, text: str, width: int, role: str = "") -> Iterable[Line]:
    return _paragraph(label, text, width, role) if text else ()


def _paragraph(label: str, text: str, width: int, role: str = "") -> Iterator[Line]:
    start = " " * INDENT + (f"{label:<{LABEL}}" if label else "")
    yield from hanging([(start, "label")], text, width, role)
