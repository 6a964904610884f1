"""`racwire record`: samples of every source into one file, for hours, on a terminal or in the background."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.options import add_live_options, refuse_check_options
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.settings import Settings

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
    from checks.traffic.feed import Feed, find_cluster
    from checks.traffic.header import header_now, still_unknown
    from checks.traffic.recorder import Recorder
    from checks.traffic.recording import RecordingError
    from tui.cli.password import password_of
    from tui.cli.tape import Tape

    path = Path(args.file)
    password = password_of(settings.database)
    try:
        header = header_now(still_unknown(settings), settings, interval_s=settings.traffic.interval_s, label=args.label)
        recorder = Recorder.create(path, header, keep_s=keep_s, replace=args.force)
    except RecordingError as error:
        raise UsageError(str(error)) from None
    tape = Tape(path, recorder, settings, quiet=args.quiet, for_s=for_s)
    return exit_past_hung_threads(
        tape.record(lambda: Feed(settings, password=password), find_cluster(settings, password=password), args.probe)
    )
