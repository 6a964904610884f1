"""`racwire save`: the findings of a run and all evidence behind them, in one file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.document import output_file
from tui.cli.errors import UsageError
from tui.cli.options import (
    add_check_options,
    add_evidence_options,
    add_file_options,
    add_quiet_option,
    add_record_option,
    add_selection_options,
    add_syslog_option,
)
from tui.cli.streams import exit_past_hung_threads

if TYPE_CHECKING:
    from checks.model.settings import Settings

_EPILOG = """\
FILE contains the findings and the evidence behind them: facts, outputs as they
were read, probes, database results, and a recording of the traffic during the
run. `racwire open` needs no cluster and no Oracle software to open FILE.

examples:
  racwire save night.racwire
  racwire save night.racwire --connect rac-scan:1521/prod --user racwire
  racwire save --redact --record 1m vendor.racwire

next steps:
  racwire open night.racwire                    open it in the console
  racwire check --from night.racwire            repeat the checks on it
  racwire report --from night.racwire -o night.html
  racwire diff night.racwire morning.racwire    what got better or worse

exit codes, those of `racwire check`: 0 pass, 1 warnings, 2 failures, 3 could
not tell, or the file could not be written; 64 usage; 130 interrupted."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Run the checks and save all evidence in one compressed file, for any machine."
    parser.epilog = _EPILOG
    output = parser.add_argument_group("output")
    output.add_argument("file", metavar="FILE", help="the saved file to write, such as night.racwire")
    add_file_options(output)
    add_record_option(output, "FILE")
    output.add_argument("--recording", metavar="REC", help="put the recording REC into FILE instead of a new one")
    add_quiet_option(output)
    add_syslog_option(output)
    add_selection_options(parser)
    add_evidence_options(parser)
    add_check_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Save the evidence and return the exit code: that of `racwire check`, or 3 where the file could not be written.

    Raises UsageError for a wrong command line.
    """
    from tui.cli.load_or_run import load_or_run, record_seconds
    from tui.cli.saving import recording_to_save, save_evidence

    file = output_file(args.file, args, "FILE")
    record_s = record_seconds(args)
    if args.recording is not None:
        _refuse_no_recording(args)
        record_s = 0.0
    with load_or_run(args, settings, record_s=record_s) as found, recording_to_save(args, found) as recording:
        code = save_evidence(found.evidence.report, recording, file, args)
    return exit_past_hung_threads(code)


def _refuse_no_recording(args: argparse.Namespace) -> None:
    """Refuse a --recording that cannot be put into the file, before the checks run. Raises UsageError."""
    from checks.traffic.recording import Recording, RecordingError

    if args.record is not None:
        raise UsageError("--record and --recording: a saved file contains one recording; leave one of the options out.")
    try:
        Recording.open(Path(args.recording)).close()
    except RecordingError as error:
        raise UsageError(f"--recording: {error}") from None
