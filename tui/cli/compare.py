"""`racwire compare BEFORE AFTER`: show what a change did, and which differences are noise."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from tui.cli.check import NAGIOS
from tui.cli.document import chosen_output, output_file
from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.option import declare
from tui.cli.options import FORMAT, add_output_options

_EPILOG = """\
BEFORE and AFTER are two recordings, two results of one kind of racwire
measure, whose rounds are samples, or two results of one other tool:
Swingbench (results.xml), HammerDB (its log), iperf3 (-J), sysstat (sadf -j).
A result of racwire measure is a JSON file, a name from racwire measure list,
or a kind, which is the newest result of that kind.
Two databases of one cluster have a recording each, of the same times: --also
adds the second one, and each metric has a row for each database and a sum.
Each service has rows of its DB time, its waits for other instances, its blocks.
racwire divides each recording into stretches and compares their medians with
the rank test of Mann and Whitney.

--last-week takes the last whole hour of recordings that are kept for 8 days or
more, and the hours at the same time of day, one to four weeks before. Worse is
what is worse than in each week with the same nodes, MTU and load. Better and
different are no alarm. Less load explains no new losses.

examples:
  racwire compare before.rec after.rec
  racwire compare before.rec after.rec --same again.rec
  racwire compare sizes1500.json sizes9000.json --svg sizes.svg
  racwire compare sizes-20261124-050311 sizes
  racwire compare before.rec after.rec --svg mtu.svg \\
      --also swingbench-before.xml swingbench-after.xml
  racwire compare before.rec after.rec --also hr-before.rec hr-after.rec
  racwire compare --last-week /var/lib/racwire --format nagios

the recordings, all three of the same load:
  racwire record --for 30m --label mtu1500 before.rec    before the change
  racwire record --for 30m --label again again.rec       again, for the noise
  racwire record --for 30m --label mtu9000 after.rec     after the change

verdicts: better, worse, no difference, too few samples, environment shifted.
"differs" is a difference larger than the noise that is neither better nor
worse, such as fewer packets for a block.

exit codes: 0 nothing got worse; 1 something got worse; 3 no verdict is
possible, or more losses were seen, but too few to attribute them to the change;
64 usage, or a file cannot be read. With --format nagios 0 OK, 1 WARNING,
3 UNKNOWN, also for a wrong option."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Compare two runs of the same load: what is better, what is worse, what is noise."
    parser.epilog = _EPILOG
    runs = parser.add_argument_group("runs")
    runs.add_argument(
        "before", metavar="BEFORE", nargs="?", help="recording, or result of another tool, before the change"
    )
    runs.add_argument(
        "after", metavar="AFTER", nargs="?", help="recording, or result of the same tool, after the change"
    )
    runs.add_argument(
        "--same", metavar="FILE", help="second run of the same load before the change: its differences are noise"
    )
    runs.add_argument(
        "--also",
        nargs=2,
        action="append",
        default=[],
        metavar=("BEFORE", "AFTER"),
        help="two results of another tool, or recordings of another database, of the same times (repeatable)",
    )
    runs.add_argument("--skip-first", metavar="TIME", help="leave out the start of each recording, such as 30s or 5m")
    runs.add_argument("--stretch", metavar="TIME", help="length of the stretches (default: racwire chooses)")
    hours = parser.add_argument_group("the same hour of last week")
    hours.add_argument(
        "--last-week",
        metavar="PLACE",
        help="compare the last whole hour of a recording, or of the recordings in a directory (*.rec), with the same "
        "hour of one to four weeks before",
    )
    hours.add_argument(
        "--hour", metavar="TIME", help="compare the hour from then on: 2026-11-29T13 (this node's clock)"
    )
    output = parser.add_argument_group("output")
    output.add_argument("--all", action="store_true", dest="every", help="every metric of every node, also those at 0")
    output.add_argument("--svg", metavar="FILE", help="also draw the comparison as an SVG file")
    declare(output, (FORMAT._replace(choices=("text", "json", NAGIOS)),))
    add_output_options(output)


def run(args: argparse.Namespace) -> int:
    """Compare, print, and return the exit code. Raises UsageError for files that cannot be compared."""
    _refuse_both_forms(args)
    args.before, args.after, args.same = _file_of(args.before), _file_of(args.after), _file_of(args.same)
    names = [name for name in (args.before, args.after, args.same, *chain(*args.also)) if name]
    _refuse_twice(names, "compare two runs")
    output = chosen_output(args)
    picture = None if args.svg is None else output_file(args.svg, args, "--svg")
    outputs = [str(file) for file in (output, picture) if file is not None]
    for file in outputs:
        _refuse_twice([file, *names], "write elsewhere")
    _refuse_twice(outputs, "write two files")
    skip_first_s = seconds_of(args.skip_first, "--skip-first") if args.skip_first else 0.0
    stretch_s = seconds_of(args.stretch, "--stretch") if args.stretch else None
    from tui.cli.comparing import comparison_of, deliver
    from tui.cli.last_week import comparison_with_weeks

    if args.last_week:
        comparison = comparison_with_weeks(Path(args.last_week), args.hour, stretch_s)
    else:
        comparison = comparison_of(args, names, skip_first_s, stretch_s)
    return deliver(args, comparison, output, picture)


def _refuse_both_forms(args: argparse.Namespace) -> None:
    """Refuse two runs together with an hour, and neither. Raises UsageError."""
    if not args.last_week:
        if args.hour:
            raise UsageError("--hour is the hour of --last-week PLACE: name the recordings, too.")
        if not args.after:
            raise UsageError("name two runs, BEFORE and AFTER, or --last-week PLACE.")
    elif args.before or args.same or args.also or args.skip_first:
        raise UsageError("--last-week finds its hours itself: leave BEFORE, --same, --also and --skip-first out.")


def _file_of(name: str | None) -> str | None:
    """Return the file that a name stands for: itself, or a kept result of `racwire measure`. Raises UsageError."""
    if name is None or Path(name).exists():
        return name
    from checks.run.stored_measurements import KINDS, MeasurementFileError, result_path

    try:
        return str(result_path(name))
    except MeasurementFileError as error:
        if name in KINDS:
            raise UsageError(str(error)) from None
        return name


def _refuse_twice(names: Sequence[str], instead: str) -> None:
    """Refuse a file that is named twice: a comparison with itself is empty, an overwritten run is lost. Raises
    UsageError; `instead` says what to do."""
    for place, name in enumerate(names):
        for other in names[:place]:
            if name == other:
                raise UsageError(f"{name} is named twice: {instead}.")
            if Path(name).exists() and Path(other).exists() and Path(name).samefile(other):
                raise UsageError(f"{other} and {name} are one and the same file: {instead}.")
