"""The lines around the displayed step: which change it is, and the steps before and after, in short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from checks.change.plan.change_plan import Step
from checks.change.progress.change_text import headline
from checks.change.progress.state import Change, StepStatus
from tui.text.line import Line, Span, fitted, sanitize_line, width_of
from tui.text.step_lines import sign_of_step


def head_line(change: Change, width: int) -> Line:
    """Return the line with the change, its goal, and its progress; where room is short, without the owner, then
    more."""
    plan = change.opened
    goal = sanitize_line(headline(change.plan))
    owner, size = sanitize_line(plan.made_by), f"{len(plan.nodes)} nodes"
    state = place_of(change)
    for parts in ((goal, size, f"owner {owner}"), (goal, size, owner), (goal, size), (goal,)):
        line: list[Span] = [(" Change ", ""), (sanitize_line(plan.id), "title"), (f"  {'  '.join(parts)}  ", "")]
        if width_of(line) + cell_len(state) <= width:
            return [*line, (state, "accent" if change.is_open else "title")]
    return [(fitted(f" {sanitize_line(plan.id)}  {state}", width), "title")]


def place_of(change: Change) -> str:
    """Return the progress of a change: `step 7 of 14`, or how it ended."""
    if not change.is_open:
        return sanitize_line(change.outcome)
    if change.current is None:
        return "all steps done"
    return f"step {change.plan.position(change.current.id) + 1} of {len(change.plan.steps)}"


def behind_line(change: Change, shown: Step | None, width: int) -> Line:
    """Return the steps before the displayed one: the last ones by name, earlier ones by number."""
    steps = _around(change, shown)[0]
    if not steps:
        return [(" This is the first step.", "faint")]
    for named in range(len(steps), -1, -1):
        small, full = steps[: len(steps) - named], steps[len(steps) - named :]
        line = [
            *(span for step in small for span in _small(change, step)),
            *(span for step in full for span in _named(change, step)),
        ]
        if width_of(line) < width:
            break
    return line


def ahead_line(change: Change, shown: Step | None, width: int) -> Line:
    """Return the steps after the displayed one: as many as fit, and always the last."""
    steps = _around(change, shown)[1]
    if not steps:
        return [(" This is the last step.", "faint")]
    last = _named(change, steps[-1])
    for shown_first in range(len(steps) - 1, -1, -1):
        gap: Sequence[Span] = [("  …", "faint")] if shown_first < len(steps) - 1 else []
        line = [*(span for step in steps[:shown_first] for span in _named(change, step)), *gap, *last]
        if width_of(line) < width:
            break
    return line


def steps_lines(change: Change, shown: Step | None, width: int) -> list[Line]:
    """Return all steps, one below the other; the displayed one is marked."""
    lines: list[Line] = [[(" Steps", "title")]]
    for step in change.plan.steps:
        standing = change.standing(step)
        sign, role = sign_of_step(standing)
        text = fitted(f"{change.plan.position(step.id) + 1:>2} {sanitize_line(step.title)}", width - 4).rstrip()
        is_here = standing is StepStatus.CURRENT or (shown is not None and step.id == shown.id)
        lines.append([(f" {sign} ", role), (text, "" if is_here else "faint")])
    return lines


def _around(change: Change, shown: Step | None) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    steps = change.plan.steps
    if shown is None:
        return steps, ()
    at = change.plan.position(shown.id)
    return steps[:at], steps[at + 1 :]


def _named(change: Change, step: Step) -> list[Span]:
    return list(_spans(change, step, f" {change.plan.position(step.id) + 1} {sanitize_line(step.title)}", "  "))


def _small(change: Change, step: Step) -> list[Span]:
    return list(_spans(change, step, str(change.plan.position(step.id) + 1), " "))


def _spans(change: Change, step: Step, text: str, gap: str) -> Iterator[Span]:
    standing = change.standing(step)
    sign, role = sign_of_step(standing)
    yield f"{gap}{sign}", role
    yield text, "" if standing is StepStatus.CURRENT else "faint"
