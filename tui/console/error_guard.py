"""Keeps the console alive after an internal error: only the failed part is lost, and the log has the details.

Textual ends the whole app at the first error of any handler. During an incident that would take away what still works.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import Protocol, cast

from textual.app import App, ScreenStackError
from textual.css.query import NoMatches
from textual.message import Message
from textual.message_pump import MessagePump

from tui.text.home_path import with_path

log = logging.getLogger(__name__)

_REMEMBERED = 100


class Breakable(Protocol):
    """An app that handles internal errors."""

    def broke(self, error: Exception) -> None:
        """Report an error to the operator and continue."""


class Guarded(MessagePump):
    """A widget, screen or app whose message loop outlives an error in one of its handlers or actions."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            cast(Breakable, self.app).broke(error)


class FaultLog:
    """Writes each error to the log once: an error that repeats with every sample must not fill the disk."""

    def __init__(self) -> None:
        self.count = 0
        self._seen: set[tuple[str, str, int]] = set()

    def write(self, error: Exception) -> None:
        """Log an error, unless one from the same place is in the log already."""
        self.count += 1
        place = _place(error)
        if place not in self._seen and len(self._seen) < _REMEMBERED:
            self._seen.add(place)
            log.error("an internal error in racwire", exc_info=error)


def _place(error: Exception) -> tuple[str, str, int]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename if trace else ""
    return type(error).__name__, file, trace.tb_lineno if trace else 0


class GuardedApp(Guarded, App[None]):
    """An app that continues after an error, once it has a screen; before that it ends."""

    goes_on_after_faults = False
    faults: FaultLog
    log_path: Path
    """The log file for errors."""

    def notice(self, text: str) -> None:
        """Display a notice for the operator. Raises NotImplementedError: the app defines it."""
        raise NotImplementedError

    def broke(self, error: Exception) -> None:
        """Write an error to the log, display a notice, and continue."""
        if not self.goes_on_after_faults:
            self.faults.write(error)
            super()._handle_exception(error)
            return
        if (self._exit or not self.is_running) and isinstance(error, NoMatches | ScreenStackError):
            return  # the app is leaving, and its widgets go in any order
        self.faults.write(error)
        with suppress(Exception):  # the notice itself may fail for the same reason
            self.notice(with_path(self.log_path, "Internal error in racwire: see {}", "Error: see {}"))

    def _handle_exception(self, error: Exception) -> None:
        """Handle an error for which Textual would end the app."""
        self.broke(error)
