"""`racwire save`: everything that a run found, and what it found it in, in one file."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from checks.model.facts import Unknown
from checks.model.report import ExitCode, Report, exit_code
from checks.model.settings import Settings
from checks.model.wording import counted, lasting, listed
from checks.report.json_report import to_json
from checks.saved import SavedError, save
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import OutputError
from tui.cli.document import Handout, kept_elsewhere, output_file
from tui.cli.durations import size_of
from tui.cli.errors import UsageError
from tui.cli.load_or_run import Taken, record_seconds, taken
from tui.cli.streams import leave, tell
from tui.cli.text_report import text_report


def run_save(args: argparse.Namespace, settings: Settings) -> int:
    """Save, and return the exit code: that of `racwire check`, or 3 where the file could not be written. Raises
    UsageError."""
    path = output_file(args.file, replace=args.force, option="FILE")
    record_s = record_seconds(args)
    if args.recording is not None:
        _refuse_no_recording(args)
        record_s = 0.0
    with taken(args, settings, record_s=record_s) as found, _recording(args, found) as recording:
        code = _kept(found.evidence.report, recording, path, args)
    return leave(code)


def _refuse_no_recording(args: argparse.Namespace) -> None:
    """Raises UsageError, before anything is run, where --recording cannot be put into the file."""
    if args.record is not None:
        raise UsageError("--record and --recording: one file takes one recording; leave one of them out.")
    try:
        Recording.open(Path(args.recording)).close()
    except RecordingError as error:
        raise UsageError(f"--recording: {error}") from None


@contextmanager
def _recording(args: argparse.Namespace, found: Taken) -> Iterator[Path | None]:
    """The recording that goes into the file: the one that is named, or that was made. What goes beside a report with
    pseudonyms gets them too, where it has none."""
    path, has_names = found.recording, found.has_names
    if args.recording is not None:
        path, has_names = Path(args.recording), found.evidence.report.is_redacted
    if path is None or not has_names:
        yield path
        return
    from tui.cli.redaction import redact_recording

    with tempfile.TemporaryDirectory(prefix="racwire-", ignore_cleanup_errors=True) as directory:
        try:
            path = redact_recording(path, Path(directory) / "redacted.rec", args.redaction_map)
        except (OutputError, RecordingError) as error:
            tell(f"{error} The file is written without the recording.")
            path = None
        yield path


def _kept(report: Report, recording: Path | None, path: Path, args: argparse.Namespace) -> int:
    """Write the file, or what there is somewhere else; the exit code."""
    code = exit_code(report)
    try:
        recording = _save(report, recording, path, replace=args.force)
    except OutputError as error:
        tell(str(error))
        return _rescued(report, recording, code)
    if not args.quiet:
        if report.interrupted:
            tell("Interrupted: what had been found by then is in the file, and that the rest is not known.")
        tell(f"{path} has {_contents(report, recording)}{_size(path)}.")
        if path.is_file():
            tell(f"next: racwire open {path}, or racwire report --from {path} -o report.html")
    return code


def _save(report: Report, recording: Path | None, path: Path, *, replace: bool) -> Path | None:
    """Write the file; the recording that is in it. One that cannot be put in is left out, and that is told. Raises
    OutputError."""
    try:
        save(path, report, recording, replace=replace)
    except SavedError as error:
        if recording is None:
            raise OutputError(f"{path} was not written: {error}") from None
        tell(f"{error} The file is written without the recording.")
        return _save(report, None, path, replace=replace)
    return recording


def _rescued(report: Report, recording: Path | None, code: int) -> int:
    """What was waited for is not lost: it goes where there is room, else to stdout."""
    kept = kept_elsewhere("saved", ".racwire", lambda path: _save(report, recording, path, replace=False))
    if kept is not None:
        tell(f"It is in {kept} instead.")
        return max(code, ExitCode.COULD_NOT_TELL)
    tell("It could be kept nowhere else; the report follows, without the traffic.")
    text: Callable[..., str] | None = (lambda stream: text_report(report, stream)) if sys.stdout.isatty() else None
    Handout("report", lambda: to_json(report), text).deliver(None, code, replace=False)
    return max(code, ExitCode.COULD_NOT_TELL)


def _size(path: Path) -> str:
    return f": {size_of(path.stat().st_size)}" if path.is_file() else ""


def _contents(report: Report, recording: Path | None) -> str:
    """`13 checks of rac1 and rac2, and 15 s of traffic`."""
    checks = counted(len({finding.check for finding in report.findings}), "check")
    nodes = report.cluster.nodes
    names = (report.cluster.local_node,) if isinstance(nodes, Unknown) else tuple(node.name for node in nodes)
    return f"{checks} of {listed(names)}, and {_traffic(recording)}"


def _traffic(recording: Path | None) -> str:
    if recording is None:
        return "no traffic"
    try:
        opened = Recording.open(recording)
        try:
            span = opened.span()
        finally:
            opened.close()
    except RecordingError:
        return "a recording"
    return f"{lasting(span[1] - span[0])} of traffic" if span else "a recording in which nothing could be sampled"
