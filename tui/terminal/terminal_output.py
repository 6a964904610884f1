"""What is drawn goes to the terminal from here, and nothing that is drawn waits for it.

An SSH line that breaks without a word leaves a terminal that takes nothing more, for minutes or for ever. Textual's own
writer then stops the whole app once 30 updates wait: no key, no signal and no lost terminal is noticed, and what is
being recorded has a gap.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable

MOST_WAITING = 256_000
"""Characters that may wait for the terminal: several screens. What is drawn beyond that is left out."""

_LOOK_AGAIN_S = 0.5


class TerminalOutput:
    """Writes to a terminal in a thread of its own, and leaves out what it does not take."""

    def __init__(self, terminal: int, encoding: str, caught_up: Callable[[], None]) -> None:
        """`caught_up` is called, in that thread, when the terminal takes something again after something was left
        out: what it shows then is not what was drawn."""
        self._terminal = terminal
        self._encoding = encoding
        self._caught_up = caught_up
        self._waiting: deque[str] = deque()
        self._length = 0
        self._left_out = False
        self._leaving = False
        self._ending = False
        self._lost = False
        self._change = threading.Condition()
        # Daemonic, since a write to a terminal that takes nothing cannot be ended.
        self._thread = threading.Thread(target=self._run, name="terminal-output", daemon=True)
        self._thread.start()

    def write(self, text: str) -> None:
        """Have this written; returns at once."""
        with self._change:
            if self._lost or self._ending:
                return
            if not self._leaving and (self._left_out or self._length > MOST_WAITING):
                self._left_out = True
                self._waiting.clear()
                self._length = 0
                return
            self._waiting.append(text)
            self._length += len(text)
            self._change.notify()

    def leave(self) -> None:
        """What is written from now on gives the terminal back: none of it is left out."""
        self._leaving = True

    def end(self, within_s: float) -> bool:
        """Write what waits, and no more; False where the terminal does not take it in that time."""
        with self._change:
            self._ending = True
            self._change.notify()
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while text := self._next():
                self._write(text.encode(self._encoding, errors="replace"))
        except OSError:  # the terminal is gone
            with self._change:
                self._lost = True
                self._waiting.clear()

    def _next(self) -> str:
        """What is to be written now, once there is something; nothing at the end."""
        with self._change:
            while not self._waiting and not self._ending:
                if self._left_out and not self._leaving:
                    self._left_out = False
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
            except BlockingIOError:  # another program that has this terminal made it so
                select.select([], [self._terminal], [], _LOOK_AGAIN_S)
