"""Lines from stdin while an event loop runs: of a terminal, a pipe or a file."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextlib import suppress

_CHUNK = 65_536


class LineReader:
    """Reads whole lines. What is typed before it is asked for waits."""

    def __init__(self, stdin: int = 0) -> None:
        self._stdin = stdin
        self._lines: deque[str] = deque()
        self._rest = b""
        self._is_ended = False

    async def line(self) -> str | None:
        """Return the next line without its end; None at the end of stdin."""
        while not self._lines and not self._is_ended:
            await self._read()
        return self._lines.popleft() if self._lines else None

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        is_ready = asyncio.Event()
        try:
            loop.add_reader(self._stdin, is_ready.set)
        except OSError:  # a regular file, which is always ready
            self._take()
            return
        try:
            await is_ready.wait()
        finally:
            with suppress(OSError, ValueError):
                loop.remove_reader(self._stdin)
        self._take()

    def _take(self) -> None:
        try:
            typed = os.read(self._stdin, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            typed = b""
        *whole, self._rest = (self._rest + typed).split(b"\n")
        if not typed:
            self._is_ended = True
            whole += [self._rest] if self._rest else []
        self._lines.extend(one.decode(errors="replace").rstrip("\r") for one in whole)
