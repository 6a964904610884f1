"""How `racwire save` writes its file, and what becomes of the evidence where the file cannot be written."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from checks.model.exit_codes import ExitCode
from checks.model.facts import Unknown
from checks.model.report import Report, exit_code
from checks.model.wording import counted, lasting, listed
from checks.report.json_report import to_json
from checks.saved import SavedError, save
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import OutputError
from tui.cli.document import Handout, save_elsewhere
from tui.cli.durations import size_of
from tui.cli.interrupts import write_interruptibly
from tui.cli.load_or_run import EvidenceSource
from tui.cli.streams import print_message
from tui.cli.text_report import text_report


@contextmanager
def recording_to_save(args: argparse.Namespace, found: EvidenceSource) -> Iterator[Path | None]:
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
            print_message(f"{error} The file is written without the recording.")
            path = None
        yield path


def keep(report: Report, recording: Path | None, path: Path, args: argparse.Namespace) -> int:
    """Write the file, or what there is somewhere else; the exit code."""
    code = exit_code(report)
    try:
        recording = _save(report, recording, path, replace=args.force)
    except OutputError as error:
        print_message(str(error))
        return _rescued(report, recording, code)
    if not args.quiet:
        if report.interrupted:
            print_message("Interrupted: what had been found by then is in the file, and that the rest is not known.")
        print_message(f"{path} has {_contents(report, recording)}{_size(path)}.")
        if path.is_file():
            print_message(f"next: racwire open {path}, or racwire report --from {path} -o report.html")
    return code


def _save(report: Report, recording: Path | None, path: Path, *, replace: bool) -> Path | None:
    """Write the file; the recording that is in it. One that cannot be put in is left out, and that is told. Raises
    OutputError."""
    try:
        write_interruptibly(lambda: save(path, report, recording, replace=replace))
    except SavedError as error:
        if recording is None:
            raise OutputError(f"{path} was not written: {error}") from None
        print_message(f"{error} The file is written without the recording.")
        return _save(report, None, path, replace=replace)
    return recording


def _rescued(report: Report, recording: Path | None, code: int) -> int:
    """What was waited for is not lost: it goes where there is room, else to stdout."""
    kept = save_elsewhere("saved", ".racwire", lambda path: _save(report, recording, path, replace=False))
    if kept is not None:
        print_message(f"It is in {kept} instead.")
        return max(code, ExitCode.COULD_NOT_TELL)
    print_message("It could be kept nowhere else; the report follows, without the traffic.")
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
