"""A feed run without the screen, for `racwire record` and `racwire watch`: until its time is over, or it is ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Protocol

from checks.model.facts import Cluster
from checks.run.directories import state_directory
from checks.traffic.samples import Event
from tui.cli.interrupts import graceful_loop_stop
from tui.cli.own_loop import run_in_own_loop
from tui.console.batch_writer import BatchWriter, Item

_CLOSING_S = 0.5
_LAST_S = 0.8
"""For what is still to be written when it ends: a disk that hangs is not waited for."""


class Samples(Protocol):
    """What is needed of a `checks.traffic.feed.Feed`."""

    def follow(self, cluster: Cluster) -> None:
        """Sample what is known now."""

    def probe(self, cluster: Cluster) -> None:
        """Send pings too."""

    def events(self) -> AsyncGenerator[Event, None]:
        """What is sampled."""

    async def close(self) -> None:
        """End every connection."""


class Ending:
    """How it ended."""

    def __init__(self) -> None:
        self.interrupted = False
        self.not_delivered = 0
        """Items that could not be handed on in the time there is for that at the end."""


async def sample(
    feed: Samples,
    cluster: Awaitable[Cluster],
    delivery: BatchWriter,
    *,
    on_item: Callable[[Item], None],
    for_s: float | None = None,
    probe: bool = False,
) -> Ending:
    """Hand on what the feed tells, and the cluster once it is found; this node is sampled from the first moment.

    Raises what the delivery raises; however it ends, the feed is closed.
    """
    ending = Ending()
    stop = asyncio.Event()

    def put(item: Item) -> None:
        on_item(item)
        delivery.put(item)

    async def pump() -> None:
        async for event in feed.events():
            await delivery.room()
            put(event)

    async def follow() -> None:
        found = await cluster
        put(found)
        feed.follow(found)
        if probe:
            feed.probe(found)

    def interrupt() -> None:
        ending.interrupted = True
        stop.set()

    with graceful_loop_stop(interrupt):
        work = [asyncio.create_task(task) for task in (pump(), follow(), delivery.run())]
        until = asyncio.create_task(stop.wait())
        try:
            await _first_to_end([*work, until], spare=work[1], for_s=for_s)
        finally:
            for task in (*work, until):
                task.cancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSING_S):
                    await asyncio.gather(feed.close(), *work, return_exceptions=True)
        try:
            ending.not_delivered = await delivery.end(_LAST_S)
        finally:
            delivery.close()
    return ending


async def _first_to_end(tasks: Iterable[asyncio.Task[object]], spare: asyncio.Task[None], for_s: float | None) -> None:
    """Wait for the time to be over, or for one of these to end or break down; `spare` may end, and the rest goes on."""
    loop = asyncio.get_running_loop()
    over = loop.time() + for_s if for_s is not None else None
    waited = set(tasks)
    while True:
        left = None if over is None else max(0.0, over - loop.time())
        done, _ = await asyncio.wait(waited, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        if done != {spare}:
            return
        waited.discard(spare)


def run_sampling(work: Coroutine[Any, Any, Ending]) -> Ending:
    """Run `sample` to its end. Raises what it raises."""
    _keep_log()
    return run_in_own_loop(work)


def _keep_log() -> None:
    """A fault of racwire's own is told as a gap of its source; its traceback goes to the log, not among sentences."""
    from tui.cli.log_file import LogFile, log_path

    log = LogFile(log_path(state_directory()))
    logging.basicConfig(stream=log, format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
