"""The terminal of a command that sends: `s` stops it, and so does the loss of the terminal.

The keys are read without Enter and without echo meanwhile. The terminal is as before in every way of ending: at the end
of the `with`, at a second Ctrl-C, at Ctrl-Z and at Ctrl-\\. Only SIGKILL leaves it (`stty sane` helps).
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from tui.cli.enter_key import ENTER_KEYS, enter_pressed
from tui.cli.interrupts import before_abrupt_end

STOP_KEYS = b"sS"
_LOOK_S = 0.1
"""Seconds between two looks whether the terminal is still there."""
_LOCAL_MODES, _CHARACTERS = 3, 6
"""Places in the list of `termios.tcgetattr`."""


@contextmanager
def stop_with_terminal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` in the running event loop at the key `s`, and where a terminal of racwire hangs up.

    `s` needs a terminal as stdin, whatever stdout is, and racwire in its foreground.
    """
    loop = asyncio.get_running_loop()
    terminals = [number for number in range(3) if os.isatty(number)]
    watch = loop.create_task(_watch(terminals, stop)) if terminals else None
    keys = _Keys(loop, stop) if 0 in terminals else None
    try:
        if keys is None:
            yield
        else:
            with before_abrupt_end(keys.give_back):
                yield
    finally:
        if keys is not None:
            keys.close()
        if watch is not None:
            watch.cancel()


async def _watch(terminals: list[int], stop: Callable[[], None]) -> None:
    """Call `stop` once a terminal has hung up, and end."""
    poll = select.poll()
    for number in terminals:
        poll.register(number, 0)
    while True:
        if poll.poll(0):
            stop()
            return
        await asyncio.sleep(_LOOK_S)


class _Keys:
    """Single keys from the terminal at stdin, while racwire is in its foreground: what is typed in between is for the
    shell."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
        self._loop, self._stop = loop, stop
        self._before: list[Any] | None = None
        """The mode to restore; None while racwire has changed nothing."""
        self._handlers = {number: signal.signal(number, self._as_usual) for number in (signal.SIGTSTP, signal.SIGQUIT)}
        self._take()

    def _take(self) -> None:
        with suppress(termios.error, OSError):
            if self._before is not None or not _is_in_foreground():
                return
            before, keys = termios.tcgetattr(0), termios.tcgetattr(0)
            keys[_LOCAL_MODES] &= ~(termios.ICANON | termios.ECHO)
            keys[_CHARACTERS][termios.VMIN], keys[_CHARACTERS][termios.VTIME] = 1, 0
            termios.tcsetattr(0, termios.TCSANOW, keys)
            self._before = before
            self._loop.add_reader(0, self._read)

    def _read(self) -> None:
        try:
            typed = os.read(0, 1024) if _is_in_foreground() else b""
        except BlockingIOError:
            return
        except OSError:
            typed = b""
        if not typed:  # a terminal that is lost is always readable; the watch tells it from one in the background
            self._loop.remove_reader(0)
        elif any(key in STOP_KEYS for key in typed):
            self._stop()
        elif any(key in ENTER_KEYS for key in typed):
            enter_pressed()

    def give_back(self) -> None:
        """Restore the mode, unless another program has the terminal by now: it has set its own."""
        before, self._before = self._before, None
        with suppress(termios.error, OSError):
            if before is not None and _is_in_foreground():
                termios.tcsetattr(0, termios.TCSANOW, before)

    def close(self) -> None:
        """Restore the mode and the signal handlers."""
        self._loop.remove_reader(0)
        self.give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _as_usual(self, number: int, _: FrameType | None) -> None:
        """Restore the mode, do what the signal does by itself, and go on where the process is continued."""
        self.give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, self._as_usual)
        self._loop.call_soon_threadsafe(self._take)


def _is_in_foreground() -> bool:
    """Whether the keys of the terminal at stdin are for racwire. Raises OSError where it is not its terminal."""
    return os.tcgetpgrp(0) == os.getpgrp()
