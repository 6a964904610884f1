"""A recording under way, from the command line: what goes into its file, and what is reported meanwhile."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster
from checks.model.settings import Settings
from checks.model.wording import lasting
from checks.traffic.recorder import Recorder
from checks.traffic.recording import RecordingError
from tui.cli.durations import size_of
from tui.cli.sampling import Ending, Samples, run_sampling, sample
from tui.cli.sampling_status import SamplingStatus
from tui.cli.status_line import StatusLine
from tui.cli.streams import print_message
from tui.console.batch_writer import BatchWriter, record

WRITE_EVERY_S = 1.0
"""So much is lost at most when racwire is killed."""


class Tape:
    """A recording under way."""

    def __init__(
        self, path: Path, recorder: Recorder, settings: Settings, *, quiet: bool = False, for_s: float | None = None
    ) -> None:
        self._path = path
        self._recorder = recorder
        self._settings = settings
        self._for_s = for_s
        self._line = StatusLine(quiet=quiet)
        self._status = SamplingStatus(self._line.print, self._line.announce)
        self._began = time.monotonic()

    def record(self, new_feed: Callable[[], Samples], cluster: Awaitable[Cluster], probe: bool = False) -> int:
        """Record until the time is over or it is ended; the exit code."""
        every = f"every {self._settings.traffic.interval_s:g} s"
        until = f"for {lasting(self._for_s)}" if self._for_s is not None else "until Ctrl-C"
        self._line.print(
            f"recording to {self._path} {every}, {until}; this node at once, the others as they are found."
        )
        try:
            ending = run_sampling(self._sample(new_feed, cluster, probe))
        except RecordingError as error:
            self._line.clear()
            print_message(str(error))
            return ExitCode.COULD_NOT_TELL
        finally:
            self._line.clear()
        if ending.not_delivered:
            # The recorder is not closed: its thread hangs in the kernel, and closing would wait for it.
            print_message(
                f"{self._path}: the disk does not answer; the last {ending.not_delivered} samples are not in it."
            )
            return ExitCode.COULD_NOT_TELL
        self._recorder.close()
        return self._conclude()

    async def _sample(self, new_feed: Callable[[], Samples], cluster: Awaitable[Cluster], probe: bool) -> Ending:
        progress = asyncio.create_task(self._show_progress())
        try:
            return await sample(
                new_feed(),
                cluster,
                BatchWriter(partial(record, self._recorder), WRITE_EVERY_S),
                on_item=lambda item: self._status(item, self._settings if probe else None),
                for_s=self._for_s,
                probe=probe,
            )
        finally:
            progress.cancel()

    async def _show_progress(self) -> None:
        while True:
            self._line.show(f"{lasting(time.monotonic() - self._began)}  {self._status.counts}  {self._size()}")
            await asyncio.sleep(1)

    def _size(self) -> str:
        with suppress(OSError):
            return size_of(os.stat(self._path).st_size)
        return "the file is gone"

    def _conclude(self) -> int:
        """Say what there is now, and what to do with it."""
        if not self._status.samples:
            print_message(f"nothing could be sampled; {self._path} says why: racwire open {self._path}")
            return ExitCode.COULD_NOT_TELL
        took = lasting(time.monotonic() - self._began)
        self._line.print(f"{self._path} has {took} of {self._status.sources}: {self._status.counts}, {self._size()}.")
        self._line.print(f"next: racwire open {self._path}, or racwire compare BEFORE {self._path}")
        return ExitCode.PASS
