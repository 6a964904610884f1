"""`racwire watch`: samples as JSON lines on stdout, live or of a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from checks.model.report import ExitCode
from checks.model.settings import Settings
from checks.traffic.header import header_now, still_unknown
from checks.traffic.json_text import to_json_text
from checks.traffic.recording import Header, Recording, RecordingError
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.password import password_of
from tui.cli.record_command import sampled_every
from tui.cli.sampling import Ending, run_sampling, sample
from tui.cli.status import Narration
from tui.cli.status_line import StatusLine
from tui.cli.streams import leave
from tui.console.batch_writer import BatchWriter, Item


class _First(msgspec.Struct, frozen=True, kw_only=True, tag="Header", tag_field="fact"):
    """The line that comes first."""

    racwire_version: str
    started_at: str
    interval_s: float
    label: str


def run_watch(args: argparse.Namespace, settings: Settings) -> int:
    """Print, and return the exit code. Raises UsageError; OSError where stdout takes no more."""
    if args.file is not None:
        if args.for_time is not None or args.every is not None or args.probe:
            raise UsageError("--for, --every and --probe are for live samples; a recording is printed as it is.")
        return _print_recording(Path(args.file))
    settings = sampled_every(settings, args)
    for_s = seconds_of(args.for_time, "--for") if args.for_time is not None else None
    password = password_of(settings.database)
    from checks.traffic.feed import Feed, find_cluster

    line = StatusLine(quiet=args.quiet)
    told = Narration(line.tell, line.tell_in_any_case)
    probing = settings if args.probe else None
    _print([_first(header_now(still_unknown(settings), settings, interval_s=settings.traffic.interval_s))])

    async def watch() -> Ending:
        return await sample(
            Feed(settings, password=password),
            find_cluster(settings, password=password),
            BatchWriter(_print_items, 0.0),
            told=lambda item: told(item, probing),
            for_s=for_s,
            probe=args.probe,
        )

    ending = run_sampling(watch())
    if ending.interrupted:
        return leave(ExitCode.INTERRUPTED)
    return leave(ExitCode.PASS if told.samples else ExitCode.COULD_NOT_TELL)


def _print_recording(path: Path) -> int:
    try:
        recording = Recording.open(path)
    except RecordingError as error:
        raise UsageError(str(error)) from None
    try:
        _print([_first(recording.header), to_json_text(recording.header.cluster)])
        for event in recording.events():
            _print([to_json_text(event)])
    except RecordingError as error:
        StatusLine().tell(str(error))
        return ExitCode.COULD_NOT_TELL
    finally:
        recording.close()
    return ExitCode.PASS


def _print_items(items: list[Item]) -> None:
    _print([to_json_text(item) for item in items])


def _print(lines: list[bytes]) -> None:
    """JSON is UTF-8, whatever the locale."""
    sys.stdout.buffer.write(b"".join(line + b"\n" for line in lines))
    sys.stdout.buffer.flush()


def _first(header: Header) -> bytes:
    return to_json_text(
        _First(
            racwire_version=header.racwire_version,
            started_at=header.started_at,
            interval_s=header.interval_s,
            label=header.label,
        )
    )
