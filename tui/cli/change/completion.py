"""Runs the long operations of a change without the console. A signal ends them early, and nothing is written."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar, cast

from checks.change.progress.change_events import JournalLine
from checks.change.session.change_session import ChangeSession
from checks.change.session.opening import OpeningResult
from checks.change.session.verifying import Concluded
from checks.run.events import Event
from tui.cli.interrupts import graceful_loop_stop
from tui.cli.own_loop import run_in_own_loop
from tui.cli.progress import Progress, progress_line

_Last = TypeVar("_Last", OpeningResult, Concluded, JournalLine)


class EndedEarlyError(Exception):
    """A signal ended the operation early: it has no result, and nothing was written."""


def verify_gates(session: ChangeSession, *, quiet: bool) -> Concluded:
    """Check the gates of the current step; the result. Raises ChangeError, ChangeJournalError, EndedEarlyError."""
    return _run_to_completion(session.verify(), Concluded, quiet)


def start_step(session: ChangeSession, step: str, *, quiet: bool) -> JournalLine:
    """Start a step, the current one if none is named; the written line. Raises as `verify_gates`."""
    return _run_to_completion(session.begin(step), JournalLine, quiet)


def open_new_change(opening: AsyncGenerator[Event | OpeningResult, None], *, quiet: bool) -> OpeningResult:
    """Open a change and return the result. Raises PlanError, ChangeError, ChangeJournalError, EndedEarlyError."""
    return _run_to_completion(opening, OpeningResult, quiet)


def _run_to_completion(events: AsyncGenerator[Event | _Last, None], kind: type[_Last], quiet: bool) -> _Last:
    with progress_line(sys.stderr.isatty() and not quiet) as progress:
        return run_in_own_loop(_last_of(events, kind, progress))


async def _last_of(events: AsyncGenerator[Event | _Last, None], kind: type[_Last], progress: Progress) -> _Last:
    task = asyncio.current_task()
    assert task is not None
    found: _Last | None = None
    with graceful_loop_stop(lambda: _cancel(task)):
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, kind):
                        found = event
                    else:
                        progress(cast(Event, event))
        except asyncio.CancelledError:
            if found is None:
                raise EndedEarlyError from None
    if found is None:
        raise AssertionError("the operation ended without a result")
    return found


def _cancel(task: asyncio.Task[object]) -> None:
    task.cancel()
