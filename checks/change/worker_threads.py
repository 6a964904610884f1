"""Journals can lie on a file system that hangs, so that no loop waits for one: it is read and written in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def run_to_completion(function: Callable[[], T]) -> T:
    """What the function returns, called in a thread. Raises what it raises.

    Given up meanwhile, the task waits for its end all the same: what is being written is written, and nobody could say
    how far.
    """
    task = asyncio.ensure_future(asyncio.to_thread(function))
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    return task.result()
