"""The options of measurements: those of all kinds, and those of each kind with the experiment that they describe."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError

if TYPE_CHECKING:
    from checks.measure.load_limits import LoadLimits
    from checks.measure.preparing import Experiment, WantedPaths


class MeasureKind(NamedTuple):
    """A kind of measurement."""

    help: str
    examples: str
    add_options: Callable[[argparse._ActionsContainer], None]
    experiment: Callable[[argparse.Namespace], Experiment]
    """Returns the experiment. Raises UsageError and MeasureError for wrong options."""
    is_one_path: bool = False
    """Whether it measures one path unless --on or --to names others."""


def _add_sizes(options: argparse._ActionsContainer) -> None:
    options.add_argument(
        "--sizes", metavar="LIST", help="bytes of the messages, such as 64,8k,65507 (default: 11 sizes up to 65507)"
    )
    options.add_argument("--no-trains", action="store_true", help="leave out trains of 2, 8 and 16 blocks")
    options.add_argument("--rounds", type=int, default=8, metavar="N", help="rounds of each size (default 8)")
    options.add_argument(
        "--round", default="1s", metavar="TIME", help="length of a round of one size (default 1s: half at a rate)"
    )
    add_seed(options)


def _sizes(args: argparse.Namespace) -> Experiment:
    from checks.measure.sizes import TRAINS, USUAL_SIZES, Sizes

    sizes = USUAL_SIZES if args.sizes is None else tuple(map(size_in_bytes, args.sizes.split(",")))
    trains = () if args.no_trains else TRAINS
    return Sizes(sizes, trains, rounds=args.rounds, round_s=seconds_of(args.round, "--round"), seed=seed_of(args))


KINDS = {
    "sizes": MeasureKind(
        "latency, throughput and CPU time by message size",
        """\
  racwire measure sizes                      print the plan; nothing is sent
  racwire measure sizes --go practice        measure the first path
  racwire measure sizes --to rac3 --sizes 64,8192 --go practice -o before.json""",
        _add_sizes,
        _sizes,
        is_one_path=True,
    ),
}


def add_seed(options: argparse._ActionsContainer) -> None:
    """Add the option for the seed of a random order."""
    options.add_argument("--seed", type=int, metavar="N", help="seed of the random order (default: a new one)")


def seed_of(args: argparse.Namespace) -> int:
    """Return the chosen seed, or a new one."""
    return secrets.randbelow(1_000_000) if args.seed is None else int(args.seed)


def size_in_bytes(text: str) -> int:
    """Return the bytes in `8192` or `8k`. Raises UsageError."""
    number, unit = (text[:-1], 1024) if text[-1:] in "kK" and text else (text, 1)
    if not (number.isascii() and number.isdigit() and len(number) <= 9):
        raise UsageError(f"--sizes: {text!r} is no size; use bytes, such as 64, 8192 or 8k.")
    return int(number) * unit


# --- all kinds --------------------------------------------------------------------------------------------------------


def add_load_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the consent, the paths and the limits."""
    consent = parser.add_argument_group("consent")
    consent.add_argument("--go", metavar="CLUSTER", help="send: CLUSTER is the name of this cluster, typed by you")
    consent.add_argument(
        "--although-loaded",
        default="",
        metavar="REASON",
        help="send although the cluster is loaded; kept in the result",
    )
    paths = parser.add_argument_group("paths")
    paths.add_argument("--on", action="append", default=[], metavar="SUBNET", help="private network (repeatable)")
    paths.add_argument("--to", action="append", default=[], metavar="NODE", help="peer (repeatable)")
    paths.add_argument("--far-end", choices=("kernel", "perl", "python"), help="what answers there (default: the best)")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--packets", type=float, metavar="N", help="packets/s of this node (default 2000, most 20000)")
    limits.add_argument("--share", type=float, metavar="PERCENT", help="percent of the link (default 10)")
    limits.add_argument("--in-flight", type=int, metavar="N", help="unanswered messages on a path (default 1, most 8)")
    limits.add_argument("--whole", metavar="TIME", help="length of the whole measurement (default 120s, most 15m)")


def limits_from(args: argparse.Namespace) -> LoadLimits:
    """Return the limits that the options choose. Raises MeasureError and UsageError."""
    from checks.measure.load_limits import limits_of

    return limits_of(
        packets_per_s=args.packets,
        link_share=None if args.share is None else args.share / 100,
        in_flight=args.in_flight,
        whole_s=None if args.whole is None else seconds_of(args.whole, "--whole"),
    )


def wanted_from(args: argparse.Namespace, is_one_path: bool) -> WantedPaths:
    """Return the paths that the options choose."""
    from checks.measure.preparing import WantedPaths

    return WantedPaths(tuple(args.on), tuple(args.to), args.far_end or "", is_one_path)
