"""The lines of a step of a change: its sign, its commands, and the step in full."""

from __future__ import annotations

from collections.abc import Iterator

from checks.change.plan.change_plan import Step
from checks.change.plan.command_block import Commands
from checks.change.progress.change_events import Begun, Reopened
from checks.change.progress.change_text import STEP_SIGNS, minute, minutes_text
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.state import Change, StepStatus
from tui.text.line import Line, Span, cell_len, command_lines, hanging, sanitize_line, width_of, wrapped
from tui.text.stop_lines import read_text

STEP_ROLES = {
    StepStatus.DONE: "pass",
    StepStatus.OVERRIDDEN: "warn",
    StepStatus.CURRENT: "accent",
    StepStatus.AHEAD: "faint",
}
_LABEL = 11
_PLAIN = OwnCommands()


def sign_of_step(standing: StepStatus) -> Span:
    """Return the sign of the status of a step."""
    return STEP_SIGNS[standing], STEP_ROLES[standing]


def step_lines(change: Change, step: Step, width: int, own: OwnCommands = _PLAIN, *, node: str = "") -> Iterator[Line]:
    """Yield one step in full: what, why, the commands, the expected result, its proof, and its rollback."""
    number, of = change.plan.position(step.id) + 1, len(change.plan.steps)
    standing = change.standing(step)
    behind = f" ({standing})" if standing.is_behind else ""
    yield [(f"Step {number} of {of}: {sanitize_line(step.title)}{behind}", "title")]
    if why := why_again(change, step):
        yield from paragraph("Again", why, width, "warn")
    yield from paragraph("What", own.text(step.what), width)
    yield from paragraph("Why", step.why, width)
    for block in commands_for(step, node):
        yield []
        yield from block_lines(block, 0, width, own, deeper=4)
    if step.commands:
        yield []
    yield from paragraph("Expected", step.expected, width)
    yield from paragraph("Proved by", ", ".join(dict.fromkeys(gate.check for gate in step.gates)), width)
    yield from paragraph("Attest", step.to_attest, width)
    if step.attest_for:
        yield from paragraph("For each", ", ".join(step.attest_for), width)
    yield from paragraph("Takes", minutes_text(step.minutes), width)
    yield from paragraph("No return", step.no_return, width)
    yield from paragraph("Going back", own.text(step.if_rolled_back), width)
    for line in change.starts(step):
        if isinstance(line.event, Begun):
            yield from paragraph(
                "Started", f"{read_text(line.event.look, change.plan.nodes)} ({line.who}, {minute(line.at)})", width
            )
    for line in change.notes(step):
        yield from paragraph("Note", f"{getattr(line.event, 'text', '')} ({line.who}, {minute(line.at)})", width)


def commands_for(step: Step, node: str) -> tuple[Commands, ...]:
    """Return the commands of a step; for a named node, only its own ones and those without a node."""
    return tuple(block for block in step.commands if not node or block.node in ("", node))


def why_again(change: Change, step: Step) -> str:
    """Return why a step must be done again; empty where it need not."""
    reopened = change.mark(step).reopened
    return reopened.event.why if reopened is not None and isinstance(reopened.event, Reopened) else ""


def block_lines(
    block: Commands, indent: int, width: int, own: OwnCommands, *, deeper: int = 2, role: str = "", right: str = ""
) -> Iterator[Line]:
    """Yield where to run a block, then its commands as they are copied: a long one continues after a backslash.

    `deeper` is the further indentation of the commands. `right` is a text at the right edge, or blanks that keep its
    place free.
    """
    margin: list[Span] = [(" " * indent, "")] if indent else []
    for number, text in enumerate(wrapped(block.heading, width - indent - (cell_len(right) + 1 if right else 0))):
        line: list[Span] = [*margin, (text, role)]
        room = width - width_of(line) - cell_len(right)
        yield [*line, (" " * room, ""), (right, "accent")] if right.strip() and not number and room > 0 else line
    for command in (*block.lines, *map(own.line, block.own)):
        yield from command_lines(command, indent + deeper, width)
    if block.remarks:
        yield from hanging([(" " * (indent + deeper), "")], own.text(block.remarks), width, "faint")


def paragraph(label: str, text: str, width: int, role: str = "") -> Iterator[Line]:
    """Yield a paragraph after its label; nothing where there is no text."""
    if text:
        yield from hanging([(f"{label:<{_LABEL}}", role)], text, width, role)
