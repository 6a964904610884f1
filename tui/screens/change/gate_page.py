"""The gate of a step: the result of each check on each node, and what the next step waits for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.plan.change_plan import Step
from checks.change.progress.change_events import GateResult, Verified
from checks.change.progress.change_text import GATE_SIGNS, by_check, gate_word, minute, sentence_of
from checks.change.progress.state import Change, StepRecord
from checks.model.facts import BeforeAfter
from checks.model.finding import Status
from checks.model.report import Report
from tui.console.change_state import Doing, Work
from tui.screens.change.alarms import all_alarm_lines
from tui.text.evidence_lines import evidence_lines
from tui.text.finding_lines import role_of
from tui.text.gate_lines import sign_of, step_by_step
from tui.text.line import Line, Span, hanging, sanitize_line, width_of
from tui.text.own_keys import KEYS

INDENT = 3
LABEL = 10
_WITHIN = INDENT + 2
_FEW_NODES = 4
"""Most nodes with a result each; of more nodes, those with the same result are grouped."""
_MOST_WAITING = 4


def gate_lines(change: Change, step: Step, work: Work, width: int) -> Iterator[Line]:
    """Yield the gate of a step: its last results or, during a check, the results so far. Nothing where it has no
    gate."""
    is_checking = work.doing is Doing.VERIFYING and step is change.current
    results = live_results(change, step, work) if is_checking else change.mark(step).results
    checks = list(dict.fromkeys(gate.check for gate in step.gates))
    others = [check for check in dict.fromkeys(result.check for result in results) if check not in checks]
    if not checks and not others and not is_checking:
        return
    yield from _labelled("Gate", _state(change, step, work, is_checking=is_checking), width)
    room = max((len(check) for check in [*checks, *others]), default=0) + 2
    for check in [*checks, *others]:
        if others and check == others[0] and checks:
            yield [(" " * _WITHIN + "Conditions that must also hold:", "faint")]
        own = [result for result in results if result.check == check]
        yield from _check(check, own, room, change, width, is_checking=is_checking)
    if not is_checking:
        yield from waiting_lines(results, width)


def live_results(change: Change, step: Step, work: Work) -> tuple[GateResult, ...]:
    """Return the results of the checks that have concluded so far."""
    from checks.change.progress.concluding import results_of  # late: it loads all that a check of a gate needs

    gates = [gate for gate in (*step.gates, *(gate for _, gate in change.held(step))) if gate.check in work.found]
    return tuple(dict.fromkeys(r for gate in gates for r in results_of(gate, work.found[gate.check], step, change)))


def waiting_for(mark: StepRecord) -> str:
    """Return what the gate waits for, short enough for a rule; empty where it waits for nothing."""
    waiting = [result for result in mark.results if not result.holds]
    if not waiting:
        return ""
    nodes = list(dict.fromkeys(r.node for r in waiting if r.node))
    if not nodes:
        return f"waiting: {sanitize_line(waiting[0].text or waiting[0].check)}"
    more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
    return f"waiting for {', '.join(map(sanitize_line, nodes[:3]))}{more}"


def waiting_lines(results: Sequence[GateResult], width: int) -> Iterator[Line]:
    """Yield the results that the next step waits for, with what to do; dangerous ones first; of many, the first
    ones."""
    waiting = sorted((r for r in results if not r.holds), key=lambda r: not r.is_danger)
    for result in waiting[:_MOST_WAITING]:
        yield from waiting_line(result, width)
    if len(waiting) > _MOST_WAITING:
        yield [(f"{' ' * _WITHIN}and {len(waiting) - _MOST_WAITING} more: Enter shows all.", "faint")]


def waiting_line(result: GateResult, width: int) -> Iterator[Line]:
    """Yield one result that the next step waits for, and what to do."""
    where = f"waiting for {sanitize_line(result.node)}: " if result.node else "waiting: "
    sentence = result.sentence or f"{result.check} {result.text}"
    yield from hanging([(" " * _WITHIN + where, role_of(result.status))], sentence, width)
    yield from step_by_step(result.next, _WITHIN + 2, width, KEYS)


def detail_lines(change: Change, step: Step, width: int) -> Iterator[Line]:
    """Yield the last results of the gate of a step, in full."""
    mark = change.mark(step)
    if mark.verified is None:
        since = "since a step was reopened" if change.was_verified(step) else "yet"
        yield from hanging([], f"The gate of this step has not been checked {since}.", width)
        return
    yield from hanging(
        [], f"Checked {sanitize_line(mark.verified.at[:19].replace('T', ' '))} by {mark.verified.who}.", width
    )
    for check, results in by_check(mark.results).items():
        yield []
        yield [(sanitize_line(check), "title")]
        for result in results:
            start: list[Span] = [(" ", ""), sign_of(result), (f" {result.status}", "faint")]
            where = f"  {sanitize_line(result.node)}" if result.node else ""
            yield from hanging([*start, (f"{where}  ", "title")], result.sentence or result.text, width)
            yield from step_by_step(result.next, 5, width, KEYS)
    figures = mark.verified.event.figures if isinstance(mark.verified.event, Verified) else {}
    if figures:
        yield []
        yield [("Measured", "title")]
    for name, figure in figures.items():
        text = f"{figure.before} before, {figure.after} after" if isinstance(figure, BeforeAfter) else figure
        yield from hanging([(f" {sanitize_line(name)}: ", "label")], text, width)


def _state(change: Change, step: Step, work: Work, *, is_checking: bool) -> str:
    if is_checking:
        return f"being checked: {work.progress or 'starting'}. Esc cancels the check."
    mark = change.mark(step)
    if mark.verified is None:
        return f"not checked {'since a step was reopened' if change.was_verified(step) else 'yet'}; v checks it."
    verdict = gate_word(mark.results, mark.passed)
    return f"checked {sanitize_line(mark.verified.at[:19].replace('T', ' '))} by {mark.verified.who}: {verdict}"


def _labelled(label: str, text: str, width: int) -> Iterator[Line]:
    yield from hanging([(" " * INDENT + f"{label:<{LABEL}}", "label")], text, width)


def _check(
    check: str, results: Sequence[GateResult], room: int, change: Change, width: int, *, is_checking: bool
) -> Iterator[Line]:
    """Yield a check with its result on each node."""
    start: Line = [(" " * _WITHIN + f"{sanitize_line(check):<{room}}", "label")]
    if not results:
        yield [*start, ("· being checked" if is_checking else "·", "faint")]
    elif len(change.plan.nodes) > _FEW_NODES:
        yield from _grouped(start, results, width)
    else:
        yield from _one_by_one(start, [_item(result) for result in results], width)


def _one_by_one(start: Line, items: Sequence[list[Span]], width: int) -> Iterator[Line]:
    indent = width_of(start)
    line = [*start, *items[0]]
    for item in items[1:]:
        if width_of(line) + 3 + width_of(item) > width:
            yield line
            line = [(" " * indent, ""), *item]
        else:
            line += [("   ", ""), *item]
    yield line


def _item(result: GateResult) -> list[Span]:
    names = [(f"{sanitize_line(result.node)} ", "")] if result.node else []
    text = f" {sanitize_line(result.text)}" if result.text else ""
    return [*names, sign_of(result), (text, "")]


def _grouped(start: Line, results: Sequence[GateResult], width: int) -> Iterator[Line]:
    """Yield the nodes grouped by equal results, first the nodes that the next step waits for."""
    groups: dict[tuple[bool, Status, str], list[str]] = {}
    for result in results:
        groups.setdefault((result.holds, result.status, result.text), []).append(result.node)
    for (_, status, text), nodes in sorted(groups.items(), key=lambda group: group[0][0]):
        sign: list[Span] = [(f"{GATE_SIGNS[status]} ", role_of(status))]
        names = " ".join(filter(None, nodes))
        yield from hanging([*start, *sign], f"{text}: {names}" if text and names else text or names, width)
        start = [(" " * width_of(start), "")]


def details_lines(change: Change, step: Step, report: Report | None, width: int) -> Iterator[Line]:
    """Yield the gate in full, the events of the step, and the evidence if this console made the last check."""
    alarms = list(all_alarm_lines(change, width))
    yield from alarms
    if alarms:
        yield []
    if step.gates or change.mark(step).verified:
        yield from detail_lines(change, step, width)
        yield []
    yield [("Events of this step", "title")]
    own = [line for line in change.lines if getattr(line.event, "step", None) == step.id]
    for line in own:
        # The results of a gate are above, in full.
        text = "checked the gate" if isinstance(line.event, Verified) else sentence_of(line.event)
        yield from hanging([(f" {minute(line.at)}  ", "label"), (f"{sanitize_line(line.who)}  ", "")], text, width)
    if not own:
        yield [(" Nothing yet.", "faint")]
    last_checked = next((line.event.step for line in reversed(change.lines) if isinstance(line.event, Verified)), "")
    if report is not None and last_checked == step.id:
        yield []
        yield [("What racwire read and sent for the last check of the gate", "title")]
        yield from evidence_lines(report.journal, width)
