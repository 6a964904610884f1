"""The kinds of measurement: their options, and the experiment that these options describe."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError

if TYPE_CHECKING:
    from checks.measure.preparing import Experiment


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
        "--round", default="1s", metavar="TIME", help="length of a round of one size (default 1s, half of it at a rate)"
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
