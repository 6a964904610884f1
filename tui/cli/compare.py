"""`racwire compare BEFORE AFTER`: what a change did, and which differences are noise."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tui.cli.document import output_file
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError

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
    from tui.cli.comparing import comparison_of, deliver

    return deliver(args, comparison_of(args, names, skip_first_s, stretch_s), output, picture)


def _refuse_twice(names: Sequence[str], instead: str) -> None:
    """A run compared with itself shows nothing, and one that is written over is lost. Raises UsageError."""
    for place, name in enumerate(names):
        for other in names[:place]:
            if name == other:
                raise UsageError(f"{name} is named twice: {instead}.")
            if Path(name).exists() and Path(other).exists() and Path(name).samefile(other):
                raise UsageError(f"{other} and {name} are one and the same file: {instead}.")
