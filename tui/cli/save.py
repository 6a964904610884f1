"""`racwire save`: everything that a run found, and what it found it in, in one file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.document import output_file
from tui.cli.errors import UsageError
from tui.cli.options import add_check_options, add_evidence_options, add_quiet_option, add_record_option
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.settings import Settings

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
    from tui.cli.load_or_run import load_or_run, record_seconds
    from tui.cli.saving import keep, recording_to_save

    path = output_file(args.file, replace=args.force, option="FILE")
    record_s = record_seconds(args)
    if args.recording is not None:
        _refuse_no_recording(args)
        record_s = 0.0
    with load_or_run(args, settings, record_s=record_s) as found, recording_to_save(args, found) as recording:
        code = keep(found.evidence.report, recording, path, args)
    return exit_past_hung_threads(code)


def _refuse_no_recording(args: argparse.Namespace) -> None:
    """Raises UsageError, before anything is run, where --recording cannot be put into the file."""
    from checks.traffic.recording import Recording, RecordingError

    if args.record is not None:
        raise UsageError("--record and --recording: one file takes one recording; leave one of them out.")
    try:
        Recording.open(Path(args.recording)).close()
    except RecordingError as error:
        raise UsageError(f"--recording: {error}") from None
