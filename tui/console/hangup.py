"""Detects that the terminal is gone.

When an SSH line breaks, the kernel sends SIGHUP, which ends the console as `tui.cli.interrupts` describes. A process
started through nohup or some `sudo su` chains never receives SIGHUP, and a read from a lost terminal returns at once,
again and again: without its own check the console would keep a CPU busy until an administrator kills it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

CHECK_EVERY_S = 0.4
"""Seconds between two looks, each of one system call: what a measurement sends must end within a second of the loss."""


class HangupWatcher:
    """Calls back once, when the terminal is lost or a signal requests the end of the process."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._call_back: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.is_lost = False
        """Whether a signal requested the end."""

    def watch(self, call_back: Callable[[], None]) -> None:
        """Start to watch, in the running event loop."""
        self._call_back = call_back
        self._loop = asyncio.get_running_loop()
        if self.is_lost:
            self._loop.call_soon(self._lost)
        self._loop.call_later(CHECK_EVERY_S, self._check)

    def end(self) -> None:
        """Treat the terminal as lost, as a signal demands; callable from any code of the main thread."""
        self.is_lost = True
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: it has ended
                self._loop.call_soon_threadsafe(self._lost)

    def _check(self) -> None:
        if os.isatty(self._terminal):
            asyncio.get_running_loop().call_later(CHECK_EVERY_S, self._check)
        else:
            self._lost()

    def _lost(self) -> None:
        call_back, self._call_back = self._call_back, None
        if call_back is not None:
            call_back()
