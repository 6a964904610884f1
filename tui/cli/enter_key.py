"""Waits for Enter at stdin: of a terminal, whose keys `terminal_stop` reads, or a line of a pipe or a file."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

ENTER_KEYS = b"\r\n"
_waiting: list[asyncio.Future[bool]] = []
"""Those who wait for Enter: stdin is one for the whole process."""


def enter_pressed(is_there: bool = True) -> None:
    """Let those go on who wait. `is_there`: whether it was pressed; else stdin has ended."""
    for one in _waiting:
        if not one.done():
            one.set_result(is_there)


async def wait_for_enter() -> bool:
    """Wait until Enter is pressed, or a line is read. Return False at the end of stdin."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[bool] = loop.create_future()
    _waiting.append(waiting)
    is_read_here = False
    try:
        if not os.isatty(0):
            try:
                loop.add_reader(0, _read_line)
                is_read_here = True
            except OSError:  # a file, which is always readable
                _read_line()
        return await waiting
    finally:
        _waiting.remove(waiting)
        if is_read_here:
            with suppress(OSError):
                loop.remove_reader(0)


def _read_line() -> None:
    """Read up to the end of a line: what follows it is for the next question."""
    while True:
        try:
            typed = os.read(0, 1)
        except BlockingIOError:
            return
        except OSError:
            typed = b""
        if not typed or typed in ENTER_KEYS:
            enter_pressed(bool(typed))
            return
