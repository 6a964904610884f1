"""An event loop that ends without waiting for its threads."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


@contextmanager
def own_loop(drain_s: float = 0.0) -> Iterator[asyncio.AbstractEventLoop]:
    """A loop for the body of a `with`. `asyncio.run` would join threads that hang in the kernel.

    With `drain_s`, the remaining tasks are cancelled at the end, and have so many seconds to finish.
    """
    loop = asyncio.new_event_loop()
    try:
        yield loop
    finally:
        left = asyncio.all_tasks(loop) if drain_s else set()
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=drain_s))
        loop.close()


def run_in_own_loop(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine in a loop of its own and return its result. Raises the exceptions of the coroutine."""
    with own_loop() as loop:
        return loop.run_until_complete(work)
