"""Runs a feed without the console, for `racwire record` and `racwire watch`, until its time is over or a signal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from typing import Any, Protocol

from checks.model.facts import Cluster
from checks.run.directories import state_directory
from checks.traffic.samples import FeedEvent
from tui.cli.interrupts import graceful_loop_stop
from tui.cli.own_loop import run_in_own_loop
from tui.console.batch_writer import BatchWriter, Item

_CLOSING_S = 0.5
_LAST_S = 0.8
"""Seconds for the last writes after an interrupt: racwire does not wait longer for a disk that hangs."""
_LAST_TRIES = 12
"""Waits of `_LAST_S` for the last writes without an interrupt: a busy disk needs seconds."""


class Samples(Protocol):
    """The interface of `checks.traffic.feed.Feed` that sampling uses."""

    def follow(self, cluster: Cluster) -> None:
        """Sample the known nodes and instances of the cluster."""

    def probe(self, cluster: Cluster) -> None:
        """Also send pings on the private paths."""

    def events(self) -> AsyncGenerator[FeedEvent, None]:
        """Yield samples, gaps and paces."""

    async def close(self) -> None:
        """Close every connection."""


class Ending:
    """How the sampling ended."""

    def __init__(self) -> None:
        self.interrupted = False
        self.not_delivered = 0
        """The number of items that could not be written in time at the end."""


async def sample(
    feed: Samples,
    clusters: AsyncGenerator[Cluster, None],
    delivery: BatchWriter[Item],
    *,
    on_item: Callable[[Item], None],
    for_s: float | None = None,
    probe: bool = False,
) -> Ending:
    """Deliver the events of the feed, and each state of the search for the cluster; the last of `clusters` is complete.

    This node is sampled from the first moment, every other source as soon as it is known. Pings wait for the complete
    cluster.

    `on_item` is called for each item. Raises the exceptions of the delivery; the feed is closed in any case.
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
        async with aclosing(clusters):
            async for found in clusters:
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
            for _ in range(_LAST_TRIES):
                ending.not_delivered = await delivery.end(_LAST_S)
                if ending.interrupted or not ending.not_delivered:
                    break
        finally:
            delivery.close()
    return ending


async def _first_to_end(tasks: Iterable[asyncio.Task[object]], spare: asyncio.Task[None], for_s: float | None) -> None:
    """Wait until `for_s` is over, or until a task ends or fails. The end of `spare` does not count."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + for_s if for_s is not None else None
    waited = set(tasks)
    while True:
        left = None if deadline is None else max(0.0, deadline - loop.time())
        done, _ = await asyncio.wait(waited, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        if done != {spare}:
            return
        waited.discard(spare)


def run_sampling(work: Coroutine[Any, Any, Ending]) -> Ending:
    """Run the coroutine of `sample` to its end. Raises the exceptions of `sample`."""
    _log_to_file()
    return run_in_own_loop(work)


def _log_to_file() -> None:
    """Write tracebacks to the log file: on stderr, an internal error appears as a gap of its source."""
    from tui.cli.log_file import LogFile, log_path

    log = LogFile(log_path(state_directory()))
    logging.basicConfig(stream=log, format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
