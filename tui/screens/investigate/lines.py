"""The lines of the page of guided troubleshooting."""

from __future__ import annotations

from collections.abc import Iterator

from checks.investigate.answering import Advance, excluded_of, left_of
from checks.model.investigation import SessionStep, StepSaid
from checks.model.wording import counted
from checks.report.session_words import after_text, ending_text, outcome_text
from checks.report.step_words import step_about, step_title
from checks.report.suspect_words import NONE_OF_THESE, network_of, sign_text, suspects_by_place, suspects_in_short
from tui.console.investigation_state import InvestigationState
from tui.text.line import Line, hanging
from tui.text.question_lines import heading, offers_lines, step_commands


def heading_text(state: InvestigationState) -> str:
    """Return what the page asks, or that it has ended."""
    if state.question is not None:
        return heading(state.question)
    if state.record is None:
        return state.trouble or state.progress
    return "the session has ended" if state.record.endings else "nothing is left to investigate"


def suspect_lines(state: InvestigationState, width: int) -> Iterator[Line]:
    """Yield the suspects: those that are left, and those that are excluded."""
    question, record = state.question, state.record
    left, excluded = left_of(question), excluded_of(question)
    on = network_of((*left, *excluded))
    if question is not None:
        yield [(f"Left {len(left)} of {len(left) + len(excluded)}", "title")]
        unknown = (NONE_OF_THESE,) if question.confirms is None else ()
        for text in (*suspects_by_place(left, on), *unknown):
            yield from hanging([("· ", "accent")], text, width)
    if excluded:
        yield []
        yield [(f"Excluded {len(excluded)}", "label")]
        for text in suspects_by_place(excluded, on):
            yield from hanging([("  ", "")], text, width, "faint")
    for ending in record.endings if record is not None else ():
        yield []
        yield [("Ended", "title")]
        yield from hanging([], ending_text(ending), width)


def page_lines(state: InvestigationState, chosen: int, width: int) -> Iterator[Line]:
    """Yield what the last answer changed, then the steps; at the end how the session ended."""
    if state.advance is not None:
        yield from _advance_lines(state.advance, width)
        yield []
    if state.question is not None:
        yield from offers_lines(state.question, width, chosen)
        return
    if state.record is None:
        yield from hanging([], state.trouble or f"racwire is {state.progress}.", width)
        return
    if not state.record.endings:
        yield from hanging([], "This run leaves nothing open: no packets are lost, or their cause is proved.", width)
        return
    for ending in state.record.endings:
        yield from hanging([], ending_text(ending), width, "title")
        yield from hanging([], after_text(ending), width)
        yield []
    yield from hanging([], "v runs all checks again: what was lost must be gone. r shows the whole session.", width)


def _advance_lines(advance: Advance, width: int) -> Iterator[Line]:
    record = advance.session.record
    on = network_of(record.suspects)
    yield from hanging([("Result  ", "label")], outcome_text(record.answers[-1], on), width)
    if advance.excluded:
        yield from hanging([("Gone    ", "label")], f"{suspects_in_short(advance.excluded, on)}.", width)
    elif not advance.endings and record.answers[-1].said is StepSaid.DONE:
        yield from hanging([("Gone    ", "label")], "nothing: all that was left can do that.", width, "faint")
    for ending in advance.endings:
        yield from hanging([("End     ", "label")], ending_text(ending), width, "title")


def consent_lines(state: InvestigationState, width: int) -> Iterator[Line]:
    """Yield what racwire sends at most in a session."""
    for sentence in state.consent():
        yield from hanging([], sentence, width)
        yield []


def person_lines(step: SessionStep, width: int, *, with_signs: bool = False) -> Iterator[Line]:
    """Yield a step that a person makes: what it shows, where it is made, its commands, and the signs to state."""
    yield from hanging([], step_title(step), width, "title")
    yield from hanging([], step_about(step), width)
    yield []
    yield from step_commands(step, width)
    if with_signs:
        yield from hanging([], f"{counted(len(step.reads), 'question')}: did they see", width)
        for number, sign in enumerate(step.reads, 1):
            yield from hanging([(f"{number}  ", "accent")], sign_text(sign), width)
