"""The live feed behind the screens: begun when a screen first wants it, then going on until racwire is left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from textual.app import App
from textual.worker import Worker

from checks.facts import Cluster
from checks.traffic.feed import Feed
from tui.messages import FeedFailed, SamplesTold

log = logging.getLogger(__name__)


class Live:
    """Runs a feed in a worker that only posts messages to the app."""

    def __init__(self, app: App[None], new_feed: Callable[[], Feed]) -> None:
        self._app = app
        self._new_feed = new_feed
        self._feed: Feed | None = None
        self._worker: Worker[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether samples are being taken."""
        return self._worker is not None and not self._worker.is_finished

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

    def set_interval(self, seconds: float) -> None:
        """From now on, a sample of each source every so many seconds."""
        if self._feed is not None:
            self._feed.interval_s = seconds

    async def stop(self, within_s: float) -> None:
        """End it; what does not end in that time is left behind."""
        feed, self._feed = self._feed, None
        if feed is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await feed.close()
        if self._worker is not None:
            self._worker.cancel()

    async def _work(self, feed: Feed) -> None:
        try:
            async for event in feed.events():
                self._app.post_message(SamplesTold((event,)))
        except Exception as error:
            log.exception("the live feed broke down")
            self._app.post_message(FeedFailed(f"The live samples broke down: {error or type(error).__name__}."))
