"""A daemon thread that makes blocking calls one after the other for asyncio.

One for each connection, not asyncio's pool: its threads are waited for when Python ends, and a call that hangs in the
kernel or in a hung instance must never delay quitting.
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
    """Makes calls in its own thread, which is started with the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def call(self, function: Callable[[], T], timeout_s: float) -> T:
        """What the function returns or raises. Raises TimeoutError when it takes longer: it is then not waited for, as
        when this is cancelled, but goes on in its thread."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result = function()
            except BaseException as error:  # given to who waits, whatever it is
                tell(outcome.set_exception, error)
            else:
                tell(outcome.set_result, result)

        def tell(how: Callable[..., None], what: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(lambda: None if outcome.done() else how(what))

        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._calls.put(run)
        async with asyncio.timeout(timeout_s):
            return await outcome

    def end(self, last: Callable[[], object] | None = None) -> None:
        """Let the thread end after the calls that it was given, and this one; it is not waited for."""
        if last is not None and self._thread is not None:
            self._calls.put(lambda: _quietly(last))
        self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


def _quietly(function: Callable[[], object]) -> None:
    with contextlib.suppress(Exception):  # nobody waits for it, whatever comes of it
        function()
