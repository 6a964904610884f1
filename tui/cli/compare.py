"""`racwire compare BEFORE AFTER`: what a change did, and which differences are noise."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from checks.model.report import ExitCode
from checks.report.compare_pictures import picture_of
from checks.traffic.compare.comparison import Comparison, ComparisonVerdict, to_json
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import ComparedRun, ImportProblem
from checks.traffic.recording import Recording, RecordingError
from checks.whole_files import OutputError, write_whole
from tui.cli.compare_text import comparison_text
from tui.cli.document import Document, output_file
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.interrupts import while_signals_are_heard
from tui.cli.streams import tell

_EPILOG = """\
examples:
  racwire record --for 30m --label mtu1500 before.rec      the load, before the change
  racwire record --for 30m --label again again.rec         the same load once more: how much is noise
  (the change)
  racwire record --for 30m --label mtu9000 after.rec       the same load, after it
  racwire compare before.rec after.rec --same again.rec
  racwire compare before.rec after.rec --also swingbench-before.xml swingbench-after.xml --svg mtu.svg

BEFORE and AFTER are recordings, or results of another tool, both of one kind: Swingbench (results.xml), HammerDB
(its log), iperf3 (-J), sysstat (sadf -j). Medians of stretches are compared by the rank test of Mann and Whitney.

verdicts: better, worse, no difference, too few samples, environment shifted; differs: more than noise, and neither
way is better (what the change itself does, such as fewer packets for a block).
exit codes: 0 compared, nothing got worse; 1 something did; 3 nothing can be told, or there are more losses, too rare
to tell whether the change did it; 64 usage, or input not readable."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Compares two runs of the same load, and says what is better, worse, or noise."
    parser.epilog = _EPILOG
    parser.add_argument("before", metavar="BEFORE", help="a recording, or another tool's result")
    parser.add_argument("after", metavar="AFTER", help="the same after the change")
    parser.add_argument(
        "--same", metavar="FILE", help="a second run before the change, of the same load: what differs there is noise"
    )
    parser.add_argument(
        "--also",
        nargs=2,
        action="append",
        default=[],
        metavar=("BEFORE", "AFTER"),
        help="another tool's results of the same two times (repeatable)",
    )
    parser.add_argument("--skip-first", metavar="TIME", help="leave out the begin of each recording, such as 30s or 5m")
    parser.add_argument("--stretch", metavar="TIME", help="the length of the stretches (else chosen by racwire)")
    parser.add_argument("--all", action="store_true", dest="every", help="every metric of every node, also what is 0")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the comparison is written")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the comparison to a file, whole or not at all")
    parser.add_argument("--svg", metavar="FILE", help="also draw it, as one SVG file")
    parser.add_argument("--force", action="store_true", help="replace FILEs that are there")


_SQLITE = b"SQLite format 3\0"


def run(args: argparse.Namespace) -> int:
    """Compare, print, and return the exit code. Raises UsageError for what cannot be compared."""
    runs_named = [args.before, args.after, *([args.same] if args.same else [])]
    for names in (runs_named, *args.also):
        _refuse_twice(names, "compare two runs")
    names = [*runs_named, *(name for pair in args.also for name in pair)]
    output = None if args.output is None else output_file(args.output, replace=args.force)
    picture = None if args.svg is None else output_file(args.svg, replace=args.force, option="--svg")
    outputs = [str(file) for file in (output, picture) if file is not None]
    for file in outputs:
        _refuse_twice([file, *names], "write elsewhere")
    _refuse_twice(outputs, "write two files")
    skip_first_s = seconds_of(args.skip_first, "--skip-first") if args.skip_first else 0.0
    stretch_s = seconds_of(args.stretch, "--stretch") if args.stretch else None
    try:
        runs = _runs([Path(name) for name in names], skip_first_s, stretch_s)
    except (RecordingError, ImportProblem) as problem:
        raise UsageError(str(problem)) from problem
    comparison = compare(_paired(args, runs))
    return _deliver(args, comparison, output, picture)


def _refuse_twice(names: Sequence[str], instead: str) -> None:
    """A run compared with itself shows nothing, and one that is written over is lost. Raises UsageError."""
    for place, name in enumerate(names):
        for other in names[:place]:
            if name == other:
                raise UsageError(f"{name} is named twice: {instead}.")
            if Path(name).exists() and Path(other).exists() and Path(name).samefile(other):
                raise UsageError(f"{other} and {name} are one and the same file: {instead}.")


def _runs(
    paths: Sequence[Path], skip_first_s: float, stretch_s: float | None
) -> dict[Path, tuple[ComparedRun, float | None]]:
    """Each file as a run, and how long its stretches are where it is a recording.

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
    """Whether it is one by its first bytes. Raises UsageError where it cannot be read."""
    if path.exists() and not path.is_file():  # a pipe would be waited for, and could be read only once
        raise UsageError(f"{path} is no file; name a recording or another tool's result.")
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _named(label: str, path: Path) -> str:
    name = str(path).encode(errors="replace").decode()
    return f"{label} ({name})" if label else name


def _paired(args: argparse.Namespace, found: dict[Path, tuple[ComparedRun, float | None]]) -> list[Runs]:
    """What is compared with what. Raises UsageError where two runs are not of one kind."""
    paired = []
    wanted = [(args.before, args.after, args.same), *((before, after, None) for before, after in args.also)]
    for before, after, same in wanted:
        (first, stretch_s), (second, _) = found[Path(before)], found[Path(after)]
        third = found[Path(same)][0] if same else None
        for name, run in ((after, second), (same, third)):
            if run and run.kind != first.kind:
                raise UsageError(
                    f"{before} is of the kind {first.kind} and {name} of the kind {run.kind}: compare two of one kind."
                )
        paired.append(Runs(first, second, third, stretch_s))
    return paired


def exit_code(comparison: Comparison) -> ExitCode:
    """What the exit status says: something got worse, before something that cannot be told."""
    if comparison.having(ComparisonVerdict.WORSE):
        return ExitCode.WARNINGS
    open_question = not comparison.is_telling or any(metric.change > 0 for metric in comparison.too_rare)
    return ExitCode.COULD_NOT_TELL if open_question else ExitCode.PASS


def _deliver(args: argparse.Namespace, comparison: Comparison, output: Path | None, picture: Path | None) -> int:
    code: int = exit_code(comparison)
    if picture is not None:
        try:
            data = picture_of(comparison).encode()
            while_signals_are_heard(lambda: write_whole(picture, data, replace=args.force))
            tell(f"the picture is in {picture}.")
        except OutputError as error:
            tell(str(error))
            code = ExitCode.COULD_NOT_TELL
    document = Document(
        "comparison",
        args.format,
        json=lambda: to_json(comparison),
        text=lambda stream: comparison_text(comparison, stream, every=args.every),
    )
    return document.deliver(output, code, replace=args.force)
