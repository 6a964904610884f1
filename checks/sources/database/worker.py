"""Run blocking calls for asyncio, one after the other, in a daemon thread.

Each connection has its own thread instead of asyncio's pool: Python waits for the threads of the pool at its end, and
a call that hangs in the kernel or in a hung instance must never delay quitting.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Worker:
    """Run calls in a thread, which starts with the first call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def call(self, function: Callable[[], T], timeout_s: float) -> T:
        """Call the function in the thread, and return or raise what it returns or raises.

        Raises TimeoutError after `timeout_s`. After that, and after a cancellation, the call continues in its thread.
        """
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result = function()
            except BaseException as error:  # any error goes to the coroutine that waits
                deliver(outcome.set_exception, error)
            else:
                deliver(outcome.set_result, result)

        def deliver(setter: Callable[..., None], value: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: no coroutine waits any more
                loop.call_soon_threadsafe(lambda: None if outcome.done() else setter(value))

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._calls.put(run)
        async with asyncio.timeout(timeout_s):
            return await outcome

    def end(self, last: Callable[[], object] | None = None) -> None:
        """Let the thread end after its pending calls and the call `last`. Does not wait for the end."""
        if last is not None and self._thread is not None:
            self._calls.put(lambda: _quietly(last))
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


def _quietly(function: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):  # no coroutine waits for the result
        function()
