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
from tui.cli.interrupts import while_signals_are_heard
from tui.cli.load_or_run import EvidenceSource, add_evidence_options, add_record_option, load_or_run, record_seconds
from tui.cli.options import add_check_options, add_quiet_option
from tui.cli.streams import exit_past_hung_threads, tell
from tui.cli.text_report import text_report

_EPILOG = """\
FILE holds what the checks found and what they found it in: facts, outputs as they were read, probes, results of the
database, and a recording of the traffic meanwhile. It needs no cluster and no Oracle to be opened:

  racwire save night.racwire
  racwire open night.racwire                      the console, on any machine
  racwire check --from night.racwire              the checks once more, on what was saved
  racwire report --from night.racwire -o night.html
  racwire diff night.racwire morning.racwire      what got better, what got worse

exit codes: those of `racwire check`: 0 pass, 1 warnings, 2 failures, 3 could not tell, or the file could not be
written; 64 usage; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Runs the checks and keeps all evidence in one compressed file, to be looked at anywhere."
    parser.epilog = _EPILOG
    add_check_options(parser)
    parser.add_argument("file", metavar="FILE", help="the saved file, such as night.racwire")
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these checks (racwire explain lists them)")
    parser.add_argument("--skip", action="append", default=[], metavar="ID", help="leave this check out (repeatable)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    add_record_option(parser, "the file")
    parser.add_argument("--recording", metavar="REC", help="put this recording into the file instead of a new one")
    add_quiet_option(parser)
    add_evidence_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Save, and return the exit code: that of `racwire check`, or 3 where the file could not be written. Raises
    UsageError."""
    path = output_file(args.file, replace=args.force, option="FILE")
    record_s = record_seconds(args)
    if args.recording is not None:
        _refuse_no_recording(args)
        record_s = 0.0
    with load_or_run(args, settings, record_s=record_s) as found, _recording(args, found) as recording:
        code = _kept(found.evidence.report, recording, path, args)
    return exit_past_hung_threads(code)


def _refuse_no_recording(args: argparse.Namespace) -> None:
    """Raises UsageError, before anything is run, where --recording cannot be put into the file."""
    if args.record is not None:
        raise UsageError("--record and --recording: one file takes one recording; leave one of them out.")
    try:
        Recording.open(Path(args.recording)).close()
    except RecordingError as error:
        raise UsageError(f"--recording: {error}") from None


@contextmanager
def _recording(args: argparse.Namespace, found: EvidenceSource) -> Iterator[Path | None]:
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
        while_signals_are_heard(lambda: save(path, report, recording, replace=replace))
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
