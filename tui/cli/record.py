"""`racwire record`: samples of every source into one file, for hours, on a terminal or in the background."""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from checks.model.facts import Cluster
from checks.model.report import ExitCode
from checks.model.settings import Settings
from checks.model.wording import lasting
from checks.traffic.header import header_now, still_unknown
from checks.traffic.recorder import Recorder
from checks.traffic.recording import RecordingError
from tui.cli.durations import seconds_of, size_of
from tui.cli.errors import UsageError
from tui.cli.options import add_live_options
from tui.cli.password import password_of
from tui.cli.sampling import Ending, Samples, run_sampling, sample
from tui.cli.sampling_status import SamplingStatus
from tui.cli.status_line import StatusLine
from tui.cli.streams import exit_past_hung_threads, tell
from tui.console.batch_writer import BatchWriter, record

WRITE_EVERY_S = 1.0
"""So much is lost at most when racwire is killed."""
_LONGEST_LABEL = 60


_EPILOG = """\
Every second the counters of this node, of its peers and of the instances go into FILE: one SQLite file, whole after
every second, also when racwire is killed. It needs 10 to 60 MB a day. Ctrl-C ends it; so does the end of the terminal,
unless it was started with nohup. Nothing is sent over the private networks, except with --probe.

examples:
  racwire record before.rec                                  until Ctrl-C
  racwire record --for 30m --label mtu1500 before.rec        before a change; then the same after it, and compare
  racwire record --for 30m --probe before.rec                with pings on each private path: how long they take
  nohup racwire record --keep 24h night.rec &                goes on after logout; the last 24 hours are kept
  racwire record --connect rac-scan:1521/prod --user racwire with-database.rec

then:
  racwire open before.rec          look at it, scroll back
  racwire compare before.rec after.rec
  racwire watch before.rec | jq .  what is in it, as JSON lines

exit codes: 0 recorded, also when you end it; 3 nothing could be recorded, or the disk took no more; 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Records what the Traffic screen shows, to be looked at later and compared."
    parser.epilog = _EPILOG
    add_live_options(parser, "the recording; it must not be there yet")
    parser.add_argument("--label", metavar="TEXT", default="", help="what this recording is of, such as mtu1500")
    parser.add_argument("--keep", metavar="TIME", help="keep the last 24h (30m, 7d) and drop what is older")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is a recording")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Record, and return the exit code. Raises UsageError."""
    refuse_check_options(args)
    for_s = seconds_of(args.for_time, "--for") if args.for_time is not None else None
    keep_s = seconds_of(args.keep, "--keep") if args.keep is not None else None
    if len(args.label) > _LONGEST_LABEL:
        raise UsageError(f"--label: write at most {_LONGEST_LABEL} characters.")
    path = Path(args.file)
    password = password_of(settings.database)
    try:
        header = header_now(still_unknown(settings), settings, interval_s=settings.traffic.interval_s, label=args.label)
        recorder = Recorder.create(path, header, keep_s=keep_s, replace=args.force)
    except RecordingError as error:
        raise UsageError(str(error)) from None
    from checks.traffic.feed import Feed, find_cluster

    tape = Tape(path, recorder, settings, quiet=args.quiet, for_s=for_s)
    return exit_past_hung_threads(
        tape.record(lambda: Feed(settings, password=password), find_cluster(settings, password=password), args.probe)
    )


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
        self._told = SamplingStatus(self._line.tell, self._line.tell_in_any_case)
        self._began = time.monotonic()

    def record(self, new_feed: Callable[[], Samples], cluster: Awaitable[Cluster], probe: bool = False) -> int:
        """Record until the time is over or it is ended; the exit code."""
        every = f"every {self._settings.traffic.interval_s:g} s"
        until = f"for {lasting(self._for_s)}" if self._for_s is not None else "until Ctrl-C"
        self._line.tell(f"recording to {self._path} {every}, {until}; this node at once, the others as they are found.")
        try:
            ending = run_sampling(self._sample(new_feed, cluster, probe))
        except RecordingError as error:
            self._line.clear()
            tell(str(error))
            return ExitCode.COULD_NOT_TELL
        finally:
            self._line.clear()
        if ending.not_delivered:
            # The recorder is not closed: its thread hangs in the kernel, and closing would wait for it.
            tell(f"{self._path}: the disk does not answer; the last {ending.not_delivered} samples are not in it.")
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
                told=lambda item: self._told(item, self._settings if probe else None),
                for_s=self._for_s,
                probe=probe,
            )
        finally:
            progress.cancel()

    async def _show_progress(self) -> None:
        while True:
            self._line.show(f"{lasting(time.monotonic() - self._began)}  {self._told.counts}  {self._size()}")
            await asyncio.sleep(1)

    def _size(self) -> str:
        with suppress(OSError):
            return size_of(os.stat(self._path).st_size)
        return "the file is gone"

    def _conclude(self) -> int:
        """Say what there is now, and what to do with it."""
        if not self._told.samples:
            tell(f"nothing could be sampled; {self._path} says why: racwire open {self._path}")
            return ExitCode.COULD_NOT_TELL
        took = lasting(time.monotonic() - self._began)
        self._line.tell(f"{self._path} has {took} of {self._told.sources}: {self._told.counts}, {self._size()}.")
        self._line.tell(f"next: racwire open {self._path}, or racwire compare BEFORE {self._path}")
        return ExitCode.PASS


def refuse_check_options(args: argparse.Namespace) -> None:
    """Refuse the option that is for the checks' samples. Raises UsageError."""
    if hasattr(args, "interval"):
        raise UsageError("--interval is for the checks; write --every S here.")
