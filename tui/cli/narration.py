"""What racwire runs, a line for each command, file, query and probe that has ended: on stderr, and in a log file.

It is the journal of the report, as it grows: no password and no output is in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from checks.model.journal import Entry, Journal, now
from checks.model.sanitize import sanitize
from checks.model.settings_reporting import LogSettings
from tui import __version__
from tui.cli.errors import UsageError
from tui.cli.log_file import LogFile
from tui.cli.streams import print_message_unless_blocked

_LONGEST = 300
"""Characters of an action: some are programs."""
_CLEAR = "\r\x1b[K"


class _Narration:
    def __init__(self, settings: LogSettings) -> None:
        self._prints = settings.verbose
        self._file = LogFile(_target(settings.file)) if settings.file else None
        self._has_told_problem = False
        self.is_off_screen = False
        """Whether stderr is the screen of the console."""

    def entry(self, entry: Entry) -> None:
        """Tell of an action that has ended."""
        outcome = "" if entry.outcome == "ok" else f"  ({entry.outcome})"
        action = " ".join(entry.action.split())
        short = action if len(action) <= _LONGEST else f"{action[:_LONGEST]}..."
        size = f"{len(entry.text.encode(errors='replace')):,} bytes"
        self.tell(f"{entry.node}  {entry.duration_ms / 1000:.3f} s  {size}  {short}{outcome}")

    def tell(self, text: str) -> None:
        """Write a line."""
        line = sanitize(text)
        if self._file is not None:
            self._file.write(f"{now()} {os.getpid()}  {line}\n")
        if self.is_off_screen:
            return
        if self._prints:
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{_CLEAR if sys.stderr.isatty() else ''}{line}\n")
                sys.stderr.flush()
        if self._file is not None and self._file.problem and not self._has_told_problem:
            self._has_told_problem = True
            print_message_unless_blocked(f"the log could not be written to {self._file.path}: {self._file.problem}.")


_current: list[_Narration] = []


@contextmanager
def narrated(settings: LogSettings, command: str) -> Iterator[None]:
    """Tell what racwire runs in the body of a `with`, if the settings want it. Raises UsageError for a wrong file."""
    if not settings.verbose and not settings.file:
        yield
        return
    narration = _Narration(settings)
    _current.append(narration)
    Journal.followers.append(narration.entry)
    narration.tell(f"racwire {__version__} {command} starts")
    try:
        yield
    finally:
        Journal.followers.remove(narration.entry)
        _current.remove(narration)
        narration.tell(f"racwire {command} ends")


@contextmanager
def off_screen() -> Iterator[None]:
    """Tell nothing on stderr in the body of a `with`: the console draws there."""
    for narration in _current:
        narration.is_off_screen = True
    try:
        yield
    finally:
        for narration in _current:
            narration.is_off_screen = False


def _target(file: str) -> Path:
    """The log file itself. Raises UsageError where it is not one to append to."""
    from checks.whole_files import OutputError, trusted_target  # late: the first screen does not wait for it

    try:
        target = trusted_target(Path(file))
    except OutputError as error:
        raise UsageError(f"--log-file: {error}") from None
    if not target.parent.is_dir():
        raise UsageError(f"--log-file: there is no directory {target.parent}.")
    return target
