"""What a person pastes or names: an output up to its last line, or a file with one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

END_OF_PASTE = "."
"""The line that ends a paste in a text without a screen."""
_MOST_BYTES = 8_000_000


def file_named(line: str) -> str:
    """Return the file that a line names, as `< FILE`; empty where it names none."""
    text = line.strip()
    return text[1:].strip() if text.startswith("<") else ""


def output_in(path: Path) -> tuple[str, str]:
    """Return the text of a file, and an empty sentence; where it cannot be read, the sentence why. Blocking."""
    try:
        handle = os.open(path.expanduser(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return "", f"That is no text file: {path}"
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        return "", f"That file could not be read ({getattr(error, 'strerror', None) or error}): {path}"
    if len(data) > _MOST_BYTES:
        return "", f"That file has more than {_MOST_BYTES // 1_000_000} MB, more than any output: {path}"
    if not data.strip():
        return "", f"That file is empty: {path}"
    return data.decode(errors="replace"), ""
