"""`racwire watch`: print samples as JSON lines on stdout, live or of a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from checks.model.exit_codes import ExitCode
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.options import add_live_options, refuse_check_options
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from checks.traffic.recording import Header
    from tui.cli.sampling import Ending
    from tui.console.batch_writer import Item

_EPILOG = """\
Each line is a JSON object. Its field `fact` is one of:
  Header          first line: racwire_version, started_at, interval_s, label,
                  and for a recording the last InstancesPace
  Cluster         nodes, private networks and database; printed again when more
                  of them are known
  Links           interfaces of a node: mtu, speed_mbps, private network;
                  printed again when one of them changes
  NodeSample      what the kernel of a node counted in `seconds` until `at`:
                  interfaces, counters, cpu, load
  InstanceSample  what an instance counted: statistics (GV$SYSSTAT), messages
                  (GV$DLM_MISC)
  PairsSample     which instance lost blocks of which, and the instances' pings
  LatencySample   pings of one path and size (--probe)
  Gap             a source has no samples from here on, and why
  InstancesPace   how often instances are sampled from here on, and why
Counts are differences, not rates. Fields that are 0 or empty are left out.

examples:
  racwire watch | jq -c 'select(.fact == "Gap")'
  racwire watch --every 10 --for 1h > hour.jsonl
  racwire watch night.rec | jq -c 'select(.fact == "NodeSample") | .counters'

exit codes: 0 the time of --for is over, the recording ends, or the reader
closes the pipe; 3 nothing could be sampled or read; 64 usage; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print the samples of every node and instance as JSON lines."
    parser.epilog = _EPILOG
    add_live_options(parser, "print this recording instead of live samples", nargs="?")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the samples and return the exit code.

    Raises UsageError for a wrong option, OSError where stdout is full.
    """
    if args.file is not None:
        if args.for_time is not None or hasattr(args, "every") or args.probe:
            raise UsageError("--for, --every and --probe are for live samples: leave them out to print a recording.")
        return _print_recording(Path(args.file))
    from checks.traffic.discovery import growing_cluster
    from checks.traffic.feed import Feed
    from checks.traffic.header import header_now, still_unknown
    from tui.cli.password import password_of
    from tui.cli.sampling import run_sampling, sample
    from tui.cli.sampling_status import SamplingStatus
    from tui.cli.status_line import StatusLine
    from tui.console.batch_writer import BatchWriter

    refuse_check_options(args)
    for_s = seconds_of(args.for_time, "--for") if args.for_time is not None else None
    password = password_of(settings.database)
    line = StatusLine(quiet=args.quiet)
    status = SamplingStatus(line.print, line.announce)
    probing = settings if args.probe else None
    _print([_first(header_now(still_unknown(settings), settings, interval_s=settings.traffic.interval_s))])

    async def watch() -> Ending:
        return await sample(
            Feed(settings, password=password),
            growing_cluster(settings, password=password),
            BatchWriter(_print_items, 0.0),
            on_item=lambda item: status(item, probing),
            for_s=for_s,
            probe=args.probe,
        )

    ending = run_sampling(watch())
    if ending.interrupted:
        return exit_past_hung_threads(ExitCode.INTERRUPTED)
    return exit_past_hung_threads(ExitCode.PASS if status.samples else ExitCode.COULD_NOT_TELL)


def _print_recording(path: Path) -> int:
    from checks.traffic.json_text import to_json_text
    from checks.traffic.recording import Recording, RecordingError
    from tui.cli.status_line import StatusLine

    try:
        recording = Recording.open(path)
    except RecordingError as error:
        raise UsageError(str(error)) from None
    try:
        _print([_first(recording.header), to_json_text(recording.header.cluster)])
        _print([to_json_text(one) for one in recording.header.measurements])
        for event in recording.events():
            _print([to_json_text(event)])
    except RecordingError as error:
        StatusLine().print(str(error))
        return ExitCode.COULD_NOT_TELL
    finally:
        recording.close()
    return ExitCode.PASS


def _print_items(items: list[Item]) -> None:
    from checks.traffic.json_text import to_json_text

    _print([to_json_text(item) for item in items])


def _print(lines: list[bytes]) -> None:
    """Write lines of JSON, which is UTF-8 in every locale."""
    sys.stdout.buffer.write(b"".join(line + b"\n" for line in lines))
    sys.stdout.buffer.flush()


def _first(header: Header) -> bytes:
    """The first line: the header without its cluster."""
    from checks.traffic.json_text import to_json_text

    fields = ("racwire_version", "started_at", "interval_s", "label")
    pace = {"instances_pace": header.instances_pace} if header.instances_pace else {}
    return to_json_text({"fact": "Header", **{name: getattr(header, name) for name in fields}, **pace})
