"""`racwire watch`: print samples as JSON lines, or events, on stdout, live or of a recording."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
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
    from tui.cli.event_states import EventStates, Tell
    from tui.cli.sampling import Ending
    from tui.cli.watch_events import EventLines
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

With --events, each line is the start or the end of an event: lost blocks,
failed reassembly, full receive buffers, drops and errors, a node or an
instance that does not answer or was restarted, a reconfiguration, a link, a
speed or an MTU that changed, a clock that jumped. Trouble at several places is
one event. An event of counters ends after 30 s without a further sign; its end
is the last sign.
With --format json, `state` is starts, continues (at a further place, or
worse), ends, once (over when it was seen), or lasts (when the command ends).
Other fields: kind, status, places, start, end, peak with unit, count, and
checks, which examine such an event.

examples:
  racwire watch --events --for 1h
  racwire watch --events --from night.rec
  racwire watch --events --format json | jq -c 'select(.state == "starts")'
  racwire watch | jq -c 'select(.fact == "Gap")'
  racwire watch --every 10 --for 1h > hour.jsonl
  racwire watch night.rec | jq -c 'select(.fact == "NodeSample") | .counters'

exit codes: 0 the time of --for is over, the recording ends, or the reader
closes the pipe; 3 nothing could be sampled or read; 64 usage; 130 interrupted.
With --events that of the worst event: 0 none, 1 warning, 2 failure; 3 a node
or an instance did not answer, or was never seen, and there was no failure."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Print the samples of every node and instance as JSON lines.\n\n"
        "With --events it prints what happens instead: blocks lost, a node that does\n"
        "not answer, a link that is down."
    )
    parser.epilog = _EPILOG
    events = parser.add_argument_group("events")
    events.add_argument("--events", action="store_true", help="print events instead of samples, as lines")
    events.add_argument("--format", choices=("text", "json"), help="of events: text (default), or JSON lines")
    events.add_argument("--from", metavar="FILE", dest="from_file", help="the same as FILE")
    add_live_options(parser, "print this recording instead of live samples", nargs="?")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the samples and return the exit code.

    Raises UsageError for a wrong option, OSError where stdout is full.
    """
    file = _file_of(args)
    if file is not None:
        if args.for_time is not None or hasattr(args, "every") or args.probe or hasattr(args, "syslog"):
            raise UsageError(
                "--for, --every, --probe and --syslog are for live samples: leave them out to print a recording."
            )
        if args.events:
            from tui.cli.watch_events import print_events_of

            return print_events_of(file, as_json=args.format == "json", quiet=args.quiet)
        return _print_recording(file)
    from checks.traffic.discovery import growing_cluster
    from checks.traffic.feed import Feed
    from checks.traffic.header import header_now, still_unknown
    from tui.cli.event_states import passing_time
    from tui.cli.password import password_of
    from tui.cli.sampling import run_sampling, sample
    from tui.cli.sampling_status import SamplingStatus
    from tui.cli.status_line import StatusLine
    from tui.cli.syslog import event_sender
    from tui.console.batch_writer import BatchWriter

    refuse_check_options(args)
    for_s = seconds_of(args.for_time, "--for") if args.for_time is not None else None
    password = password_of(settings.database)
    line = StatusLine(quiet=args.quiet)
    status = SamplingStatus(line.print, line.announce)
    probing = settings if args.probe else None
    tell = event_sender(settings.syslog, line.announce)
    lines = _event_lines(args, tell) if args.events else None
    states = lines.states if lines is not None else _states(tell) if tell is not None else None
    if lines is None:
        _print([_first(header_now(still_unknown(settings), settings, interval_s=settings.traffic.interval_s))])

    def see(item: Item) -> None:
        status(item, probing)
        if states is not None:
            states.take(item)

    async def watch(print_items: Callable[[list[Item]], None]) -> Ending:
        return await sample(
            Feed(settings, password=password, share=status.sampled_by),
            growing_cluster(settings, password=password),
            BatchWriter(print_items, 0.0),
            on_item=see,
            for_s=for_s,
            probe=args.probe,
        )

    async def untold() -> Ending:
        async with AsyncExitStack() as stack:
            if states is not None:
                await stack.enter_async_context(passing_time(states))
            return await watch(_print_items)

    ending = run_sampling(untold() if lines is None else lines.during(watch, line))
    if ending.interrupted:
        return exit_past_hung_threads(ExitCode.INTERRUPTED)
    if not status.samples:
        return exit_past_hung_threads(ExitCode.COULD_NOT_TELL)
    return exit_past_hung_threads(lines.states.exit_code if lines is not None else ExitCode.PASS)


def _file_of(args: argparse.Namespace) -> Path | None:
    """The recording to print; None for live samples. Raises UsageError where the options contradict each other."""
    if args.file is not None and args.from_file is not None:
        raise UsageError("FILE and --from are the same: leave one of them out.")
    if args.format == "text" and not args.events:
        raise UsageError("Samples are printed as JSON only; add --events for events as text.")
    file = args.file if args.file is not None else args.from_file
    return None if file is None else Path(file)


def _event_lines(args: argparse.Namespace, tell: Tell | None) -> EventLines:
    from checks.situation.events.watching import EventWatch
    from tui.cli.watch_events import EventLines

    return EventLines(EventWatch(), as_json=args.format == "json", tell=tell)


def _states(tell: Tell) -> EventStates:
    from checks.situation.events.watching import EventWatch
    from tui.cli.event_states import EventStates

    return EventStates(EventWatch(), tell)


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
