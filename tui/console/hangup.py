"""Notices that the terminal is gone.

When an SSH line breaks, the kernel sends SIGHUP. A process started through nohup or some `sudo su` chains never gets
it, and reading a lost terminal returns at once, for ever: without a look of its own the console would keep a CPU busy
until somebody kills it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

LOOK_EVERY_S = 2.0


class HangupWatcher:
    """Calls back once, when the terminal is lost or the process is asked to end."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._call_back: Callable[[], None] | None = None

    def watch(self, call_back: Callable[[], None]) -> None:
        """Begin to watch, in the running event loop."""
        self._call_back = call_back
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._lost)
        loop.call_later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        if os.isatty(self._terminal):
            asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)
        else:
            self._lost()

    def _lost(self) -> None:
        call_back, self._call_back = self._call_back, None
        if call_back is not None:
            call_back()
