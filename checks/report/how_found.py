"""How the cause was found: a session of guided troubleshooting for reports, from its record alone.

The texts are not sanitized.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo

import msgspec

from checks.model.finding import Finding
from checks.model.investigation import By, SessionRecord, StepSaid
from checks.model.report import Report
from checks.model.wording import counted, lasting
from checks.report.age import time_text, zone_of
from checks.report.session_words import after_text, cost_text, ending_text, outcome_text
from checks.report.step_words import step_title
from checks.report.suspect_words import network_of, suspects_by_place, suspects_in_short

TITLE = "How the cause was found"
READ = "Read by its steps"
_CLOCK = "%H:%M:%S"


class FoundStep(msgspec.Struct, frozen=True):
    """A step of a session, for its reader."""

    number: int
    at: str
    title: str
    price: str
    outcome: str
    excluded: str
    """What it excluded; empty where it excluded nothing."""
    commands: tuple[str, ...]
    pasted: tuple[str, ...]


class FoundEnd(msgspec.Struct, frozen=True):
    """How one entry ended."""

    text: str
    then: str


class HowFound(msgspec.Struct, frozen=True):
    """A session, for its reader."""

    about: str
    """When it was, how long it took, what it sent."""
    suspects: tuple[str, ...]
    """What was left at its start."""
    steps: tuple[FoundStep, ...]
    ends: tuple[FoundEnd, ...]
    state: str
    """What is open where it has not ended; else empty."""
    read: tuple[Finding, ...] = ()
    """What the checks find in the facts that its steps read."""

    @property
    def in_short(self) -> str:
        """The session in two or three sentences: when it was, and how it ended."""
        return " ".join((self.about, *(end.text for end in self.ends), self.state)).rstrip()


def how_found(session: SessionRecord, zone: tzinfo | None = None, read: tuple[Finding, ...] = ()) -> HowFound:
    """Return a session for its reader, with the times in that zone, and the findings in what its steps `read`."""
    return HowFound(
        about=_about(session, zone),
        suspects=suspects_by_place(session.suspects),
        steps=tuple(_steps(session, zone)),
        ends=tuple(FoundEnd(ending_text(one), after_text(one)) for one in session.endings),
        state="" if session.is_ended else "The session has not ended.",
        read=read,
    )


def sessions_of(report: Report) -> Iterator[HowFound]:
    """Yield the sessions of a report, for its reader."""
    from checks.run.sensed_findings import sensed_findings

    zone = zone_of(report.started_at)
    yield from (how_found(session, zone, sensed_findings(report, session)) for session in report.sessions)


def _about(session: SessionRecord, zone: tzinfo | None) -> str:
    took = max((answer.at for answer in session.answers), default=session.started_at) - session.started_at
    sent = sum(answer.packets for answer in session.answers)
    people = sum(a.step.by is not By.ITSELF and a.said is StepSaid.DONE for a in session.answers)
    made = counted(len(session.answers), "step") + (f", {people} of them by a person" if people else "")
    began = datetime.fromtimestamp(session.started_at, zone or UTC)
    started = time_text(began.isoformat(timespec="seconds"))
    return f"Session of {started}: {made}, {lasting(max(took, 0))}, {counted(sent, 'datagram')} sent."


def _steps(session: SessionRecord, zone: tzinfo | None) -> Iterator[FoundStep]:
    on = network_of(session.suspects)
    for number, answer in enumerate(session.answers, 1):
        at = datetime.fromtimestamp(answer.at, zone or UTC)
        yield FoundStep(
            number=number,
            at=f"{at:{_CLOCK}}",
            title=step_title(answer.step, on),
            price=cost_text(answer.step),
            outcome=outcome_text(answer, on),
            excluded=suspects_in_short(answer.excluded, on) if answer.excluded else "",
            commands=answer.step.commands,
            pasted=answer.pasted,
        )
