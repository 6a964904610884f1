"""The live feed behind the screens: begun when a screen first wants it, then going on until racwire is left."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.worker import Worker

from checks.facts import Cluster
from checks.settings import Settings
from tui.known import Known
from tui.messages import FeedFailed, RecordingEnded, SamplesTold

if TYPE_CHECKING:
    from checks.traffic.feed import Feed
    from checks.traffic.recording import Header
    from checks.traffic.samples import Links
    from tui.taping import Taping

log = logging.getLogger(__name__)

_END_WITHIN_S = 2.0
"""How long the operator's ending a recording waits for the disk; then it ends by itself."""


class Live:
    """Runs a feed in a worker that only posts messages to the app, and records it on demand."""

    def __init__(self, app: App[None], new_feed: Callable[[], Feed]) -> None:
        self._app = app
        self._new_feed = new_feed
        self._feed: Feed | None = None
        self._worker: Worker[None] | None = None
        self._taping: Taping | None = None

    @property
    def is_running(self) -> bool:
        """Whether samples are being taken."""
        return self._worker is not None and not self._worker.is_finished

    @property
    def recording(self) -> Path | None:
        """The file that the samples are also written to."""
        return self._taping.path if self._taping else None

    def begin(self, cluster: Cluster | None) -> None:
        """Begin to sample; does nothing where that goes on already."""
        if self.is_running:
            return
        self._feed = self._new_feed()
        if cluster is not None:
            self._feed.follow(cluster)
        self._worker = self._app.run_worker(self._work(self._feed), group="feed", exclusive=True, exit_on_error=False)

    def follow(self, cluster: Cluster) -> None:
        """Sample what is known of the cluster now."""
        if self._feed is not None and self.is_running:
            self._feed.follow(cluster)
        if self._taping is not None:
            self._taping.follow(cluster)

    def set_interval(self, seconds: float) -> None:
        """From now on, a sample of each source every so many seconds."""
        if self._feed is not None:
            self._feed.interval_s = seconds

    def record(self, path: Path, header: Header, links: list[Links]) -> None:
        """Write the samples to a new file too, from now on; `links` are the interfaces as they are now.

        What goes wrong is told by `RecordingEnded`, and sampling goes on.
        """
        from tui.taping import Taping

        def broke(reason: str) -> None:
            if self._taping is taping:
                self._taping = None
            self._app.post_message(RecordingEnded(reason))

        taping = self._taping = Taping(path, header, broke)
        taping.put(links)

    async def toggle_recording(self, known: Known, settings: Settings, otherwise: Path) -> str:
        """Begin to record to a new file in the working directory, or in `otherwise` where that cannot be written; or
        end the recording that goes on. What to tell the operator."""
        if self._taping is not None:
            path = await self.stop_recording(_END_WITHIN_S)
            known.feed.recording = None
            return f"Recorded to {path}"
        if not self.is_running:
            return "Nothing is sampled, so there is nothing to record."
        if known.cluster is None:
            return "A recording begins with what the cluster is, which is not known yet."
        from tui.taping import header_for

        nodes = [source.removeprefix("node ") for source in known.timeline.sources() if source.startswith("node ")]
        links = [found for node in nodes if (found := known.timeline.links(node, time.time()))]
        path = recording_path(time.time(), otherwise)
        self.record(path, header_for(known.cluster, settings, known.feed.interval_s), links)
        known.feed.recording = path
        return f"Recording to {path}; w ends it."

    async def stop_recording(self, within_s: float) -> Path | None:
        """End the recording, whole; its file, if there was one."""
        taping, self._taping = self._taping, None
        if taping is None:
            return None
        if not await taping.end(within_s):
            log.warning("%s was still being written after %s s", taping.path, within_s)
        return taping.path

    async def stop(self, within_s: float) -> None:
        """End feed and recording; what does not end in that time is left behind."""
        feed, self._feed = self._feed, None
        async with asyncio.TaskGroup() as group:
            group.create_task(self.stop_recording(within_s))
            if feed is not None:
                group.create_task(_close(feed, within_s))
        if self._worker is not None:
            self._worker.cancel()

    async def _work(self, feed: Feed) -> None:
        try:
            async for event in feed.events():
                self._app.post_message(SamplesTold((event,)))
                if self._taping is not None:
                    self._taping.put((event,))
        except Exception as error:
            log.exception("the live feed broke down")
            self._app.post_message(FeedFailed(f"The live samples broke down: {error or type(error).__name__}."))


def recording_path(now: float, otherwise: Path) -> Path:
    """Where a recording that begins now is written: the working directory, or another where that cannot be."""
    name = time.strftime("racwire-%Y%m%d-%H%M%S.rec", time.localtime(now))
    here = Path.cwd()
    if os.access(here, os.W_OK):
        return here / name
    with suppress(OSError):  # the recording itself says what is wrong with the directory
        otherwise.mkdir(mode=0o700, parents=True, exist_ok=True)
    return otherwise / name


async def _close(feed: Feed, within_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            try:
                await feed.close()
            except Exception:
                log.exception("the live feed could not be closed")
