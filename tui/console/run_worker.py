"""The workers of runs: one runs the checks and passes the events of the engine to the app, one adds what has finished
to the history."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.app import App
from textual.worker import Worker

from checks.model.run_record import RunRecord
from checks.run.events import Event, GatherProgress, NodesSoFar, PathsSoFar, RunFinished
from tui.console.app_state import AppState
from tui.console.messages import EngineReported, HistoryGrown, RunFailed

if TYPE_CHECKING:
    from checks.run.engine import Engine
    from checks.situation.run_history import RunHistory

_CHANGING_NO_FINDING = (GatherProgress, NodesSoFar, PathsSoFar)

log = logging.getLogger(__name__)


class RunWorker:
    """Executes one run at a time. Each run has a number, so that late events of an earlier run can be ignored."""

    def __init__(
        self,
        app: App[None],
        new_engine: Callable[[Sequence[str]], Engine],
        warm_up: Callable[[], None] | None = None,
        after: asyncio.Event | None = None,
    ) -> None:
        """Create the worker. The first run calls `warm_up` in a thread, once `after` has happened."""
        self.number = 0
        self._app = app
        self._warm_up = warm_up
        self._after = after
        self._new_engine = new_engine
        self._worker: Worker[None] | None = None
        self._closed = asyncio.Event()

    @property
    def is_in_progress(self) -> bool:
        """Whether the checks are running."""
        return self._worker is not None and not self._worker.is_finished

    async def prepare(self) -> None:
        """Load the modules that the first run needs, once."""
        if self._warm_up is not None:
            if self._after is not None:
                await self._after.wait()
            await asyncio.to_thread(self._warm_up)
            self._warm_up = None

    def start(self, checks: Sequence[str] = ()) -> None:
        """Run all checks, or the named ones. The caller stops a run in progress first."""
        self.number += 1
        self._closed = asyncio.Event()
        self._worker = self._app.run_worker(
            self._work(self.number, checks, self._closed), group="run", exclusive=True, exit_on_error=False
        )

    async def stop(self, within_s: float) -> None:
        """Cancel the run and wait until it has closed its connections; what hangs longer is abandoned."""
        if self._worker is not None and self.is_in_progress:
            self._worker.cancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._closed.wait()

    async def _work(self, number: int, checks: Sequence[str], closed: asyncio.Event) -> None:
        """Run the checks and post their events. The engine has closed its connections when this ends, in any case."""
        try:
            await self.prepare()
            engine = self._new_engine(checks)
            report = engine.report()
            events = engine.events()
            try:
                at_once: list[Event] = []
                async for event in events:
                    at_once.append(event)
                    if engine.has_more:
                        continue
                    if isinstance(event, RunFinished):
                        report = event.report
                    elif not all(isinstance(one, _CHANGING_NO_FINDING) for one in at_once):
                        report = engine.report()
                    for one in at_once:
                        self._app.post_message(EngineReported(number, one, report))
                    at_once.clear()
            finally:
                await events.aclose()
        except Exception as error:
            log.exception("the run of the checks failed")
            self._app.post_message(
                RunFailed(number, f"The run of the checks failed: {error or type(error).__name__}. r runs it again.")
            )
        finally:
            closed.set()


class HistoryWorker:
    """Adds finished runs to what is known, in a thread, one after the other: judging all checks again takes seconds on
    a large cluster."""

    def __init__(self, app: App[None], state: AppState) -> None:
        self._app = app
        self._state = state
        self._turn = asyncio.Lock()

    def add(self, record: RunRecord, run: int = 0) -> None:
        """Fold a finished run, or the gates of a change, and post `HistoryGrown`; `run` is its number, 0 for gates."""
        self._app.run_worker(self._fold(record, run), group="history", exit_on_error=False)

    async def _fold(self, record: RunRecord, run: int) -> None:
        async with self._turn:  # each starts from what the one before has added
            trouble = ""
            try:
                self._state.run.take(await asyncio.to_thread(self._after, record))
            except Exception as error:
                log.exception("a finished run could not be added to what is known")
                trouble = f"The run could not be added to what is known: {error or type(error).__name__}."
            self._app.post_message(HistoryGrown(record, run, trouble))

    def _after(self, record: RunRecord) -> RunHistory:
        from checks.run.check_discovery import discover
        from checks.situation.run_history import RunHistory

        history = self._state.run.history or RunHistory()
        return history.after(record, {check.id: check for check in discover().every})
