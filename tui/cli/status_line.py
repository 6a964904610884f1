"""One line on stderr that is overwritten as things go on, with sentences above it that stay."""

from __future__ import annotations

import select
import shutil
import sys
from contextlib import suppress

from checks.model.sanitize import shown
from tui.cli.streams import print_message
from tui.text.sanitize import for_encoding

_CLEAR = "\r\x1b[K"


class StatusLine:
    """Shown on a terminal only; sentences are told wherever stderr leads."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._on_terminal = sys.stderr.isatty() and not quiet
        self._is_shown = False

    def show(self, text: str) -> None:
        """Overwrite the line, cut to the terminal's width."""
        if self._on_terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(_CLEAR + for_encoding(shown(text), sys.stderr.encoding)[:width])
            self._is_shown = True

    def print(self, sentence: str) -> None:
        """Tell a sentence above the line, unless quiet is wanted."""
        if self._quiet:
            return
        self.announce(sentence)

    def announce(self, sentence: str) -> None:
        """Tell a sentence above the line that nobody may miss."""
        self.clear()
        print_message(sentence)

    def clear(self) -> None:
        """Leave nothing of the line."""
        if self._is_shown:
            self._write(_CLEAR)
            self._is_shown = False

    def _write(self, text: str) -> None:
        # A terminal that is held (Ctrl-S) or gone must not hold up what the line is about.
        with suppress(OSError, ValueError):
            if select.select([], [sys.stderr], [], 0)[1]:
                sys.stderr.write(text)
                sys.stderr.flush()
