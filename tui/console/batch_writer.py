"""What is sampled, handed on to something that blocks: a file on a slow disk, a pipe whose reader takes its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from checks.model.facts import Cluster
from checks.traffic.recorder import Recorder
from checks.traffic.samples import Event

Item = Event | Cluster
_MOST = 5_000
"""Items that wait; while there are as many, no more are taken from the feed, which keeps the newest of its own."""


class BatchWriter:
    """Calls `take` with what came, in order, in one thread; at most once in `every_s` seconds."""

    def __init__(
        self, take: Callable[[list[Item]], None], every_s: float, at_end: Callable[[], None] = lambda: None
    ) -> None:
        """`at_end` is called in that thread when everything was handed on."""
        self._take = take
        self._at_end = at_end
        self._every_s = every_s
        self._waiting: list[Item] = []
        self._there = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._one = ThreadPoolExecutor(max_workers=1, thread_name_prefix="delivery")
        self._under_way: asyncio.Future[None] | None = None
        self._in_hand = 0

    async def room(self) -> None:
        """Wait while so much waits that no more should be put."""
        await self._room.wait()

    def put(self, item: Item) -> None:
        """Hand this on, soon."""
        self._waiting.append(item)
        self._there.set()
        if len(self._waiting) >= _MOST:
            self._room.clear()

    async def run(self) -> None:
        """Hand on until cancelled. Raises what `take` raises."""
        while True:
            await self._there.wait()
            await self._flush()
            await asyncio.sleep(self._every_s)

    async def end(self, within_s: float) -> int:
        """Hand on what is left; how many items were not taken within that time. Raises what `take` raises."""
        try:
            async with asyncio.timeout(within_s):
                if self._under_way is not None:
                    await asyncio.shield(self._under_way)
                await self._flush()
                await asyncio.get_running_loop().run_in_executor(self._one, self._at_end)
        except TimeoutError:
            return max(self._in_hand + len(self._waiting), 1)
        return 0

    def close(self) -> None:
        """Hand on nothing more; a call of `take` that hangs is left behind."""
        self._one.shutdown(wait=False, cancel_futures=True)

    async def _flush(self) -> None:
        self._there.clear()
        items, self._waiting = self._waiting, []
        self._room.set()
        if items:
            self._in_hand = len(items)
            self._under_way = asyncio.get_running_loop().run_in_executor(self._one, self._take, items)
            await asyncio.shield(self._under_way)  # cancelled, it still is awaited at the end
            self._in_hand = 0


def record(recorder: Recorder, items: list[Item]) -> None:
    """Hand on to a recording: the newest cluster, and all events. Raises RecordingError."""
    for cluster in [item for item in items if isinstance(item, Cluster)][-1:]:
        recorder.follow(cluster)
    recorder.write(item for item in items if not isinstance(item, Cluster))
