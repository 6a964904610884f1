"""`racwire open FILE`: open a saved file or a recording in the console; without a terminal, print it as text."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from checks.model.exit_codes import ExitCode
from checks.model.wording import counted, lasting, listed
from tui.cli.durations import size_of
from tui.cli.errors import UsageError
from tui.cli.options import add_console_options, add_settings_option
from tui.cli.streams import print_message
from tui.text.sanitize import for_encoding, sanitize_lines

if TYPE_CHECKING:
    from checks.model.settings import Settings
    from checks.traffic.recording import Header, Recording, SourceTally
    from checks.traffic.source_id import SourceId

_EPILOG = """\
examples:
  racwire open night.racwire    a saved file: all screens, at its moment
  racwire open incident.json    a JSON report: all screens, without traffic
  racwire open before.rec       a recording, also one that is being written

exit codes: of a saved file or a report those of `racwire check`; of a recording
0, and 3 where it is damaged; 64 usage, or FILE cannot be read."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Open a saved file, a JSON report or a recording in the console.\n\n"
        "It needs no cluster: racwire reads nothing else, sends nothing and logs in\n"
        "nowhere. Without a terminal, racwire prints the report, or a summary of the\n"
        "recording."
    )
    parser.epilog = _EPILOG
    parser.add_argument("file", metavar="FILE", help="file that `racwire save`, `report` (JSON) or `record` wrote")
    add_settings_option(parser.add_argument_group("settings"))
    add_console_options(parser)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Open the file and return the exit code. Raises UsageError where racwire did not write it, or cannot read it."""
    from checks.saved import kind_of

    path = Path(args.file)
    kind = kind_of(path)
    if kind == "recording":
        return _open_recording(path, settings)
    if not kind and path.is_file() and os.access(path, os.R_OK):
        raise UsageError(f"{path} is not a file that racwire wrote; name a saved file, a JSON report or a recording.")
    named = getattr(args, "settings", None)
    return _open_saved(path, settings, named)


def _open_saved(path: Path, settings: Settings, named: str | None) -> int:
    """Open a saved file. Where `named`, the value of --settings, is set, its thresholds and waivers replace the saved
    ones."""
    from checks.saved import SavedError
    from tui.console.start import no_console, run_console_on_saved

    if no_console(os.environ, sys.__stdin__, sys.__stderr__):
        from tui.cli import check

        argv = [f"--from={path}", *([f"--settings={named}"] if named is not None else [])]
        return check.run(check.arguments(*argv), settings)
    try:
        return run_console_on_saved(path, settings, judged_by=None if named is None else settings)
    except SavedError as error:
        raise UsageError(str(error)) from None


def _open_recording(path: Path, settings: Settings) -> int:
    from checks.traffic.recording import Recording, RecordingError
    from tui.console.start import no_console, run_console_on_recording

    try:
        if not no_console(os.environ, sys.__stdin__, sys.__stderr__):
            return run_console_on_recording(path, settings)
        recording = Recording.open(path)
    except RecordingError as error:
        raise UsageError(str(error)) from None
    try:
        text = summary(path, recording)
    except RecordingError as error:
        print_message(str(error))
        return ExitCode.COULD_NOT_TELL
    finally:
        recording.close()
    print(for_encoding(text, getattr(sys.stdout, "encoding", None)))
    return ExitCode.PASS


def summary(path: Path, recording: Recording) -> str:
    """The contents of a recording, on one screen. Raises RecordingError where it cannot be read."""
    from checks.model.shell_command import shell

    header, span = recording.header, recording.span()
    lines = [
        f"{path}  {size_of(path.stat().st_size)}",
        *([f"Label     {header.label}"] if header.label else []),
        f"When      {_when(span)}",
        f"Interval  {header.interval_s:g} s, by racwire {header.racwire_version}",
        *([f"Instances {header.instances_pace.text} (at the end)"] if header.instances_pace else []),
        *_cluster(header),
        f"Runs      {_runs(recording)}",
        *(["Change    its journal was left out: racwire replaces no names in it"] if header.lacks_journal else []),
        *_measured(header, span),
        "",
        *_sources(recording.tallies()),
        "",
        shell("Next      racwire watch {file}   (JSON lines)", file=str(path)),
        shell("          racwire compare BEFORE {file}", file=str(path)),
    ]
    return "\n".join(sanitize_lines(" ".join(line.splitlines())) for line in lines)


def _when(span: tuple[float, float] | None) -> str:
    if span is None:
        return "nothing was recorded"
    start, end = (_local(moment) for moment in span)
    return f"{start} to {end}, {lasting(span[1] - span[0])}"


def _local(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
    except (ValueError, OverflowError, OSError):
        return "an invalid time"


def _cluster(header: Header) -> list[str]:
    from checks.model.facts import Database, Unknown

    cluster = header.cluster
    lines = [f"From      {cluster.local_node}"]
    if isinstance(cluster.nodes, Unknown):
        lines.append(f"Nodes     not known: {cluster.nodes.reason}")
    else:
        lines.append(f"Nodes     {listed(node.name for node in cluster.nodes)}")
    if not isinstance(cluster.networks, Unknown) and cluster.networks:
        lines.append(f"Networks  {listed(network.name for network in cluster.networks)}")
    database = cluster.database
    if isinstance(database, Database):
        names = listed(instance.name for instance in database.instances)
        lines.append(f"Database  {database.name} {database.version} with {names}")
    else:
        lines.append(f"Database  {database.reason}")
    return lines


def _runs(recording: Recording) -> str:
    """The runs of the checks in a recording: `2 of the checks, 1 of gates; the last ended 2026-11-20 14:02:31 CET`."""
    if not recording.has_runs:
        return "not recorded"
    runs = recording.runs()
    if not runs:
        return "none; the checks judge the facts of its start"
    gates = sum(run.is_gate for run in runs)
    of_gates = f", {gates} of gates" if gates else ""
    return f"{len(runs) - gates} of the checks{of_gates}; the last ended {_local(runs[-1].ended)}"


def _measured(header: Header, span: tuple[float, float] | None) -> list[str]:
    """A line for each result of a measurement. One of another time, which recordings of 0.2.0 have, has no figure."""
    from checks.model.sound_measurement import sound
    from checks.model.wording import listed
    from checks.report.age import time_text
    from checks.report.measured.fit import difference_text
    from checks.report.measurement_headline import brief
    from checks.rules.measured_moment import Moment, misfit

    texts = []
    for one in sound(header.measurements):
        mtus = listed(f"{mtu}" for mtu in sorted({path.mtu for path in one.paths}))
        text = f"{brief(one)}{f', at MTU {mtus}' if mtus else ''}"
        if why := misfit(one, Moment(times=span)):
            text = f"{one.kind}, {time_text(one.started_at)}, is left out: {difference_text(why, 'in it')}"
        texts.append(text)
    return [f"{'' if number else 'Measured':<9} {text}" for number, text in enumerate(texts)]


def _sources(tallies: dict[SourceId, SourceTally]) -> list[str]:
    """A line for each source, and a second line with the reason of its last gap."""
    width = max((len(str(source)) for source in tallies), default=0)
    lines = []
    for source, tally in tallies.items():
        noun = "sample " if tally.samples == 1 else "samples"
        gaps = f"   {counted(tally.gaps, 'gap')}; the last:" if tally.last_gap else ""
        lines.append(f"{source!s:<{width}} {tally.samples:>9,} {noun}{gaps}")
        if tally.last_gap:
            lines.append(f"    {tally.last_gap.reason}")
    return lines
