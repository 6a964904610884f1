"""The progress of a run of the checks, in one line on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from checks.model.sanitize import sanitize
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, RunStarted

_WIDTH = 78


class Progress:
    """A line on stderr with the progress: each event overwrites it, the end clears it."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._of = 0
        self._concluded = 0
        self._last = ""
        self._alongside = ""

    def __call__(self, event: Event) -> None:
        """Show an event."""
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
        """Set the second part of the line, for work next to the checks: `recording 8 of 15 s`."""
        self._alongside = text
        self._show(self._last)

    def clear(self) -> None:
        """Clear the line."""
        self._write("")

    def _show(self, text: str) -> None:
        self._last = text
        self._write(", ".join(part for part in (text[: _WIDTH - len(self._alongside) - 2], self._alongside) if part))

    def _write(self, line: str) -> None:
        if self._enabled:
            with contextlib.suppress(OSError):  # a closed terminal must not end the run
                sys.stderr.write(f"\r\x1b[K{sanitize(line)[:_WIDTH]}")
                sys.stderr.flush()


@contextlib.contextmanager
def progress_line(enabled: bool) -> Iterator[Progress]:
    """A progress line for the body of a `with`, on stderr where `enabled`."""
    progress = Progress(enabled)
    try:
        yield progress
    finally:
        progress.clear()
