"""The worker of guided troubleshooting: it makes steps and takes answers, one at a time, and reports to the app."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from textual.app import App
from textual.worker import Worker

from tui.console.investigation_state import (
    Asked,
    BeginSession,
    InvestigationNews,
    InvestigationRequest,
    MakeStep,
    SendFor,
    SessionBegan,
    SessionFailed,
    SkipStep,
    StepEnded,
    StepProgressed,
    StepSent,
    StepStarted,
    StopStep,
    TakeHands,
    TakeOutput,
    TakeSigns,
    UndoAnswer,
)
from tui.console.messages import InvestigationReported

if TYPE_CHECKING:
    from checks.investigate.answering import Advance
    from checks.model.investigation import SessionStep, StepAnswer
    from checks.model.report import Report
    from checks.run.guided import Guided

log = logging.getLogger(__name__)

STOPPED = "Stopped: nothing is sent any more. The step can be made again."


class SessionSource(Protocol):
    """Access to sessions. Raises SessionJournalError, with a sentence, where there can be none."""

    def begin(self, report: Report) -> Guided:
        """Return a session about what a report leaves open. Blocking."""

    async def close(self) -> None:
        """Close what the steps have opened."""


class InvestigationWorker:
    """Carries one session, and does one thing at a time."""

    def __init__(self, app: App[None], source: SessionSource | None) -> None:
        """Create the worker; without a `source`, as for a recording, there are no sessions."""
        self._app = app
        self._source = source
        self._guided: Guided | None = None
        self._work: Worker[None] | None = None
        self._sent: list[StepAnswer] = []
        """What was sent for a person's step that is not answered yet."""

    @property
    def is_sending(self) -> bool:
        """Whether a step is being made."""
        return self._work is not None and not self._work.is_finished

    def do(self, want: InvestigationRequest) -> str:
        """Carry out a request of the operator; return a sentence where that is not possible now."""
        if isinstance(want, StopStep):
            if self._work is not None and self.is_sending:
                self._work.cancel()
            return ""
        if self._source is None:
            return "Steps need the live cluster or a saved state; this is a recording."
        if self.is_sending:
            return "A step is being made: wait for it, or stop it."
        match want:
            case BeginSession(report=report):
                self._start(partial(self._begin, self._source, report))
            case _ if self._guided is None:
                return "There is no session."
            case MakeStep(step=step):
                self._start(partial(self._make, self._guided, step))
            case SendFor(step=step):
                self._start(partial(self._send_for, self._guided, step))
            case TakeOutput(step=step, outputs=outputs):
                self._take(partial(self._guided.paste, step, outputs, self._sent[-1] if self._sent else None))
            case TakeSigns(step=step, seen=seen, looked=looked):
                self._take(partial(self._guided.state, step, seen, looked))
            case TakeHands(step=step) if len(self._sent) > 1:
                self._take(partial(self._guided.hands, step, self._sent[-2], self._sent[-1]))
            case SkipStep(step=step, is_impossible=is_impossible):
                self._take(partial(self._guided.rule_out if is_impossible else self._guided.skip, step))
            case UndoAnswer():
                self._start(partial(self._undo, self._guided))
        return ""

    async def stop(self, within_s: float) -> None:
        """Stop what is being sent, and close the connections; what hangs longer is abandoned. The session is on disk,
        and can be resumed."""
        if self._work is not None and self.is_sending:
            self._work.cancel()
        if self._source is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._source.close()

    # --- work ---------------------------------------------------------------------------------------------------------

    def _start(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        self._work = self._app.run_worker(work, group="investigation", exclusive=True, exit_on_error=False)

    def _take(self, take: Callable[[], Advance]) -> None:
        assert self._guided is not None
        self._start(partial(self._taken, self._guided, take))

    async def _begin(self, source: SessionSource, report: Report) -> None:
        from checks.run.session_journal import SessionJournalError

        self._post(SessionBegan())
        news: InvestigationNews = SessionFailed("The session was not started.")
        try:
            self._guided = await asyncio.to_thread(source.begin, report)
            news = await self._asked(self._guided)
        except SessionJournalError as error:
            news = SessionFailed(str(error))
        except Exception as error:
            log.exception("a session of guided troubleshooting could not start")
            news = SessionFailed(f"The session could not start: {error or type(error).__name__}.")
        finally:
            self._sent = []
            self._post(news)

    async def _make(self, guided: Guided, step: SessionStep) -> None:
        news: InvestigationNews = StepEnded(STOPPED)
        self._post(StepStarted(step))
        try:
            advance = await guided.make(step, lambda text: self._post(StepProgressed(text)))
            news = await self._asked(guided, advance)
        except Exception as error:
            log.exception("a step could not be made")
            news = StepEnded(f"The step could not be made: {error or type(error).__name__}.")
        finally:
            self._post(news)

    async def _send_for(self, guided: Guided, step: SessionStep) -> None:
        news: InvestigationNews = StepEnded(STOPPED)
        self._post(StepStarted(step))
        try:
            sent = await guided.send(step, lambda text: self._post(StepProgressed(text)))
            self._sent = [*(one for one in self._sent if one.step.key == sent.step.key), sent]
            news = StepSent(step)
        except Exception as error:
            log.exception("nothing could be sent for a step")
            news = StepEnded(f"Nothing could be sent: {error or type(error).__name__}.")
        finally:
            self._post(news)

    async def _taken(self, guided: Guided, take: Callable[[], Advance]) -> None:
        news: InvestigationNews = StepEnded("The answer was not taken.")
        try:
            advance = await asyncio.to_thread(take)
            news = await self._asked(guided, advance)
            self._sent = []
        except Exception as error:
            log.exception("an answer could not be taken")
            news = StepEnded(f"The answer was not taken: {error or type(error).__name__}.")
        finally:
            self._post(news)

    async def _undo(self, guided: Guided) -> None:
        self._sent = []
        if await asyncio.to_thread(guided.undo):
            self._post(await self._asked(guided))
        else:
            self._post(StepEnded("There is no answer to take back."))

    async def _asked(self, guided: Guided, advance: Advance | None = None) -> Asked:
        return Asked(guided.question, guided.record, advance, guided.maker is not None)

    def _post(self, news: InvestigationNews) -> None:
        self._app.post_message(InvestigationReported(news))
