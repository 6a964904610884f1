"""A log file of racwire, created by the first write: of its internal errors, and of what it runs (`--log-file`)."""

from __future__ import annotations

import fcntl
import io
import os
from contextlib import suppress
from pathlib import Path

LIMIT = 10_000_000
"""Bytes of a log file; with more, it becomes FILE.1 in place of the one before, and racwire starts a new file."""


def log_path(state_directory: Path) -> Path:
    """The path of the log file for internal errors."""
    return state_directory / "racwire.log"


class LogFile(io.TextIOBase):
    """Appends to a file of mode 0600. A failed write raises nothing, so that racwire continues."""

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        super().__init__()
        self.path = path
        self._limit = limit
        self.problem = ""
        """Why the last write failed; empty where it did not."""

    @property
    def location(self) -> str:
        """A clause for a message: where the details are, or why they could not be written."""
        if self.problem:
            return f"the details could not be written to {self.path}: {self.problem}"
        return f"the details are in {self.path}"

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Append the text in one piece, so that several racwires can write to the file, and return its length."""
        data = text.encode(errors="backslashreplace")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = self._open()
            try:
                if os.fstat(handle).st_size + len(data) > self._limit:
                    self._turn(handle)
                    os.close(handle)
                    handle = self._open()
                written = os.write(handle, data)
                self.problem = "" if written == len(data) else "the disk is full"
                if self.problem:  # no half of a line
                    os.ftruncate(handle, os.fstat(handle).st_size - written)
            finally:
                os.close(handle)
        except OSError as error:
            self.problem = error.strerror or str(error)
        return len(text)

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)

    def _turn(self, handle: int) -> None:
        """Rename a file that is full, unless another racwire does so."""
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(self.path)):
                os.replace(self.path, f"{self.path}.1")
