"""The state of the page of guided troubleshooting: the question, the work, and what the last answer changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from checks.investigate.answering import Advance
    from checks.investigate.guided_session import Question
    from checks.model.investigation import SessionRecord, SessionStep
    from checks.model.report import Report
    from checks.model.signs import SignAt


# --- reports of the worker --------------------------------------------------------------------------------------------


class SessionBegan(msgspec.Struct, frozen=True):
    """The diagnosis is being read for what it leaves open."""


class Asked(msgspec.Struct, frozen=True):
    """The session asks, or has ended: `question` is None then."""

    question: Question | None
    record: SessionRecord
    advance: Advance | None = None
    """What the last answer changed; None where there was none, or it was taken back."""
    can_send: bool = True
    """Whether racwire can make steps by itself: not on a saved state."""


class StepStarted(msgspec.Struct, frozen=True):
    """racwire makes a step, or sends while a person works."""

    step: SessionStep


class StepProgressed(msgspec.Struct, frozen=True):
    """How far the step is, as a clause."""

    text: str


class StepSent(msgspec.Struct, frozen=True):
    """What was to be sent around or during a person's step was sent; the person goes on."""

    step: SessionStep


class StepEnded(msgspec.Struct, frozen=True):
    """Nothing is sent any more, and there is no answer: stopped, or failed; `why` is a sentence."""

    why: str


class SessionFailed(msgspec.Struct, frozen=True):
    """There is no session; a sentence why."""

    why: str


InvestigationNews = SessionBegan | Asked | StepStarted | StepProgressed | StepSent | StepEnded | SessionFailed


# --- requests of the operator -----------------------------------------------------------------------------------------


class BeginSession(msgspec.Struct, frozen=True):
    """Ask about what this report leaves open."""

    report: Report


class MakeStep(msgspec.Struct, frozen=True):
    """Make an automatic step."""

    step: SessionStep


class SendFor(msgspec.Struct, frozen=True):
    """Send what a person's step needs, between two readings or during one."""

    step: SessionStep


class TakeOutput(msgspec.Struct, frozen=True):
    """A person pasted the outputs of a step."""

    step: SessionStep
    outputs: tuple[str, ...]


class TakeSigns(msgspec.Struct, frozen=True):
    """A person stated which signs of a step were seen."""

    step: SessionStep
    seen: tuple[SignAt, ...]
    looked: tuple[SignAt, ...]


class TakeHands(msgspec.Struct, frozen=True):
    """A person has moved something, and racwire has sent before and after it."""

    step: SessionStep


class SkipStep(msgspec.Struct, frozen=True):
    """Leave a step for later; with `is_impossible`, never offer it again."""

    step: SessionStep
    is_impossible: bool = False


class UndoAnswer(msgspec.Struct, frozen=True):
    """Take the last answer back."""


class StopStep(msgspec.Struct, frozen=True):
    """Stop what racwire sends."""


InvestigationRequest = (
    BeginSession | MakeStep | SendFor | TakeOutput | TakeSigns | TakeHands | SkipStep | UndoAnswer | StopStep
)


class InvestigationState:
    """What is known of the session: `apply` updates it, the page only reads it."""

    def __init__(self) -> None:
        self.question: Question | None = None
        self.record: SessionRecord | None = None
        """None before the first question."""
        self.advance: Advance | None = None
        self.can_send = True
        self.making: SessionStep | None = None
        """The step that racwire makes now, or sends for."""
        self.progress = ""
        self.trouble = ""
        """Why the last step gave no answer, or why there is no session; a sentence."""
        self.sent_for: tuple[str, ...] = ()
        """The key of the person's step for which racwire has sent, once for each time."""
        self.consent: Callable[[], tuple[str, ...]] = tuple
        """Returns what racwire sends at most in a session, in sentences."""
        self.may_send = False
        """Whether the operator has consented to what racwire sends in this session."""

    @property
    def is_busy(self) -> bool:
        """Whether racwire reads the diagnosis, or makes a step."""
        return self.making is not None or bool(self.progress)

    def apply(self, news: InvestigationNews) -> None:
        """Apply news."""
        match news:
            case SessionBegan():
                self.question = self.record = self.advance = self.making = None
                self.progress, self.trouble, self.sent_for = "reading what the diagnosis leaves open", "", ()
                self.may_send = False
            case Asked():
                self.question, self.record, self.advance = news.question, news.record, news.advance
                self.can_send = news.can_send
                self.making, self.progress, self.trouble, self.sent_for = None, "", "", ()
            case StepStarted(step=step):
                self.making, self.progress, self.trouble = step, "starting", ""
            case StepProgressed(text=text) if self.making is not None:
                self.progress = text
            case StepSent(step=step):
                self.making, self.progress = None, ""
                self.sent_for = (*self.sent_for, step.key) if self.sent_for[-1:] == (step.key,) else (step.key,)
            case StepEnded(why=why) | SessionFailed(why=why):
                self.making, self.progress, self.trouble = None, "", why
