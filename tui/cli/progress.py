"""How far a run of the checks is, in one line on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from checks.model.sanitize import shown
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, RunStarted

_WIDTH = 78


class Progress:
    """One line on stderr that says what is going on, overwritten as it goes, gone at the end."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._of = 0
        self._concluded = 0
        self._last = ""
        self._alongside = ""

    def __call__(self, event: Event) -> None:
        """Tell an event."""
        match event:
            case RunStarted(checks):
                self._of = len(checks)
            case GatherProgress():
                self._show(f"{event.text} {event.measure}".rstrip())
            case Gathered(group, _, problem) if not problem:
                self._show(f"{group} known")
            case CheckConcluded():
                self._concluded += 1
                self._show(f"{self._concluded} of {max(self._of, self._concluded)} checks concluded")

    def alongside(self, text: str) -> None:
        """What goes on beside the checks, behind what is told of them from now on: `recording 8 of 15 s`."""
        self._alongside = text
        self._show(self._last)

    def clear(self) -> None:
        """Leave the line empty for what comes after."""
        self._write("")

    def _show(self, text: str) -> None:
        self._last = text
        self._write(", ".join(part for part in (text[: _WIDTH - len(self._alongside) - 2], self._alongside) if part))

    def _write(self, line: str) -> None:
        if self._shown:
            with contextlib.suppress(OSError):  # a terminal that is gone must not end what it was told of
                sys.stderr.write(f"\r\x1b[K{shown(line)[:_WIDTH]}")
                sys.stderr.flush()


@contextlib.contextmanager
def progress_line(shown: bool) -> Iterator[Progress]:
    """A progress line for the time of a run."""
    progress = Progress(shown)
    try:
        yield progress
    finally:
        progress.clear()
