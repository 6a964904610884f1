"""The results of a gate by check, each failed result in full with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.change.progress.change_events import GateResult, JournalLine, Verified
from checks.change.progress.change_text import GATE_SIGNS, gate_word, minute, texts_by_check
from checks.change.progress.own_commands import OwnCommands
from checks.model.finding import NextStep, Status
from tui.text.finding_lines import role_of
from tui.text.line import Line, Span, command_lines, hanging, sanitize_line

_PLAIN = OwnCommands()


def gate_lines(
    results: Sequence[GateResult], verified: JournalLine, width: int, own: OwnCommands = _PLAIN
) -> Iterator[Line]:
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
            if result.sentence:
                yield from hanging([("      ", "")], result.sentence, width)
            yield from step_by_step(result.next, 6, width, own, numbered=True)


def step_by_step(
    steps: Iterable[NextStep], indent: int, width: int, own: OwnCommands, *, numbered: bool = False
) -> Iterator[Line]:
    """Yield what to do: each sentence as a point, and each command whole below its sentence."""
    for number, (sentence, commands) in enumerate(own.steps(steps), 1):
        point: Span = (f"{' ' * indent}{number}. ", "") if numbered else (f"{' ' * indent}- ", "faint")
        yield from hanging([point], sentence, width)
        for command in commands:
            yield from command_lines(command, indent + (3 if numbered else 4), width)


def sign_of(result: GateResult) -> Span:
    """Return the sign of a result: whether it allows the next step."""
    return GATE_SIGNS[result.status], role_of(result.status)
