"""The traffic while the checks run, recorded into a temporary file: for the saved file, and for pictures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from checks.model.facts import Cluster, NotAsked
from checks.model.settings import Settings
from checks.traffic.header import still_unknown
from tui.cli.sampling import Samples
from tui.cli.streams import print_message
from tui.console.background_recorder import BackgroundRecorder, header_for

NEW = "traffic.rec"
"""The name of the file in the directory that is given for it."""
_CLOSING_S = 0.5
_LAST_S = 2.0
"""For what is still to be written when it ends: a disk that hangs is not waited for."""
_NOT_YET = NotAsked("The database was not asked yet.")


class ShortRecording:
    """Records from the `async with` on, what is known of the cluster at each moment. What goes wrong with it is told,
    and disturbs nothing else."""

    def __init__(self, directory: Path, settings: Settings, new_feed: Callable[[], Samples], at_least_s: float) -> None:
        self.path = directory / NEW
        self.at_least_s = at_least_s
        """How long it goes on, where the checks are done before."""
        self._settings = settings
        self._new_feed = new_feed
        self._broke = False
        self._began = time.monotonic()

    @property
    def left_s(self) -> float:
        """Seconds that it still has to go on; 0 where it broke."""
        return 0.0 if self._broke else max(0.0, self._began + self.at_least_s - time.monotonic())

    @property
    def progress(self) -> str:
        """`recording 8 of 15 s`."""
        if self._broke:
            return ""
        return f"recording {min(time.monotonic() - self._began, self.at_least_s):.0f} of {self.at_least_s:.0f} s"

    def follow(self, cluster: Cluster) -> None:
        """Sample what is known of the cluster now."""
        self._taping.follow(cluster)
        # A database that has not been looked for yet is no gap in what is known of it.
        is_open = not cluster.is_gathered("database")
        self._feed.follow(replace(cluster, database=_NOT_YET) if is_open else cluster)

    async def __aenter__(self) -> Self:
        self._began = time.monotonic()
        self._feed = self._new_feed()
        header = header_for(still_unknown(self._settings), self._settings, self._settings.traffic.interval_s)
        self._taping = BackgroundRecorder(self.path, header, self._broken)
        self._pumping = asyncio.create_task(self._pump())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pumping.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                await asyncio.gather(self._feed.close(), self._pumping, return_exceptions=True)
        if not await self._taping.end(_LAST_S):
            self._broken("The disk does not answer: the recording is left out.")

    async def _pump(self) -> None:
        try:
            async for event in self._feed.events():
                self._taping.put((event,))
        except Exception as error:
            self._broken(f"The live samples broke down: {error or type(error).__name__}.")

    def _broken(self, reason: str) -> None:
        self._broke = True
        print_message(reason)
