"""Draw faults, diagnose, mend one and look again: `python -m tests.simulator COUNT FAULTS SEED`. With `investigate`
before the count: investigate them to the end."""

from __future__ import annotations

import argparse
import sys

from tests.simulator.faults import KINDS, NEWER
from tests.simulator.investigating import draws, investigated
from tests.simulator.mended import totals


def main() -> None:
    """Print the table of the draws, and with -v a line for each draw with something wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("count", type=int, help="the number of draws")
    parser.add_argument("faults", type=int, help="the faults of each draw")
    parser.add_argument("seed", type=int)
    parser.add_argument("--same-place", action="store_true", help="all faults on the same network and node")
    parser.add_argument("--nodes", type=int, default=3)
    about = "at least one fault of each draw is of these kinds; NEW: those that came last"
    parser.add_argument("--kinds", nargs="+", default=[], metavar="KIND", help=about)
    parser.add_argument("-v", action="store_true", help="name each wrong draw")
    options = parser.parse_args()
    among = frozenset(kind for name in options.kinds for kind in (NEWER if name == "NEW" else (name,)))
    if unknown := among - set(KINDS):
        parser.error(f"no such kind: {', '.join(sorted(unknown))}")
    found = totals(
        options.count, options.faults, options.seed, same_place=options.same_place, nodes=options.nodes, among=among
    )
    for note in found.notes if options.v else ():
        print(note)
    place = " at the same place" if options.same_place else ""
    title = f"{options.count} of {options.faults}{place}, seed {options.seed}, {options.nodes} nodes"
    print("\n".join(found.table(title)))


def investigate(arguments: list[str]) -> None:
    """Print the sums of the investigations, and with -v a line for each that did not name all faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulator investigate")
    parser.add_argument("count", type=int)
    parser.add_argument("faults", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--kinds", nargs="+", default=[], metavar="KIND")
    parser.add_argument("--unknown", action="store_true", help="without the causes of the faults in the catalogue")
    parser.add_argument("-v", action="count", default=0)
    options = parser.parse_args(arguments)
    found = investigated(draws(options.count, options.faults, options.seed, options.kinds), is_unknown=options.unknown)
    for note in found.notes(every=options.v > 1) if options.v else ():
        print(note)
    print("\n".join(found.table(f"{options.count} of {options.faults}, seed {options.seed}")))


if __name__ == "__main__":
    investigate(sys.argv[2:]) if sys.argv[1:2] == ["investigate"] else main()
