"""A question of guided troubleshooting as lines: what is left, the best step and why, the others, those not offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from checks.model.investigation import By, NotOffered, SessionStep, Suspect
from checks.model.wording import counted, listed
from checks.report.session_words import confirming_text, cost_text, why_text
from checks.report.step_words import step_about, step_title, withheld_text
from checks.report.suspect_words import NONE_OF_THESE, network_of, sign_text, suspects_by_place
from tui.text.line import Line, Span, command_lines, hanging

if TYPE_CHECKING:
    from checks.investigate.choice import Offer
    from checks.investigate.guided_session import Question

_LABEL = 10
_NARROW = 60
"""Columns below which a label has a line of its own."""
_ASIDE = 4
"""The most steps that are not offered and are named with the reason."""


def left_lines(
    left: Sequence[Suspect], excluded: Sequence[Suspect], width: int, *, may_be_unknown: bool = True
) -> Iterator[Line]:
    """Yield the suspects that are left, by place, and those that are excluded."""
    on = network_of((*left, *excluded))
    unknown = [NONE_OF_THESE] if may_be_unknown else []
    yield from _under("Left", [*suspects_by_place(left, on), *unknown], width)
    if excluded:
        yield from _under("Excluded", suspects_by_place(excluded, on), width, "faint")


def heading(question: Question) -> str:
    """Return `Question 3: what loses packets on 192.168.11.0/24?`"""
    on = question_network(question)
    return f"Question {question.number}: what loses packets{f' on {on}' if on else ''}?"


def question_network(question: Question) -> str:
    """Return the network that all suspects of a question are on; empty where they are on several."""
    return network_of(suspect for suspect, _ in question.standing)


def offers_lines(question: Question, width: int, chosen: int = 0, *, most: int | None = None) -> Iterator[Line]:
    """Yield the steps that can be made now, the best first, at most so many; the chosen one in full."""
    offers = (question.best, *question.others)
    on, is_narrow = question_network(question), width < _NARROW
    for number, offer in enumerate(offers[:most]):
        label = "Next" if number == 0 else "Or" if number == 1 else ""
        if is_narrow and label:
            yield from ([[]] if number else [])
            yield [(label, "label")]
        start: list[Span] = [] if is_narrow else [(f"{label:<{_LABEL}}", "label")]
        start.append((f"{number + 1} " if is_narrow else f"{number + 1:>2}  ", "accent"))
        if number == chosen:
            yield from offer_lines(offer, width, start, on=on, confirms=question.confirms)
        else:
            yield from hanging(start, offer_text(offer.step, on), width)
    if most is not None and len(offers) > most:
        yield [(" " * (_LABEL + 4), ""), (f"and {counted(len(offers) - most, 'more step')}: m shows all", "faint")]
        return
    yield from aside_lines(question.not_offered, width, on)


def offer_lines(
    offer: Offer, width: int, start: Sequence[Span] = (), *, on: str = "", confirms: Suspect | None = None
) -> Iterator[Line]:
    """Yield a step in full: what it is, why, what it shows and where it is run, and its commands."""
    yield from hanging(start, step_title(offer.step, on), width, "title")
    margin: Line = [(" " * sum(len(text) for text, _ in start), "")]
    cost = cost_text(offer.step)
    why = _why(offer, on, confirms)
    yield from hanging(margin, f"{cost if offer.step.by is By.ITSELF else cost[:1].upper() + cost[1:]}. {why}", width)
    if about := step_about(offer.step):
        yield from hanging(margin, about, width)
    yield from step_commands(offer.step, width, len(margin[0][0]))


def _why(offer: Offer, on: str, confirms: Suspect | None) -> str:
    if offer.opens is not None:
        title = step_title(offer.opens, on)
        return f"Decides whether a person may {title[:1].lower()}{title[1:]}."
    return confirming_text(confirms, on) if confirms is not None else why_text(offer.separates, on, offer.step.reads)


def offer_text(step: SessionStep, on: str = "") -> str:
    """Return a step in one line, with its price."""
    return f"{step_title(step, on)} ({cost_text(step)})"


def step_commands(step: SessionStep, width: int, indent: int = 0) -> Iterator[Line]:
    """Yield where the commands of a step are run, and the commands; where none are known, whom to ask for what."""
    if not step.commands:
        if step.by is By.COMMAND and step.reads:
            signs = listed(dict.fromkeys(sign_text(sign, sign.network) for sign in step.reads), "or")
            text = f"The commands of this kind of device are not known. Ask {step.price.rights} whether {signs}."
            yield from hanging([(" " * indent, "")], text, width)
        return
    yield from hanging([(" " * indent, "")], f"Commands ({step.where}):" if step.where else "Commands:", width)
    for command in step.commands:
        yield from command_lines(command, indent + 2, width)


def aside_lines(not_offered: Sequence[tuple[SessionStep, NotOffered]], width: int, on: str = "") -> Iterator[Line]:
    """Yield the steps that are not offered here, each with the reason."""
    for number, (step, reason) in enumerate(not_offered[:_ASIDE]):
        text = f"{step_title(step, on)}: {withheld_text(reason)}."
        label = "" if number else "Not now"
        if width < _NARROW:
            yield from hanging([(f"{label}: " if label else "", "label")], text, width, "faint")
        else:
            yield from hanging([(f"{label:<{_LABEL}}    ", "label")], text, width, "faint")
    if (more := len(not_offered) - _ASIDE) > 0:
        yield [(" " * (_LABEL + 4), ""), (f"and {counted(more, 'more step')} that cannot be made here", "faint")]


def _under(label: str, texts: Sequence[str], width: int, role: str = "") -> Iterator[Line]:
    for number, text in enumerate(texts):
        yield from hanging([(f"{'' if number else label:<{_LABEL}}", "label")], text, width, role)
