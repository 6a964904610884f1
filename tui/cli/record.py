"""`racwire record`: write the samples of every source to one file, on a terminal or in the background."""

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
racwire writes the counters of this node, of its peers and of the instances to
FILE, once a second by default. FILE is an SQLite file of 10 to 60 MB a day. It
is complete after every second, even when racwire is killed. The recording stops
at Ctrl-C, and when the terminal closes, unless nohup started it. racwire sends
nothing over the private networks, except with --probe.

examples:
  racwire record before.rec                  record until Ctrl-C
  racwire record --for 30m --label mtu1500 before.rec
  racwire record --for 30m --probe before.rec
  racwire record --connect rac-scan:1521/prod --user racwire prod.rec
  nohup racwire record --keep 24h night.rec &
                                             keep only the last 24 hours

next steps:
  racwire open before.rec                    look at it in the console
  racwire compare before.rec after.rec       compare two recordings
  racwire watch before.rec | jq .            print it as JSON lines

exit codes: 0 recorded, also until Ctrl-C; 3 nothing could be recorded, or the
disk is full; 64 usage."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Record the traffic of all nodes and instances in a file."
    parser.epilog = _EPILOG
    recording = parser.add_argument_group("recording")
    recording.add_argument("--label", metavar="TEXT", default="", help="name of this recording, such as mtu1500")
    recording.add_argument("--keep", metavar="TIME", help="keep only the last 24h (30m, 7d), and drop older samples")
    recording.add_argument("--force", action="store_true", help="replace FILE if it is a recording")
    add_live_options(parser, "the recording to write; it must not exist yet")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Record, and return the exit code. Raises UsageError for a wrong option or a FILE that cannot be written."""
    refuse_check_options(args)
    for_s = seconds_of(args.for_time, "--for") if args.for_time is not None else None
    keep_s = seconds_of(args.keep, "--keep") if args.keep is not None else None
    if len(args.label) > _LONGEST_LABEL:
        raise UsageError(f"--label: write at most {_LONGEST_LABEL} characters.")
    from checks.traffic.discovery import growing_cluster
    from checks.traffic.feed import Feed
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
        tape.record(
            lambda: Feed(settings, password=password, share=tape.status.sampled_by),
            growing_cluster(settings, password=password),
            args.probe,
        )
    )
