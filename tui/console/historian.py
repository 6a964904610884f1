"""Folds finished runs into the history, in a thread, one after the other."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from textual.app import App

from checks.model.run_record import RunRecord
from tui.console.app_state import AppState
from tui.console.messages import HistoryGrown

if TYPE_CHECKING:
    from checks.situation.run_history import RunHistory

log = logging.getLogger(__name__)


class Historian:
    """Adds runs to what is known. Judging the checks again takes seconds on a large cluster."""

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
        return history.after(record, {check.id: check for check in discover().checks})
