"""A question of guided troubleshooting as lines: what is left, the best step and why, the others, those not offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from checks.model.investigation import By, Step, Suspect
from checks.model.wording import counted
from checks.report.session_words import by_text, price_text, why_text
from checks.report.step_words import step_about, step_title
from checks.report.suspect_words import NONE_OF_THESE, suspects_by_place
from tui.text.line import Line, Span, command_lines, hanging

if TYPE_CHECKING:
    from checks.investigate.session import Offer, Question

_LABEL = 10
_ASIDE = 4
"""The most steps that are not offered and are named with the reason."""


def left_lines(left: Sequence[Suspect], excluded: Sequence[Suspect], width: int) -> Iterator[Line]:
    """Yield the suspects that are left, by place, and those that are excluded."""
    yield from _under("Left", [*suspects_by_place(left), NONE_OF_THESE], width)
    if excluded:
        yield from _under("Excluded", suspects_by_place(excluded), width, "faint")


def offers_lines(question: Question, width: int, chosen: int = 0) -> Iterator[Line]:
    """Yield the steps that can be made now, the best first; the chosen one in full."""
    for number, offer in enumerate((question.best, *question.others)):
        label = "Next" if number == 0 else "Or" if number == 1 else ""
        start: list[Span] = [(f"{label:<{_LABEL}}", "label"), (f"{number + 1:>2}  ", "accent")]
        if number == chosen:
            yield from offer_lines(offer, width, start)
        else:
            yield from hanging(start, offer_text(offer.step), width)
    yield from aside_lines(question.not_offered, width)


def offer_lines(offer: Offer, width: int, start: Sequence[Span] = ()) -> Iterator[Line]:
    """Yield a step in full: what it is, why, what it shows and where it is run, and its commands."""
    yield from hanging(start, step_title(offer.step), width, "title")
    margin: Line = [(" " * sum(len(text) for text, _ in start), "")]
    yield from hanging(margin, f"{price(offer.step)}.", width)
    yield from hanging(margin, why_text(offer.separates), width)
    if about := step_about(offer.step):
        yield from hanging(margin, about, width)
    yield from step_commands(offer.step, width, len(margin[0][0]))


def offer_text(step: Step) -> str:
    """Return a step in one line, with its price."""
    return f"{step_title(step)} ({price(step)})"


def price(step: Step) -> str:
    """Return who makes a step, and what it costs."""
    rights = f", as {step.price.rights}" if step.price.rights and step.by is By.ITSELF else ""
    return f"{by_text(step)}{rights}: {price_text(step.price)}"


def step_commands(step: Step, width: int, indent: int = 0) -> Iterator[Line]:
    """Yield where the commands of a step are run, and the commands."""
    if not step.commands:
        return
    yield from hanging([(" " * indent, "")], f"Run on {step.where}:" if step.where else "Run:", width)
    for command in step.commands:
        yield from command_lines(command, indent + 2, width)


def aside_lines(not_offered: Sequence[tuple[Step, str]], width: int) -> Iterator[Line]:
    """Yield the steps that are not offered here, each with the reason."""
    for number, (step, reason) in enumerate(not_offered[:_ASIDE]):
        text = f"{step_title(step)}: {reason}"
        yield from hanging([("" if number else f"{'Not now':<{_LABEL}}", "label"), ("    ", "")], text, width, "faint")
    if (more := len(not_offered) - _ASIDE) > 0:
        yield [(" " * (_LABEL + 4), ""), (f"and {counted(more, 'more step')} that cannot be made here", "faint")]


def _under(label: str, texts: Sequence[str], width: int, role: str = "") -> Iterator[Line]:
    for number, text in enumerate(texts):
        yield from hanging([(f"{'' if number else label:<{_LABEL}}", "label")], text, width, role)
