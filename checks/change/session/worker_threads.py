"""Threads for journals: a file system may hang, so the event loop never reads or writes a journal itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def run_to_completion(function: Callable[[], T]) -> T:
    """Call the function in a thread and return its result. Raises what the function raises.

    A cancelled task still waits for the end of the function: a write that has started must finish.
    """
    task = asyncio.ensure_future(asyncio.to_thread(function))
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    return task.result()
