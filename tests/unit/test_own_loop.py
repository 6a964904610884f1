"""An event loop without a wait at its end: a thread that hangs in the kernel does not delay the exit."""

import asyncio
import threading

import pytest

from tui.cli.own_loop import own_loop, run_in_own_loop


def test_a_thread_that_hangs_forever_is_not_waited_for() -> None:
    released = threading.Event()

    async def work() -> str:
        asyncio.get_running_loop().run_in_executor(None, released.wait)
        await asyncio.sleep(0)
        return "done"

    try:
        assert run_in_own_loop(work()) == "done"
    finally:
        released.set()


def test_an_exception_in_the_loop_is_raised() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_in_own_loop(work())


def test_remaining_tasks_are_cancelled_and_may_finish_within_the_time_limit() -> None:
    ended = []

    async def endless() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cancelled")

    with own_loop(drain_s=5) as loop:
        loop.create_task(endless())
        loop.run_until_complete(asyncio.sleep(0))
    assert ended == ["cancelled"]
    assert loop.is_closed()
