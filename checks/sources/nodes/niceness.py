"""Let racwire give way to all other processes of a node, except for what sends a measurement.

On Linux each thread has its own nice value, and what a thread starts inherits it. A process without privileges
cannot go back to a lower one, so a thread that stays as quick as racwire was started starts what measures.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from checks.sources.nodes.process import TalkingProcess

NICE = 10
"""The nice value of what reads, probes and samples, on every node. Ours: a tenth of the weight of a usual process."""

_T = TypeVar("_T")


class _QuickThread(threading.Thread):
    """A thread that does not give way. It costs no open file before its loop is used."""

    def __init__(self) -> None:
        super().__init__(name="racwire at its own nice", daemon=True)
        self._is_wanted, self._is_there = threading.Event(), threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self) -> None:
        """Wait for the first use, then run the loop."""
        self._is_wanted.wait()
        try:
            self._loop = asyncio.new_event_loop()
        finally:
            self._is_there.set()
        self._loop.run_forever()

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, which runs. Raises OSError where this process may open no more files."""
        self._is_wanted.set()
        self._is_there.wait()
        if self._loop is None:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return self._loop


_quick: list[_QuickThread] = []
"""The thread that does not give way; none before `give_way`."""


def give_way() -> None:
    """Run this thread, and what it starts from now on, at nice `NICE`, or at that of its start where this is higher."""
    if not _quick:
        _quick.append(_QuickThread())
        _quick[0].start()
    os.setpriority(os.PRIO_PROCESS, 0, max(NICE, os.getpriority(os.PRIO_PROCESS, 0)))


class QuickProcess:
    """A `TalkingProcess` with the nice value with which racwire itself was started."""

    def __init__(
        self,
        *,
        on_stdout: Callable[[bytes], None],
        on_stderr: Callable[[bytes], None],
        on_exit: Callable[[int], None],
    ) -> None:
        self._here = asyncio.get_running_loop()
        self._there = _quick[0].loop() if _quick else self._here
        self._reports: dict[str, Callable[[Any], None]] = {
            name: partial(self._report, call)
            for name, call in (("on_stdout", on_stdout), ("on_stderr", on_stderr), ("on_exit", on_exit))
        }
        self._process: TalkingProcess | None = None

    async def start(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Start the process. Raises OSError where the program cannot be started."""
        await self._do(self._start(argv, env))

    def write(self, data: bytes) -> None:
        """Send data to its stdin; never waits."""
        if self._process is not None:
            self._there.call_soon_threadsafe(self._process.write, data)

    def kill(self) -> None:
        """End the process and its whole group at once, and read no more of its output. Never waits."""
        if self._process is not None:
            self._there.call_soon_threadsafe(self._process.kill)

    async def close(self) -> None:
        """End the process and its whole group, in under 0.5 s even if it hangs. May be called twice."""
        await self._do(self._close())

    async def _close(self) -> None:
        if self._process is not None:
            await self._process.close()

    async def _start(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self._process = TalkingProcess(**self._reports)
        await self._process.start(argv, env)

    def _report(self, call: Callable[..., None], value: object) -> None:
        with suppress(RuntimeError):  # the loop of the console is closed: racwire ends
            self._here.call_soon_threadsafe(call, value)

    async def _do(self, work: Coroutine[Any, Any, _T]) -> _T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._there))
