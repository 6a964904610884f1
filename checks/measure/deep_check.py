"""`racwire check --deep`: make the automatic steps of guided troubleshooting after the checks, without questions.

It keeps the session as any other, so that `racwire investigate --resume` goes on with the steps of people. A step that
needs a consent of its own, as one that watches a kernel, is not made.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from checks.investigate.guided_session import Question
from checks.investigate.paste_reader import PasteReader
from checks.measure.session_harm import open_investigator
from checks.model.investigation import By, SessionRecord, SessionStep, StepSaid
from checks.model.report import Report
from checks.model.settings import Settings
from checks.run.guided import Guided, new_session
from checks.run.investigating import Investigator
from checks.run.session_journal import SessionJournal, SessionJournalError
from checks.saved.session_run import begin_with_run
from checks.sources.database.secret import Secret

EVERY_S = 3600.0
"""Seconds from one such session of a cluster to the next."""
_STAMP = "deep"


@dataclass(frozen=True, slots=True)
class Deepened:
    """A report with its session, or why none was made."""

    report: Report
    why_not: str = ""
    """One sentence; empty where steps were made."""


async def deepened(
    report: Report, settings: Settings, password: Secret | None, progress: Callable[[str], None], stop: asyncio.Event
) -> Deepened:
    """Make the steps until none is left that racwire can make, the budget is spent, or `stop` is set."""
    session = new_session(report, time.time())
    question = session.question()
    if question is None:
        return Deepened(report, "The checks leave nothing open: no steps were made.")
    if _automatic(question) is None:
        return Deepened(report, "What is open needs a person: `racwire investigate` leads through the steps.")
    try:
        journal = await asyncio.to_thread(begin_with_run, session.record, report)
    except SessionJournalError as error:
        return Deepened(report, str(error))
    with journal:
        if (wait_s := await asyncio.to_thread(_stamped, journal.path.parent)) > 0:
            await asyncio.to_thread(_forget, journal)
            minutes = max(1, round(wait_s / 60))
            return Deepened(report, f"Steps are made at most once an hour: the next time in {minutes} min.")
        async with open_investigator(report.cluster, settings, session.record, password) as investigator:
            guided = Guided(session, journal.keep, PasteReader(report.cluster), investigator)
            record = await _made(guided, investigator, progress, stop)
    return Deepened(replace(report, sessions=(record,)))


async def _made(
    guided: Guided, investigator: Investigator, progress: Callable[[str], None], stop: asyncio.Event
) -> SessionRecord:
    """Make one step after the other, and return the record."""
    while not stop.is_set() and (question := guided.question) is not None:
        if (step := _automatic(question)) is None:
            break
        making = asyncio.create_task(guided.make(step, progress))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((making, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not making.done():
                break
            answer = making.result().session.record.answers[-1]
        finally:
            for task in (making, stopping):
                task.cancel()
            await asyncio.gather(making, stopping, return_exceptions=True)
        # What ends this step would end each further one, too.
        if answer.is_harm or answer.said is StepSaid.SKIPPED or investigator.budget.is_spent:
            break
    return guided.record


def _automatic(question: Question) -> SessionStep | None:
    """Return the best step that racwire makes alone; None where each needs a person."""
    steps = (offer.step for offer in (question.best, *question.others))
    return next((step for step in steps if step.by is By.ITSELF and not step.needs_consent), None)


def _stamped(directory: Path) -> float:
    """Stamp the directory of a cluster's sessions, and return 0; the seconds to wait where that was done lately."""
    stamp = directory / _STAMP
    try:
        age_s = time.time() - stamp.stat().st_mtime
        if 0 <= age_s < EVERY_S:
            return EVERY_S - age_s
    except OSError:
        pass
    stamp.touch(mode=0o600)
    return 0.0


def _forget(journal: SessionJournal) -> None:
    """Remove the files of a session without a step."""
    for path in journal.path.parent.glob(f"{journal.path.stem}.*"):
        if path.suffix != ".lock":
            path.unlink(missing_ok=True)
