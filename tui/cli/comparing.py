"""The work of `racwire compare`: read the files as runs, compare them, deliver the comparison."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from checks.model.exit_codes import ExitCode
from checks.model.measurement import Measurement
from checks.model.sound_measurement import sound
from checks.report.compare_pictures import picture_of
from checks.run.stored_measurements import age_of
from checks.traffic.compare.comparison import Comparison, ComparisonVerdict, to_json
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import ComparedRun, ImportProblem
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import OutputError, OutputFile, write_whole
from tui.cli.compare_text import comparison_text
from tui.cli.document import Document
from tui.cli.errors import UsageError
from tui.cli.interrupts import write_interruptibly
from tui.cli.streams import print_message

_SQLITE = b"SQLite format 3\0"


def comparison_of(
    args: argparse.Namespace, names: Sequence[str], skip_first_s: float, stretch_s: float | None
) -> Comparison:
    """The comparison of the named files. Raises UsageError for files that cannot be compared."""
    try:
        runs = _runs([Path(name) for name in names], skip_first_s, stretch_s)
    except (RecordingError, ImportProblem) as problem:
        raise UsageError(str(problem)) from problem
    comparison = compare(_paired(args, runs))
    measured = _measured_pairs(Path(args.before), Path(args.after))
    return _joined(comparison, compare(measured)) if measured else comparison


def _measured_pairs(before: Path, after: Path) -> list[Runs]:
    """The newest results of each kind in two recordings, where they are not the same. Raises UsageError."""
    if not (_is_recording(before) and _is_recording(after)):
        return []
    from checks.traffic.imports.measurement_result import run_of

    sides = []
    for path in (before, after):
        with closing(Recording.open(path)) as recording:
            sides.append({one.kind: one for one in _by_start(sound(recording.header.measurements))})
    first, second = sides
    return [
        Runs(run_of(one, f"in {before.name}"), run_of(second[kind], f"in {after.name}"))
        for kind, one in first.items()
        if kind in second and second[kind] != one
    ]


def _by_start(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The oldest first, so that the newest of a kind is the last."""
    return sorted(measurements, key=lambda one: age_of(one, datetime.now(UTC)) or 0.0, reverse=True)


def _joined(one: Comparison, other: Comparison) -> Comparison:
    """One comparison of both; what moved in one of them says nothing about the other."""
    summary = [f"Measured: {text}" for text in (*other.shifted, *other.summary)]
    return replace(one, pairs=(*one.pairs, *other.pairs), summary=(*one.summary, *summary))


def _runs(
    paths: Sequence[Path], skip_first_s: float, stretch_s: float | None
) -> dict[Path, tuple[ComparedRun, float | None]]:
    """Each file as a run, with the length of its stretches in seconds; None where the file is not a recording.

    Raises RecordingError, ImportProblem, UsageError.
    """
    recorded = [path for path in dict.fromkeys(paths) if _is_recording(path)]
    found: dict[Path, tuple[ComparedRun, float | None]] = {}
    with ExitStack() as files:
        recordings = [(path, files.enter_context(closing(Recording.open(path)))) for path in recorded]
        named = [(_named(recording.header.label, path), recording) for path, recording in recordings]
        if named:
            runs, length_s = runs_of(named, skip_first_s=skip_first_s, stretch_s=stretch_s)
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
    for before, after, same in pairs:
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
    document = Document(
        "comparison",
        args.format,
        json=lambda: to_json(comparison),
        text=lambda stream: comparison_text(comparison, stream, every=args.every),
    )
    return document.deliver(output, code)
