"""A log file for internal errors of racwire, created by the first write."""

from __future__ import annotations

import io
import os
from pathlib import Path


def log_path(state_directory: Path) -> Path:
    """The path of the log file."""
    return state_directory / "racwire.log"


class LogFile(io.TextIOBase):
    """Appends to a file of mode 0600. A failed write raises nothing, so that the console continues."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._problem = ""

    @property
    def location(self) -> str:
        """A clause for a message: where the details are, or why they could not be written."""
        return self._problem or f"the details are in {self.path}"

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Append the text and return its length."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            self._problem = f"the details could not be written to {self.path}: {error.strerror}"
        return len(text)
