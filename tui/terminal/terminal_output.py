"""Writes to the terminal without making the app wait.

An SSH line that breaks silently leaves a terminal that accepts no data, for minutes or for ever. Textual's own writer
then stops the whole app once 30 updates wait: the app notices no key, no signal and no lost terminal, and a recording
has a gap.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable

MOST_WAITING = 256_000
"""Most characters that wait for the terminal: several screens. Further output is dropped."""

_RETRY_S = 0.5


class TerminalOutput:
    """Writes to a terminal in a thread of its own, and drops output that the terminal does not accept."""

    def __init__(self, terminal: int, encoding: str, caught_up: Callable[[], None]) -> None:
        """Start the thread. It calls `caught_up` when the terminal accepts data again after output was dropped, because
        the terminal then displays an old screen."""
        self._terminal = terminal
        self._encoding = encoding
        self._caught_up = caught_up
        self._waiting: deque[str] = deque()
        self._length = 0
        self._has_dropped = False
        self._is_restoring = False
        self._is_ending = False
        self._is_lost = False
        self._change = threading.Condition()
        # A daemon thread, because a write to a terminal that accepts nothing cannot be cancelled.
        self._thread = threading.Thread(target=self._run, name="terminal-output", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Queue text for the terminal; return at once."""
        with self._change:
            if self._is_lost or self._is_ending:
                return
            if not self._is_restoring and (self._has_dropped or self._length > MOST_WAITING):
                self._has_dropped = True
                self._waiting.clear()
                self._length = 0
                return
            self._waiting.append(text)
            self._length += len(text)
            self._change.notify()

    def start_restoring(self) -> None:
        """Drop no output from here on: it restores the terminal."""
        self._is_restoring = True

    def end(self, within_s: float) -> bool:
        """Write the queued text, then stop; return False where the terminal does not accept it within that time."""
        with self._change:
            self._is_ending = True
            self._change.notify()
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while text := self._next():
                self._write(text.encode(self._encoding, errors="replace"))
        except OSError:  # the terminal is gone
            with self._change:
                self._is_lost = True
                self._waiting.clear()

    def _next(self) -> str:
        """Wait for queued text and return it; empty at the end."""
        with self._change:
            while not self._waiting and not self._is_ending:
                if self._has_dropped and not self._is_restoring:
                    self._has_dropped = False
                    self._caught_up()
                self._change.wait()
            text = "".join(self._waiting)
            self._waiting.clear()
            self._length = 0
            return text

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._terminal, data) :]
            except BlockingIOError:  # another program on this terminal made it non-blocking
                select.select([], [self._terminal], [], _RETRY_S)
