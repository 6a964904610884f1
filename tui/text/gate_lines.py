"""What a gate says: its results by check, each result that does not hold in full, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.change.change_events import GateResult, JournalLine, Verified
from checks.change.change_text import GATE_SIGNS, gate_word, minute
from checks.model.finding import Status
from tui.text.finding_lines import role_of
from tui.text.line import Line, Span, command_lines, hanging, sanitize_line

_SENTENCE_ENDS = (".", ":", "!", "?")


def gate_lines(results: Sequence[GateResult], verified: JournalLine, width: int) -> Iterator[Line]:
    """What a gate said, check by check: in few words where it holds, in full where it does not."""
    passed = isinstance(verified.event, Verified) and verified.event.passed
    yield [(f"Gate, checked {minute(verified.at)}: {gate_word(results, passed)}", "title")]
    held = said_by_check(result for result in results if result.holds)
    room = max(map(len, held), default=0)
    for check, said in held.items():
        head = (f"  {GATE_SIGNS[Status.PASS]} {sanitize_line(check):<{room}}  ", "pass")
        yield from hanging([head], ", ".join(said), width, "pass")
    for result in results:
        if not result.holds:
            told = f"{result.node} {result.text}"
            yield [
                (
                    f"  {GATE_SIGNS[result.status]} {sanitize_line(told)}  ({sanitize_line(result.check)})",
                    role_of(result.status),
                )
            ]
            yield from result_lines([("      ", "")], result, result.next, width, indent=6, numbered=True)


def result_lines(
    head: Line, result: GateResult, steps: Iterable[str], width: int, *, indent: int, numbered: bool = False
) -> Iterator[Line]:
    """The sentence of a result after its head, and what to do about it, from the column `indent` on."""
    if result.sentence:
        yield from hanging(head, result.sentence, width)
    yield from step_by_step(steps, indent, width, numbered=numbered)


def step_by_step(steps: Iterable[str], indent: int, width: int, *, numbered: bool = False) -> Iterator[Line]:
    """What to do: each sentence a point, and a command whole below the sentence that it belongs to."""
    number = 0
    for step in steps:
        if step.rstrip().endswith(_SENTENCE_ENDS):
            number += 1
            point: Span = (f"{' ' * indent}{number}. ", "") if numbered else (f"{' ' * indent}- ", "faint")
            yield from hanging([point], step, width)
        else:
            yield from command_lines(step, indent + (3 if numbered else 4), width)


def sign_of(result: GateResult) -> Span:
    """Whether a result lets the next step come, in a sign."""
    return GATE_SIGNS[result.status], role_of(result.status)


def by_check(results: Iterable[GateResult]) -> dict[str, list[GateResult]]:
    """The results of each check."""
    found: dict[str, list[GateResult]] = {}
    for result in results:
        found.setdefault(result.check, []).append(result)
    return found


def said_by_check(results: Iterable[GateResult]) -> dict[str, list[str]]:
    """What each check said, in few words: `rac1 9000 kept`; the same is said once."""
    return {
        check: list(dict.fromkeys(" ".join(part for part in (r.node, r.text) if part) for r in found))
        for check, found in by_check(results).items()
    }
