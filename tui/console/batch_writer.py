"""Batches of samples for a consumer that blocks: a file on a slow disk, or a pipe with a slow reader."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from checks.model.facts import Cluster
from checks.model.run_record import RunRecord
from checks.traffic.recorder import Recorder
from checks.traffic.recording_runs import RecordedLine
from checks.traffic.samples import FeedEvent, InstancesPace

log = logging.getLogger(__name__)

Item = FeedEvent | Cluster
"""What is sampled, and what is known of the cluster meanwhile."""
Recordable = Item | RunRecord | RecordedLine
T_contra = TypeVar("T_contra", contravariant=True)
_MOST = 5_000
"""Most items in the queue; while it is full, no more are read from the feed, which keeps its newest samples itself."""


class BatchWriter(Generic[T_contra]):
    """Calls `take` with the queued items, in order, in one thread; at most once every `every_s` seconds."""

    def __init__(
        self, take: Callable[[list[T_contra]], None], every_s: float, at_end: Callable[[], None] = lambda: None
    ) -> None:
        """Create the writer. Its thread calls `at_end` after the last batch."""
        self._take = take
        self._at_end = at_end
        self._every_s = every_s
        self._waiting: list[T_contra] = []
        self._has_items = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="delivery")
        self._running: asyncio.Future[None] | None = None
        self._in_progress = 0

    async def room(self) -> None:
        """Wait until the queue has room."""
        await self._room.wait()

    def put(self, item: T_contra) -> None:
        """Queue an item."""
        self._waiting.append(item)
        self._has_items.set()
        if len(self._waiting) >= _MOST:
            self._room.clear()

    async def run(self) -> None:
        """Write batches until cancelled. Raises whatever exception `take` raises."""
        while True:
            await self._has_items.wait()
            await self._flush()
            await asyncio.sleep(self._every_s)

    async def end(self, within_s: float) -> int:
        """Write the rest of the queue; return how many items were not written within that time. Raises whatever
        exception `take` raises."""
        try:
            async with asyncio.timeout(within_s):
                if self._running is not None:
                    await asyncio.shield(self._running)
                await self._flush()
                await asyncio.get_running_loop().run_in_executor(self._thread, self._at_end)
        except TimeoutError:
            return max(self._in_progress + len(self._waiting), 1)
        return 0

    def close(self) -> None:
        """Stop writing; a call of `take` that hangs is abandoned."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _flush(self) -> None:
        self._has_items.clear()
        items, self._waiting = self._waiting, []
        self._room.set()
        if items:
            self._in_progress = len(items)
            self._running = asyncio.get_running_loop().run_in_executor(self._thread, self._take, items)
            await asyncio.shield(self._running)  # after a cancellation, end() awaits it
            self._in_progress = 0


def record(recorder: Recorder, items: list[Recordable]) -> None:
    """Write the newest cluster, pace and results, and all events, runs and lines of journals, to a recording.

    Raises RecordingError where it cannot be written.
    """
    for cluster in [item for item in items if isinstance(item, Cluster)][-1:]:
        recorder.follow(cluster)
    for pace in [item for item in items if isinstance(item, InstancesPace)][-1:]:
        recorder.follow_pace(pace)
    recorder.write(item for item in items if not isinstance(item, Cluster | InstancesPace | RunRecord | RecordedLine))
    recorder.follow_results()
    for run in [item for item in items if isinstance(item, RunRecord)]:
        if not recorder.add_run(run):
            log.warning("a run of the checks is too large to be recorded")
    if (lines := [item for item in items if isinstance(item, RecordedLine)]) and not recorder.add_journal(lines):
        log.warning("the journal of the change is too large to be recorded")
