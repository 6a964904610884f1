"""The work of `racwire compare`: read the files as runs, compare them, deliver the comparison."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from msgspec.structs import replace

from checks.model.exit_codes import ExitCode
from checks.model.sound_measurement import sound
from checks.report.compare_pictures import picture_of
from checks.report.nagios import plugin_line
from checks.rules.measured_moment import Moment
from checks.traffic.compare.comparison import Comparison, ComparisonVerdict, to_json
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import ComparedRun, ImportProblem
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import OutputError, OutputFile, write_whole
from tui.cli.check import NAGIOS
from tui.cli.compare_text import comparison_text
from tui.cli.document import Document, Handout
from tui.cli.errors import UsageError
from tui.cli.interrupts import write_interruptibly
from tui.cli.measured_pairs import ResultsOf, measured_pairs
from tui.cli.streams import print_message

_SQLITE = b"SQLite format 3\0"


def comparison_of(
    args: argparse.Namespace, names: Sequence[str], skip_first_s: float, stretch_s: float | None
) -> Comparison:
    """The comparison of the named files. Raises UsageError for files that cannot be compared."""
    try:
        beside = _other_databases(args)
        runs = _runs([Path(name) for name in names], beside, skip_first_s, stretch_s)
    except (RecordingError, ImportProblem) as problem:
        raise UsageError(str(problem)) from problem
    comparison = compare(_paired(args, runs))
    measured, missing = measured_pairs(*(_results(Path(name), runs) for name in (args.before, args.after)))
    whole = _joined(comparison, compare(measured)) if measured else comparison
    return replace(whole, summary=(*whole.summary, *missing))


def _results(path: Path, runs: Mapping[Path, tuple[ComparedRun, float | None]]) -> ResultsOf:
    """The results of measurements in a file; none in the result of another tool."""
    if not _is_recording(path):
        return ResultsOf(path.name, (), Moment())
    with closing(Recording.open(path)) as recording:
        return ResultsOf(path.name, sound(recording.header.measurements), runs[path][0].moment)


def _joined(one: Comparison, other: Comparison) -> Comparison:
    """One comparison of both; what moved in one of them says nothing about the other."""
    summary = [f"Measured: {text}" for text in (*other.shifted, *other.summary)]
    return replace(one, pairs=(*one.pairs, *other.pairs), summary=(*one.summary, *summary))


def _other_databases(args: argparse.Namespace) -> dict[Path, list[Path]]:
    """The recordings of other databases of the same times (--also), by the recording that they belong to."""
    found: dict[Path, list[Path]] = {}
    for pair in args.also:
        files = [Path(name) for name in (args.before, args.after, *pair)]
        if all(map(_is_recording, files)):
            if args.same:
                raise UsageError(
                    f"{args.same} has one database, and {args.before} and {args.after} have several: leave --same out."
                )
            for file, other in zip(files[:2], files[2:], strict=True):
                found.setdefault(file, []).append(other)
    return found


def _runs(
    paths: Sequence[Path], beside: Mapping[Path, Sequence[Path]], skip_first_s: float, stretch_s: float | None
) -> dict[Path, tuple[ComparedRun, float | None]]:
    """Each file as a run, with the length of its stretches in seconds; None where the file is not a recording.
    `beside`: the recordings of other databases, which are part of a run.

    Raises RecordingError, ImportProblem, UsageError.
    """
    parts = {other for others in beside.values() for other in others}
    paths = [path for path in dict.fromkeys(paths) if path not in parts]
    recorded = [path for path in paths if _is_recording(path)]
    found: dict[Path, tuple[ComparedRun, float | None]] = {}
    with ExitStack() as files:
        recordings = [(path, files.enter_context(closing(Recording.open(path)))) for path in recorded]
        named = [(_named(recording.header.label, path), recording) for path, recording in recordings]
        if named:
            others = {
                place: [(other.name, files.enter_context(closing(Recording.open(other)))) for other in beside[path]]
                for place, path in enumerate(recorded)
                if path in beside
            }
            runs, length_s = runs_of(named, others=others, skip_first_s=skip_first_s, stretch_s=stretch_s)
            found |= {path: (run, length_s) for path, run in zip(recorded, runs, strict=True)}
    for path in paths:
        if path not in found:
            from checks.traffic.imports import load_result

            found[path] = load_result(path), None
    return found


def _is_recording(path: Path) -> bool:
    """Whether the file starts like a recording. Raises UsageError where it cannot be read."""
    if path.exists() and not path.is_file():  # reading a pipe would block, and is possible only once
        raise UsageError(f"{path} is not a regular file; name a recording or a result of another tool.")
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _named(label: str, path: Path) -> str:
    name = str(path).encode(errors="replace").decode()
    return f"{label} ({name})" if label else name


def _paired(args: argparse.Namespace, found: dict[Path, tuple[ComparedRun, float | None]]) -> list[Runs]:
    """The pairs of runs to compare. Raises UsageError where a pair mixes two kinds of run."""
    paired = []
    pairs = [(args.before, args.after, args.same), *((before, after, None) for before, after in args.also)]
    for before, after, same in (pair for pair in pairs if Path(pair[0]) in found):
        (first, stretch_s), (second, _) = found[Path(before)], found[Path(after)]
        third = found[Path(same)][0] if same else None
        for name, run in ((after, second), (same, third)):
            if run and run.kind != first.kind:
                raise UsageError(
                    f"{before} is of the kind {first.kind}, {name} of the kind {run.kind}; name two files of one kind."
                )
        paired.append(Runs(first, second, third, stretch_s))
    return paired


def exit_code(comparison: Comparison) -> ExitCode:
    """The exit code: 1 where a metric got worse, else 3 where a verdict is not possible, else 0."""
    if comparison.having(ComparisonVerdict.WORSE):
        return ExitCode.WARNINGS
    open_question = not comparison.is_telling or any(metric.change > 0 for metric in comparison.too_rare)
    return ExitCode.COULD_NOT_TELL if open_question else ExitCode.PASS


def deliver(
    args: argparse.Namespace, comparison: Comparison, output: OutputFile | None, picture: OutputFile | None
) -> int:
    """Write the comparison and its picture, and return the exit code."""
    code: int = exit_code(comparison)
    if picture is not None:
        try:
            data = picture_of(comparison).encode()
            write_interruptibly(lambda: write_whole(picture, data))
            print_message(f"the picture is in {picture}.")
        except OutputError as error:
            print_message(str(error))
            code = ExitCode.COULD_NOT_TELL
    document: Handout
    if args.format == NAGIOS:
        line = plugin_line(
            code, " ".join(comparison.summary), f"worse={len(comparison.having(ComparisonVerdict.WORSE))};;;0"
        )
        document = Handout("line", line.encode, lambda _: line, ".txt")
        return document.deliver(output, code)
    document = Document(
        "comparison",
        args.format,
        json=lambda: to_json(comparison),
        text=lambda stream: comparison_text(comparison, stream, every=args.every),
    )
    return document.deliver(output, code)
