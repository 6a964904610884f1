"""Writes the file of `racwire save`; where that fails, the evidence is saved elsewhere or printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from checks.model.exit_codes import ExitCode
from checks.model.facts import Unknown
from checks.model.report import Report, exit_code
from checks.model.shell_command import for_each
from checks.model.wording import counted, lasting, listed
from checks.report.json_report import to_json
from checks.saved import SavedError, save
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import OutputError, OutputFile
from tui.cli.document import Handout, save_elsewhere
from tui.cli.durations import size_of
from tui.cli.interrupts import removed_at_abrupt_end, write_interruptibly
from tui.cli.load_or_run import EvidenceSource
from tui.cli.scratch import ScratchDirectory
from tui.cli.streams import print_message
from tui.cli.text_report import text_report


@contextmanager
def recording_to_save(args: argparse.Namespace, found: EvidenceSource) -> Iterator[Path | None]:
    """The recording for the file: the one of --recording, or the one of this run. It is redacted where the report is
    redacted and the recording is not."""
    path, has_names = found.recording, found.has_names
    if args.recording is not None:
        path, has_names = Path(args.recording), found.evidence.report.is_redacted
    if path is None or not has_names:
        yield path
        return
    from tui.cli.redaction import redact_recording

    with (
        ScratchDirectory() as directory,
        removed_at_abrupt_end(directory),
    ):
        try:
            path = redact_recording(path, directory / "redacted.rec", args.redaction_map)
            with closing(Recording.open(path)) as made:
                if made.header.lacks_journal:
                    print_message("The journal of the change is left out: racwire replaces no names in it.")
        except (OutputError, RecordingError) as error:
            print_message(f"{error} The saved file does not contain the recording.")
            path = None
        yield path


def save_evidence(report: Report, recording: Path | None, file: OutputFile, args: argparse.Namespace) -> int:
    """Write the file, or save the evidence elsewhere where that fails. Return the exit code."""
    code = exit_code(report)
    try:
        recording = _save(report, recording, file)
    except OutputError as error:
        print_message(str(error))
        return _save_elsewhere_or_print(report, recording, code)
    if not args.quiet:
        if report.interrupted:
            print_message("Interrupted: the file contains the findings up to then; all others are unknown.")
        print_message(
            f"{file} contains {_contents(report, recording and file.path)}: {size_of(file.path.stat().st_size)}."
        )
        commands = for_each("racwire open {file}", "racwire report --from {file} -o report.html", file=(str(file),))
        print_message(f"next: {', or '.join(commands)}")
    return code


def _save(report: Report, recording: Path | None, file: OutputFile) -> Path | None:
    """Write the file and return the recording in it. A recording that cannot be saved is left out, with a message.

    Raises OutputError where the file cannot be written.
    """
    try:
        write_interruptibly(lambda: save(file, report, recording))
    except SavedError as error:
        if recording is None:
            raise OutputError(f"{file} was not written: {error}") from None
        print_message(f"{error} The saved file does not contain the recording.")
        return _save(report, None, file)
    return recording


def _save_elsewhere_or_print(report: Report, recording: Path | None, code: int) -> int:
    """Save the evidence elsewhere, or print the report on stdout. Return the exit code."""
    saved = save_elsewhere("saved", ".racwire", lambda path: _save(report, recording, OutputFile(path)))
    if saved is not None:
        print_message(f"The evidence is in {saved} instead.")
        return max(code, ExitCode.COULD_NOT_TELL)
    print_message("The evidence could not be saved elsewhere; the report follows, without the traffic.")
    text: Callable[..., str] | None = None
    if sys.stdout.isatty():
        text = lambda stream: text_report(report, stream, full=True)  # noqa: E731
    Handout("report", lambda: to_json(report), text).deliver(None, code)
    return max(code, ExitCode.COULD_NOT_TELL)


def _contents(report: Report, recording: Path | None) -> str:
    """The contents as text: `13 checks of rac1 and rac2, and 15 s of traffic`."""
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
