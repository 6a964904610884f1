"""A change as text at any width: where it stands, its steps with their commands, what its gates say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from checks.change.change_events import GateResult, JournalLine, Reopened, Surprised, Verified
from checks.change.change_journal import FoundJournal
from checks.change.change_plan import Commands, Plan, Step
from checks.change.change_text import GATE_SIGNS, STEP_SIGNS, gate_word, headline, minute
from checks.change.obstacles import Obstacle
from checks.change.state import Change, StepStatus
from checks.model.finding import Status
from tui.cli.text_report import STYLES
from tui.widgets.line import clean, command_lines, hanging, plain

_STYLES = {StepStatus.OVERRIDDEN: "bold yellow", StepStatus.CURRENT: "bold", StepStatus.AHEAD: "dim"}
_LABEL = 11
_MOST_SURPRISES = 5


def status_lines(change: Change, width: int, *, path: str) -> Iterator[Text]:
    """Where a change stands: its steps, the current one's gate, what changed under it."""
    yield from _head_lines(change, path)
    if not change.is_open:
        last = change.lines[-1]
        yield from paragraph("Over", f"{change.outcome}, {minute(last.at)}", width)
    yield Text()
    wide = max(len(step.title) for step in change.plan.steps) + 2
    for number, step in enumerate(change.plan.steps, 1):
        standing = change.standing(step)
        if standing is StepStatus.CURRENT and not change.is_open:
            standing = StepStatus.AHEAD  # nobody waits for it any more
        head = f" {STEP_SIGNS[standing]} {number:>2} {clean(step.title):<{wide}}"
        yield from hung(head, _how(change, step, standing), width, _STYLES.get(standing, ""))
    current = change.current
    if current is not None and change.is_open:
        results = change.mark(current).results
        verified = change.mark(current).verified
        if verified is not None and results:
            yield Text()
            yield from gate_lines(results, verified, width)
    yield from _surprise_lines(change, width)


def _head_lines(change: Change, path: str) -> Iterator[Text]:
    yield Text(header(change), "bold")
    yield Text(f"opened {minute(change.lines[0].at)} by {clean(change.opened.made_by)}; its journal is", "dim")
    yield Text(clean(path), "dim")


def header(change: Change) -> str:
    """`Change 2026-11-20-a of prodrac  MTU 1500 → 9000  4 nodes  step 7 of 14`."""
    plan = change.opened
    parts = [f"Change {plan.id} of {plan.cluster}", headline(plan), f"{len(plan.nodes)} nodes"]
    if change.is_way_back:
        parts.append("on the way back")
    if (step := change.current) is not None and change.is_open:
        parts.append(f"step {change.plan.position(step.id) + 1} of {len(change.plan.steps)}")
    elif not change.is_open:
        parts.append(change.outcome)
    return "  ".join(clean(part) for part in parts)


def step_lines(change: Change, step: Step, width: int, *, node: str = "") -> Iterator[Text]:
    """One step in full: what, why, the commands, what is expected, what proves it, what going back means."""
    number, of = change.plan.position(step.id) + 1, len(change.plan.steps)
    standing = change.standing(step)
    behind = f" ({standing})" if standing.is_behind else ""
    yield Text(f"Step {number} of {of}: {clean(step.title)}{behind}", "bold")
    reopened = change.mark(step).reopened
    if reopened is not None and isinstance(reopened.event, Reopened):
        yield from paragraph("Again", reopened.event.why, width, "yellow")
    yield from paragraph("What", step.what, width)
    yield from paragraph("Why", step.why, width)
    for block in commands_for(step, node):
        yield Text()
        yield from _block_lines(block, width)
    if step.commands:
        yield Text()
    yield from paragraph("Expected", step.expected, width)
    yield from paragraph("Proved by", ", ".join(dict.fromkeys(gate.check for gate in step.gates)), width)
    yield from paragraph("Attest", step.attest, width)
    yield from paragraph("Going back", step.if_rolled_back, width)
    for line in change.notes(step):
        yield from paragraph("Note", f"{getattr(line.event, 'text', '')} ({line.who}, {minute(line.at)})", width)


def plan_lines(change: Change, width: int, *, node: str = "") -> Iterator[Text]:
    """The whole plan that is followed, step by step."""
    yield Text(header(change), "bold")
    for remark in change.plan.remarks:
        yield from hung("- ", remark, width)
    for step in change.plan.steps:
        yield Text()
        yield from step_lines(change, step, width, node=node)


def opened_lines(change: Change, width: int, *, path: str) -> Iterator[Text]:
    """A change that was just begun: what it means here, and its steps."""
    yield from _head_lines(change, path)
    yield Text()
    for remark in change.plan.remarks:
        yield from hung("- ", remark, width)
    if change.plan.remarks:
        yield Text()
    steps = ", ".join(f"{number} {step.title}" for number, step in enumerate(change.plan.steps, 1))
    yield from paragraph("Steps", f"{steps}.", width)


def way_back_lines(plan: Plan, width: int) -> Iterator[Text]:
    """What going back would be: its steps, each with what it does."""
    yield Text(f"The way back from here, {headline(plan)}: {len(plan.steps)} steps", "bold")
    for number, step in enumerate(plan.steps, 1):
        yield from hung(f" {number:>2} ", f"{step.title}: {step.what}", width)


def obstacle_lines(obstacles: Sequence[Obstacle], width: int) -> Iterator[Text]:
    """What stands in the way of a change, and what to do about each."""
    for obstacle in obstacles:
        yield Text(f"{clean(obstacle.code)}  {clean(obstacle.title)}", "bold")
        yield from hung("  ", obstacle.sentence, width)
        yield from _remedy_lines(obstacle.next, "  ", width)
        yield Text()


def list_lines(found: Iterable[FoundJournal], width: int) -> Iterator[Text]:
    """A line or two for each change of a directory."""
    for each in found:
        if each.change is None:
            yield Text(f"?  {clean(each.problem)}", STYLES[Status.UNKNOWN])
        else:
            sign = "▶" if each.change.is_open else "✓"
            yield Text(f"{sign}  {header(each.change)}")
            yield Text(f"   opened {minute(each.change.lines[0].at)}  {clean(str(each.path))}", "dim")


def commands_for(step: Step, node: str) -> tuple[Commands, ...]:
    """The step's commands; for one node, those of its shell and those that belong to no node's."""
    return tuple(block for block in step.commands if not node or block.node in ("", node))


def gate_lines(results: Sequence[GateResult], verified: JournalLine, width: int) -> Iterator[Text]:
    """What a gate said, check by check: in few words where it holds, in full where it does not."""
    passed = isinstance(verified.event, Verified) and verified.event.passed
    yield Text(f"Gate, looked at {minute(verified.at)}: {gate_word(results, passed)}", "bold")
    held = said_by_check(result for result in results if result.holds)
    wide = max(map(len, held), default=0)
    for check, said in held.items():
        head = f"  {GATE_SIGNS[Status.PASS]} {clean(check):<{wide}}  "
        yield from hung(head, ", ".join(said), width, STYLES[Status.PASS])
    for result in results:
        if not result.holds:
            yield from result_lines(result, width)


def said_by_check(results: Iterable[GateResult]) -> dict[str, list[str]]:
    """What each check said, in few words: `rac1 9000 kept`; the same is said once."""
    said: dict[str, dict[str, None]] = {}
    for result in results:
        said.setdefault(result.check, {})[" ".join(part for part in (result.node, result.text) if part)] = None
    return {check: list(words) for check, words in said.items()}


def result_lines(result: GateResult, width: int) -> Iterator[Text]:
    """One result in full."""
    head = f"  {GATE_SIGNS[result.status]} {clean(f'{result.node} {result.text}')}"
    yield Text(f"{head}  ({clean(result.check)})", STYLES[result.status])
    if result.sentence:
        yield from hung("      ", result.sentence, width)
    yield from _remedy_lines(result.next, "      ", width)


def _remedy_lines(remedies: Iterable[str], indent: str, width: int) -> Iterator[Text]:
    """What to do: sentences are numbered, and a command stands whole below the sentence that it belongs to."""
    number = 0
    for remedy in remedies:
        if remedy.rstrip().endswith((".", ":", "!", "?")):
            number += 1
            yield from hung(f"{indent}{number}. ", remedy, width)
        else:
            for part in command_lines(remedy, len(indent) + 3, width):
                yield Text(plain([part]), "cyan")


def event_lines(lines: Iterable[JournalLine], width: int) -> Iterator[Text]:
    """What a look at the gates brought to light besides: surprises, and steps that are to be done again."""
    for line in lines:
        if isinstance(line.event, Surprised):
            yield from _surprise(line.event, minute(line.at), width)
        elif isinstance(line.event, Reopened):
            yield from hung(f"{'Again':<{_LABEL}}", f"{line.event.step}: {line.event.why}", width, "yellow")


def paragraph(label: str, text: str, width: int, style: str = "") -> Iterator[Text]:
    """A paragraph after its label; nothing where there is no text."""
    if text:
        yield from hung(f"{label:<{_LABEL}}", text, width, style)


def _how(change: Change, step: Step, standing: StepStatus) -> str:
    """How a step was done, or what it waits for, in a few words."""
    mark = change.mark(step)
    said = []
    if mark.overridden is not None:
        by, reason = getattr(mark.overridden.event, "by", ""), getattr(mark.overridden.event, "reason", "")
        said.append(f"OVERRIDDEN by {by}, {minute(mark.overridden.at)}: {reason}")
    elif mark.passed and mark.verified is not None:
        said.append(f"passed {minute(mark.verified.at)}")
    elif mark.reopened is not None:
        said.append("to be done again")
    if mark.attested is not None:
        said.append(f"attested by {getattr(mark.attested.event, 'by', '')}, {minute(mark.attested.at)}")
    if standing is StepStatus.CURRENT:
        said.append(f"waits for {' and '.join(waits_for(change, step))}")
    return ", ".join(said)


def waits_for(change: Change, step: Step) -> tuple[str, ...]:
    """What is still to be done for a step: its `gate`, an `attestation`."""
    attested = not step.attest or change.mark(step).attested is not None
    return (*(() if change.is_proved(step) else ("its gate",)), *(() if attested else ("an attestation",)))


def _surprise_lines(change: Change, width: int) -> Iterator[Text]:
    lines = change.surprises
    if not lines:
        return
    yield Text()
    yield Text("What changed meanwhile", "bold")
    if len(lines) > _MOST_SURPRISES:
        yield Text(f"  {len(lines) - _MOST_SURPRISES} earlier ones; the report has them all", "dim")
    for line in lines[-_MOST_SURPRISES:]:
        if isinstance(line.event, Surprised):
            yield from _surprise(line.event, f"  {minute(line.at)}", width)


def _surprise(event: Surprised, label: str, width: int) -> Iterator[Text]:
    danger = "DANGER: " if event.dangerous else ""
    yield from hung(f"{label}  ", f"{danger}{event.sentence}", width, "bold red" if event.dangerous else "yellow")


def _block_lines(block: Commands, width: int) -> Iterator[Text]:
    """Where, then the lines as they are to be copied: one that is too long goes on after a backslash."""
    yield Text(clean(block.where))
    for line in block.lines:
        for part in command_lines(line, 4, width):
            yield Text(plain([part]), "cyan")
    if block.note:
        yield from hung("    ", block.note, width, "dim")


def hung(head: str, text: str, width: int, style: str = "") -> Iterator[Text]:
    """A text after its head, the lines below it as far in."""
    for line in hanging([(head, "")], text, width):
        yield Text(plain([line]), style)
