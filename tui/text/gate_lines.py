"""The results of a gate by check, each failed result in full with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.change.progress.change_events import GateResult, JournalLine, Verified
from checks.change.progress.change_text import GATE_SIGNS, gate_word, minute, texts_by_check
from checks.model.finding import Status
from tui.text.finding_lines import role_of
from tui.text.line import Line, Span, command_lines, hanging, sanitize_line

_SENTENCE_ENDS = (".", ":", "!", "?")


def gate_lines(results: Sequence[GateResult], verified: JournalLine, width: int) -> Iterator[Line]:
    """Yield the results of a gate by check: in short where a result holds, in full where it does not."""
    passed = isinstance(verified.event, Verified) and verified.event.passed
    yield [(f"Gate, checked {minute(verified.at)}: {gate_word(results, passed)}", "title")]
    room = max((len(result.check) for result in results if result.holds), default=0)
    for status in (Status.PASS, Status.INFO, Status.SKIPPED):
        for check, texts in texts_by_check(result for result in results if result.status is status).items():
            head = (f"  {GATE_SIGNS[status]} {sanitize_line(check):<{room}}  ", role_of(status))
            yield from hanging([head], ", ".join(texts), width, role_of(status))
    for result in results:
        if not result.holds:
            text = f"{result.node} {result.text}"
            yield [
                (
                    f"  {GATE_SIGNS[result.status]} {sanitize_line(text)}  ({sanitize_line(result.check)})",
                    role_of(result.status),
                )
            ]
            yield from result_lines([("      ", "")], result, result.next, width, indent=6, numbered=True)


def result_lines(
    head: Line, result: GateResult, steps: Iterable[str], width: int, *, indent: int, numbered: bool = False
) -> Iterator[Line]:
    """Yield the sentence of a result after its head, and what to do, indented to the column `indent`."""
    if result.sentence:
        yield from hanging(head, result.sentence, width)
    yield from step_by_step(steps, indent, width, numbered=numbered)


def step_by_step(steps: Iterable[str], indent: int, width: int, *, numbered: bool = False) -> Iterator[Line]:
    """Yield what to do: each sentence as a point, and each command whole below its sentence."""
    number = 0
    for step in steps:
        if step.rstrip().endswith(_SENTENCE_ENDS):
            number += 1
            point: Span = (f"{' ' * indent}{number}. ", "") if numbered else (f"{' ' * indent}- ", "faint")
            yield from hanging([point], step, width)
        else:
            yield from command_lines(step, indent + (3 if numbered else 4), width)


def sign_of(result: GateResult) -> Span:
    """Return the sign of a result: whether it allows the next step."""
    return GATE_SIGNS[result.status], role_of(result.status)
