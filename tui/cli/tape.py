"""A running recording of the command line: writes the file, and reports its progress."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path

from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster
from checks.model.settings import Settings
from checks.model.shell_command import for_each
from checks.model.wording import counted, lasting
from checks.report.syslog import of_recording
from checks.situation.events.watching import EventWatch
from checks.traffic.recorder import Recorder
from checks.traffic.recording import RecordingError
from tui.cli.durations import size_of
from tui.cli.event_states import EventStates, passing_time
from tui.cli.sampling import Ending, Samples, run_sampling, sample
from tui.cli.sampling_status import SamplingStatus
from tui.cli.status_line import StatusLine
from tui.cli.streams import print_message
from tui.cli.syslog import Syslog, event_sender
from tui.console.batch_writer import BatchWriter, Item, record

WRITE_EVERY_S = 1.0
"""Seconds between two writes: so much is lost at most when racwire is killed."""


class Tape:
    """A running recording."""

    def __init__(
        self, path: Path, recorder: Recorder, settings: Settings, *, quiet: bool = False, for_s: float | None = None
    ) -> None:
        self._path = path
        self._recorder = recorder
        self._settings = settings
        self._for_s = for_s
        self._line = StatusLine(quiet=quiet)
        self.status = SamplingStatus(self._line.print, self._line.announce)
        self._started = time.monotonic()
        self._syslog = Syslog(settings.syslog, self._line.announce) if settings.syslog.send else None
        tell = event_sender(settings.syslog, self._line.announce)
        self._events = EventStates(EventWatch(), tell) if tell is not None else None

    def record(
        self, new_feed: Callable[[], Samples], clusters: AsyncGenerator[Cluster, None], probe: bool = False
    ) -> int:
        """Record until the time is over or a signal, and return the exit code."""
        every = f"every {self._settings.traffic.interval_s:g} s"
        until = f"for {lasting(self._for_s)}" if self._for_s is not None else "until Ctrl-C"
        self._line.print(
            f"recording to {self._path} {every}, {until}. Sampling starts on this node, then on other nodes."
        )
        self._send("record-start", f"recording to {self._path} {every}, {until}", ExitCode.PASS)
        code = self._recorded(new_feed, clusters, probe)
        self._send("record-stop", f"{self._path} contains {self.status.counts} of {self.status.sources}", code)
        return code

    def _send(self, kind: str, text: str, code: int) -> None:
        if self._syslog is not None:
            self._syslog.send(of_recording(kind, text, str(self._path), self.status.samples, code))

    def _recorded(self, new_feed: Callable[[], Samples], clusters: AsyncGenerator[Cluster, None], probe: bool) -> int:
        try:
            ending = run_sampling(self._sample(new_feed, clusters, probe))
        except RecordingError as error:
            self._line.clear()
            print_message(str(error))
            return ExitCode.COULD_NOT_TELL
        finally:
            self._line.clear()
        if ending.not_delivered:
            # The recorder is not closed: its thread hangs in the kernel, and closing would wait for it.
            print_message(
                f"{self._path}: the disk does not answer; it lacks the last {counted(ending.not_delivered, 'sample')}."
            )
            return ExitCode.COULD_NOT_TELL
        self._recorder.close()
        return self._conclude()

    async def _sample(
        self, new_feed: Callable[[], Samples], clusters: AsyncGenerator[Cluster, None], probe: bool
    ) -> Ending:
        progress = asyncio.create_task(self._show_progress())
        try:
            async with AsyncExitStack() as stack:
                if self._events is not None:
                    await stack.enter_async_context(passing_time(self._events))
                return await sample(
                    new_feed(),
                    clusters,
                    BatchWriter(partial(record, self._recorder), WRITE_EVERY_S),
                    on_item=lambda item: self._see(item, self._settings if probe else None),
                    for_s=self._for_s,
                    probe=probe,
                )
        finally:
            progress.cancel()

    def _see(self, item: Item, probing: Settings | None) -> None:
        self.status(item, probing)
        if self._events is not None:
            self._events.take(item)

    async def _show_progress(self) -> None:
        while True:
            self._line.show(f"{lasting(time.monotonic() - self._started)}  {self.status.counts}  {self._size()}")
            await asyncio.sleep(1)

    def _size(self) -> str:
        with suppress(OSError):
            return size_of(os.stat(self._path).st_size)
        return "the file was deleted"

    def _conclude(self) -> int:
        """Print the contents of the file and the next commands; return the exit code."""
        displayed, compared = for_each("racwire open {file}", "racwire compare BEFORE {file}", file=(str(self._path),))
        if not self.status.samples:
            print_message(f"nothing could be sampled; for the reasons: {displayed}")
            return ExitCode.COULD_NOT_TELL
        took = lasting(time.monotonic() - self._started)
        self._line.print(
            f"{self._path} contains {took} of {self.status.sources}: {self.status.counts}, {self._size()}."
        )
        self._line.print(f"next: {displayed}, or {compared}")
        return ExitCode.PASS
