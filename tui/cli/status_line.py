"""A status line on stderr that is overwritten, with permanent messages above it."""

from __future__ import annotations

import select
import shutil
import sys
from contextlib import suppress

from checks.model.sanitize import sanitize
from tui.cli.streams import print_message
from tui.text.sanitize import for_encoding

_CLEAR = "\r\x1b[K"


class StatusLine:
    """A status line, on a terminal only; messages go to stderr in any case."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._on_terminal = sys.stderr.isatty() and not quiet
        self._is_visible = False

    def show(self, text: str) -> None:
        """Overwrite the status line with the text, cut to the width of the terminal."""
        if self._on_terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(_CLEAR + for_encoding(sanitize(text), sys.stderr.encoding)[:width])
            self._is_visible = True

    def print(self, sentence: str) -> None:
        """Print a message above the status line, unless the line is quiet."""
        if self._quiet:
            return
        self.announce(sentence)

    def announce(self, sentence: str) -> None:
        """Print an important message above the status line, even where the line is quiet."""
        self.clear()
        print_message(sentence)

    def clear(self) -> None:
        """Clear the status line."""
        if self._is_visible:
            self._write(_CLEAR)
            self._is_visible = False

    def _write(self, text: str) -> None:
        # A terminal that is stopped (Ctrl-S) or gone must not delay the work.
        with suppress(OSError, ValueError):
            if select.select([], [sys.stderr], [], 0)[1]:
                sys.stderr.write(text)
                sys.stderr.flush()
