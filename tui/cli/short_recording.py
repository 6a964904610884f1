"""Records the traffic during the checks to a temporary file, for saved files and for the pictures of a report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from checks.model.facts import Cluster
from checks.model.settings import Settings
from checks.traffic.header import still_unknown
from tui.cli.sampling import Samples
from tui.cli.streams import print_message
from tui.console.background_recorder import BackgroundRecorder, header_for

NEW = "traffic.rec"
"""The name of the temporary file."""
_CLOSING_S = 0.5
_LAST_S = 2.0
"""Seconds for the last writes at the end: racwire does not wait longer for a disk that hangs."""


class ShortRecording:
    """Records in the body of an `async with`, from all nodes and instances that are known so far.

    A failure of the recording prints a message, and does not affect the checks.
    """

    def __init__(self, directory: Path, settings: Settings, new_feed: Callable[[], Samples], at_least_s: float) -> None:
        self.path = directory / NEW
        self.at_least_s = at_least_s
        """Minimum length in seconds, for checks that take less."""
        self._settings = settings
        self._new_feed = new_feed
        self._failed = asyncio.Event()
        self._started = time.monotonic()

    @property
    def left_s(self) -> float:
        """Remaining seconds until `at_least_s`; 0 after a failure."""
        return 0.0 if self._failed.is_set() else max(0.0, self._started + self.at_least_s - time.monotonic())

    async def complete(self) -> None:
        """Wait until the recording is `at_least_s` long, or has failed."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._failed.wait(), self.left_s)

    @property
    def progress(self) -> str:
        """The progress as text: `recording 8 of 15 s`."""
        if self._failed.is_set():
            return ""
        return f"recording {min(time.monotonic() - self._started, self.at_least_s):.0f} of {self.at_least_s:.0f} s"

    def follow(self, cluster: Cluster) -> None:
        """Sample the known nodes and instances of the cluster."""
        self._recorder.follow(cluster)
        self._feed.follow(cluster)

    async def __aenter__(self) -> Self:
        self._started = time.monotonic()
        self._feed = self._new_feed()
        header = header_for(still_unknown(self._settings), self._settings, self._settings.traffic.interval_s)
        self._recorder = BackgroundRecorder(self.path, header, self._fail)
        self._pumping = asyncio.create_task(self._pump())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pumping.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                await asyncio.gather(self._feed.close(), self._pumping, return_exceptions=True)
        if not await self._recorder.end(_LAST_S):
            self._fail("The disk is slow: the recording of the traffic may lack its last samples.")

    async def _pump(self) -> None:
        try:
            async for event in self._feed.events():
                self._recorder.put((event,))
        except Exception as error:
            self._fail(f"The recording of the traffic failed: {error or type(error).__name__}. The checks continue.")

    def _fail(self, reason: str) -> None:
        self._failed.set()
        print_message(reason)
