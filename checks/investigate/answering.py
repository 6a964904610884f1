"""An answer added to a session, and what it changed: what is excluded now, what is left, and what ended."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from checks.investigate.guided_session import GuidedSession, Question
from checks.model.investigation import EntryEnding, SessionRecord, StepAnswer, Suspect, SuspectStanding


class Advance(NamedTuple):
    """A session after an answer, and what the answer changed."""

    session: GuidedSession
    excluded: tuple[Suspect, ...]
    endings: tuple[EntryEnding, ...]
    """The entries that it ended."""


def advanced(session: GuidedSession, answer: StepAnswer) -> Advance:
    """Return the session with the answer. Its record has what the answer excluded."""
    before, after = session.question(), session.answered(answer)
    excluded = _excluded(before, after)
    record = with_last(after.record, replace(answer, excluded=tuple(map(bare, excluded))))
    endings = after.record.endings[len(session.record.endings) :]
    return Advance(session.with_record(record), excluded, endings)


def begun(session: GuidedSession) -> GuidedSession:
    """Return the session with its first suspects in its record."""
    question = session.question()
    record = replace(session.record, suspects=tuple(map(bare, left_of(question))))
    return session.with_record(record)


def left_of(question: Question | None) -> tuple[Suspect, ...]:
    """Return the suspects that are left."""
    return _with(question, SuspectStanding.LEFT)


def excluded_of(question: Question | None) -> tuple[Suspect, ...]:
    """Return the suspects of the entry that are excluded."""
    return _with(question, SuspectStanding.EXCLUDED)


def bare(suspect: Suspect) -> Suspect:
    """Return a suspect without what it predicts."""
    return Suspect(cause=suspect.cause, kind=suspect.kind, name=suspect.name, place=suspect.place, footprint=())


def with_last(record: SessionRecord, answer: StepAnswer) -> SessionRecord:
    """Return the record with another last answer."""
    return replace(record, answers=(*record.answers[:-1], answer))


def _with(question: Question | None, standing: SuspectStanding) -> tuple[Suspect, ...]:
    return () if question is None else tuple(s for s, one in question.standing if one is standing)


def _excluded(before: Question | None, after: GuidedSession) -> tuple[Suspect, ...]:
    """Return those that were left before and are not any more, by the next question or how it ended."""
    next_, endings = after.question(), after.record.endings
    remain = {one.key for one in left_of(next_)} | {one.key for ending in endings for one in ending.suspects}
    return tuple(one for one in left_of(before) if one.key not in remain)
