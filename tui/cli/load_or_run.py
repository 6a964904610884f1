"""The evidence for `check`, `report` and `save`: from a new run of the checks, or from a saved file."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checks.model.report import Report
from checks.model.settings import Settings
from checks.model.wording import listed
from checks.report.report_evidence import Evidence
from checks.report.syslog import of_run
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.stored_measurements import newest_measurements
from checks.saved.session_run import newest_session
from checks.situation.run_alone import with_situation
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import OutputError
from tui.cli.adviser import adviser
from tui.cli.check_selection import choose, choose_saved
from tui.cli.checking import check
from tui.cli.deepening import deepened_report
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.interrupts import removed_at_abrupt_end
from tui.cli.options import CLUSTER_OPTIONS, DATABASE_OPTIONS, SAMPLING_OPTIONS
from tui.cli.own_loop import run_in_own_loop
from tui.cli.password import password_for
from tui.cli.progress import progress_line
from tui.cli.scratch import ScratchDirectory
from tui.cli.short_recording import ShortRecording
from tui.cli.streams import print_message
from tui.cli.syslog import Syslog

if TYPE_CHECKING:
    from checks.saved import Saved
    from checks.traffic.feed import Feed

RECORDED_S = 15.0
"""Seconds of traffic to record without `--record`: enough to see whether blocks are being lost."""
_OF_THE_CLUSTER = {
    "lab": "--lab",
    **{option.destination: option.name for option in (*CLUSTER_OPTIONS, *DATABASE_OPTIONS, *SAMPLING_OPTIONS)},
}
"""The options for the cluster and the database, by their names in the parsed arguments."""

_Found = tuple[Report, Recording | None]


@dataclass(frozen=True)
class EvidenceSource:
    """The evidence of a run or of a saved file, valid in the body of a `with`."""

    evidence: Evidence
    """The evidence for the output: redacted with --redact."""
    recording: Path | None
    """The file with the traffic, as it was recorded or saved; None without one."""
    has_names: bool
    """Whether the recording is not redacted although the evidence is."""


@contextmanager
def load_or_run(
    args: argparse.Namespace, settings: Settings, *, record_s: float | None = None
) -> Iterator[EvidenceSource]:
    """Run the checks that the arguments select, or open a saved file (`--from`). Where the settings want it, a run is
    reported to syslog.

    `record_s`: seconds of traffic to record at least; a saved file then includes its traffic. None: no traffic.
    Raises UsageError where the checks cannot be run or the file cannot be opened.
    """
    if hasattr(args, "syslog") and args.from_file:
        raise UsageError("--syslog reports a run, and a saved file has none: leave --syslog or --from out.")
    _check_mapping(args)
    source = _saved(args, settings, record_s is not None) if args.from_file else _live(args, settings, record_s)
    with source as (report, recording):
        evidence = Evidence(report, recording)
        output = _redacted(evidence, args.redaction_map) if args.redact else evidence
        has_names = output.report.is_redacted and not report.is_redacted
        if settings.syslog.send and not args.from_file:
            Syslog(settings.syslog, print_message).send(of_run(output.report))
        yield EvidenceSource(output, recording.path if recording else None, has_names)


def record_seconds(args: argparse.Namespace) -> float:
    """The seconds of traffic to record. Raises UsageError for a wrong --record."""
    if args.record is None:
        return RECORDED_S
    if args.record.strip() in ("0", "0s"):
        return 0.0
    if args.from_file:
        raise UsageError("--record: a saved file cannot be recorded again; leave --record or --from out.")
    return seconds_of(args.record, "--record")


@contextmanager
def _live(args: argparse.Namespace, settings: Settings, record_s: float | None) -> Iterator[_Found]:
    found = discover()
    chosen = choose(found, args.ids, args.skip)
    broken = found.broken if not args.ids else [b for b in found.broken if b.name in args.ids]
    password = password_for(settings.database, chosen)

    def new_feed() -> Feed:
        from checks.traffic.feed import Feed

        return Feed(settings, password=password, share=lambda sampler: None)

    engine = Engine(
        chosen,
        settings,
        broken=broken,
        password=password,
        advise=adviser(settings),
        measurements_of=newest_measurements,
        sessions_of=newest_session,
    )
    with (
        ScratchDirectory() as directory,
        removed_at_abrupt_end(directory),
    ):
        recording = ShortRecording(directory, settings, new_feed, record_s) if record_s else None
        with progress_line(sys.stderr.isatty() and not args.quiet) as progress:
            report = run_in_own_loop(check(engine, progress, recording))
            if getattr(args, "deep", False):
                report = deepened_report(report, settings, password, progress)
        with _opened(recording) as opened:
            yield with_situation(report, found.every, time.time()), opened


@contextmanager
def _opened(made: ShortRecording | None) -> Iterator[Recording | None]:
    """The recording of this run; None where it failed, with a message."""
    recording = None
    if made is not None and made.path.exists():
        try:
            recording = Recording.open(made.path)
        except RecordingError as error:
            print_message(str(error))
    try:
        yield recording
    finally:
        if recording is not None:
            recording.close()


@contextmanager
def _saved(args: argparse.Namespace, settings: Settings, with_traffic: bool) -> Iterator[_Found]:
    from checks.saved import SavedError, open_saved

    try:
        saved = open_saved(Path(args.from_file), recording=with_traffic)
    except SavedError as error:
        raise UsageError(str(error)) from None
    with saved:
        _report_source(saved, args)
        yield _rejudged(saved, args, settings), saved.recording


def _report_source(saved: Saved, args: argparse.Namespace) -> None:
    if not args.quiet:
        print_message(f"{saved.path} was {saved.told(datetime.now(UTC))}; this run reads, queries and sends nothing.")
    unused = [option for name, option in _OF_THE_CLUSTER.items() if hasattr(args, name)]
    if unused:
        print_message(f"{listed(unused)}: ignored, because the evidence comes from {saved.path}.")


def _rejudged(saved: Saved, args: argparse.Namespace, settings: Settings) -> Report:
    """The report with findings of the checks installed here. --settings replaces the saved thresholds and waivers."""
    from checks.saved.saved_replay import Replay

    found = discover()
    chosen = choose_saved(found, saved.report, args.ids, args.skip)
    report = replace(saved.report, findings=tuple(f for f in saved.report.findings if f.check in chosen))
    named = settings if hasattr(args, "settings") else None
    replay = Replay(report, found.every, broken=found.broken, settings=named)
    foreign: dict[str, list[str]] = {}
    for name, why in replay.kept.items():
        if found.get(name) is None:
            foreign.setdefault(why, []).append(name)
    for why, names in foreign.items():
        print_message(f"The findings of {listed(names)} are those of the saved file: the check {why}.")
    return run_in_own_loop(replay.run())


def _check_mapping(args: argparse.Namespace) -> None:
    """Check the mapping before the checks run. Raises UsageError where the evidence could not be redacted."""
    if args.redaction_map is not None and not args.redact:
        raise UsageError("--redaction-map has no effect without --redact; add --redact.")
    if args.redact:
        from checks.redact import RedactionError, open_mapping
        from tui.cli.redaction import map_path

        mapping = map_path(args.redaction_map)
        _check_mapping_is_no_other_file(mapping, args)
        try:
            with open_mapping(mapping):
                pass
        except (OutputError, RedactionError) as error:
            raise UsageError(str(error)) from None


def _check_mapping_is_no_other_file(mapping: Path, args: argparse.Namespace) -> None:
    """Refuse a mapping that is also an input or output file, since the run would overwrite it. Raises UsageError."""
    own = {os.path.realpath(mapping), os.path.realpath(f"{mapping}.lock")}
    others = {"-o": "output", "FILE": "file", "--from": "from_file", "--recording": "recording"}
    for option, name in others.items():
        named = getattr(args, name, None)
        if named is not None and os.path.realpath(named) in own:
            raise UsageError(f"{option} {named} is the file of the pseudonyms ({mapping}); name another file.")


def _redacted(evidence: Evidence, map_file: str | None) -> Evidence:
    from tui.cli.redaction import redacted

    try:
        return redacted(evidence, map_file)
    except RecordingError as error:
        print_message(f"{error} The report does not contain the traffic.")
        return redacted(Evidence(evidence.report), map_file)
