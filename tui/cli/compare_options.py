"""The options of `racwire compare`, apart from what carries them out: read at every start."""

from __future__ import annotations

import argparse

_HELP = """\
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


def add_compare_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "compare",
        help="compare two recordings, before and after a change",
        description="Compares two runs of the same load, and says what is better, worse, or noise.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
