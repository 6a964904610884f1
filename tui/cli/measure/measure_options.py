"""The options of measurements: those of all kinds, and those of each kind with the experiment that they describe."""

from __future__ import annotations

import argparse
import math
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


def _add_mix(options: argparse._ActionsContainer) -> None:
    options.add_argument(
        "--classes", metavar="LIST", help="classes of flows (default message,block,small,medium,large)"
    )
    options.add_argument("--flows", metavar="LIST", help="flows of a class at the same time, such as 1,4 (default 1)")
    options.add_argument("--rounds", type=int, metavar="N", help="rounds of each class (default 6)")
    options.add_argument(
        "--towards-here", action="store_true", help="flows from all peers to this node, which meet at its switch port"
    )
    options.add_argument(
        "--beside", action="store_true", help="on a cluster in use: small flows only, at most 50 a second"
    )
    options.add_argument("--for", dest="for_time", metavar="TIME", help="length of --beside (default 60s)")
    add_seed(options)


def _mix(args: argparse.Namespace) -> Experiment:
    from checks.measure.mix import FLOW_BYTES, Mix
    from checks.measure.mix_beside import MixBeside

    if args.beside:
        for option, value in (
            ("--classes", args.classes),
            ("--flows", args.flows),
            ("--rounds", args.rounds),
            ("--towards-here", args.towards_here),
        ):
            if value:
                raise UsageError(f"{option} does not go with --beside, which sends small flows one at a time.")
        return MixBeside(
            seconds=60.0 if args.for_time is None else seconds_of(args.for_time, "--for"), seed=seed_of(args)
        )
    if args.for_time is not None:
        raise UsageError("--for needs --beside; without it, the flows and rounds say how long it takes.")
    numbers = "1" if args.flows is None else args.flows
    if not all(one.isascii() and one.isdigit() and len(one) <= 3 for one in numbers.split(",")):
        raise UsageError(f"--flows: {numbers!r} is no list of numbers; use one such as 1,4.")
    return Mix(
        tuple(FLOW_BYTES) if args.classes is None else tuple(args.classes.split(",")),
        tuple(map(int, numbers.split(","))),
        rounds=6 if args.rounds is None else args.rounds,
        is_towards_here=args.towards_here,
        seed=seed_of(args),
    )


def _add_rate(options: argparse._ActionsContainer) -> None:
    options.add_argument(
        "--steps", metavar="LIST", help="percent of the slowest link (default 1,2,5,10, and --share where it is more)"
    )
    options.add_argument("--step", default="1s", metavar="TIME", help="length of a step (default 1s, most 30s)")
    options.add_argument("--rounds", type=int, default=1, metavar="N", help="rounds of all steps (default 1)")
    options.add_argument(
        "--public", action="store_true", help="one private path next to the public network, at most 100 Mbit/s on each"
    )


def _rate(args: argparse.Namespace) -> Experiment:
    from checks.measure.rate import USUAL_STEPS, Rate

    share = 0.10 if args.share is None else args.share / 100
    usual = tuple(step for step in USUAL_STEPS if step < share)
    steps = (*usual, share) if args.steps is None else tuple(map(_percent, args.steps.split(",")))
    return Rate(
        steps,
        step_s=seconds_of(args.step, "--step"),
        rounds=args.rounds,
        is_public=args.public,
        are_paths_named=bool(args.on or args.to),
    )


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 100:
        raise UsageError(f"--steps: {text!r} is no percentage of the link; use numbers such as 1,2,5,10.")
    return value / 100


def _add_hashes(options: argparse._ActionsContainer) -> None:
    options.add_argument(
        "--ports", type=int, default=64, metavar="N", help="source ports of a path, from 16 to 256 (default 64)"
    )


def _hashes(args: argparse.Namespace) -> Experiment:
    from checks.measure.hashes import Hashes

    return Hashes(args.ports)


def _add_storage(options: argparse._ActionsContainer) -> None:
    options.add_argument("directory", metavar="DIR", help="a directory of a mounted storage network, without datafiles")
    options.add_argument("--bytes", metavar="SIZE", help="size of the file, from 4m to 1024m (default 256m, or less)")
    options.add_argument("--request", metavar="SIZE", help="size of a request, from 4k to 4m (default 1m)")
    options.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds, at most 20 (default 5)")


def _storage(args: argparse.Namespace) -> Experiment:
    from checks.measure.storage import USUAL_REQUEST, Storage

    for option, value in (
        ("--on", args.on),
        ("--to", args.to),
        ("--far-end", args.far_end),
        ("--packets", args.packets),
        ("--in-flight", args.in_flight),
    ):
        if value:
            raise UsageError(f"{option} does not go with storage, which has a directory in place of a path.")
    return Storage(
        args.directory,
        file_bytes=None if args.bytes is None else size_in_bytes(args.bytes, "--bytes"),
        request_bytes=USUAL_REQUEST if args.request is None else size_in_bytes(args.request, "--request"),
        rounds=args.rounds,
    )


KINDS = {
    "sizes": MeasureKind(
        "latency, throughput and CPU time by message size",
        """\
  racwire measure sizes                      print the plan; nothing is sent
  racwire measure sizes --go practice        measure the first path
  racwire measure sizes --go practice --format json -o before.json""",
        _add_sizes,
        _sizes,
        is_one_path=True,
    ),
    "mix": MeasureKind(
        "completion times of small, medium and large flows, alone and together",
        """\
  racwire measure mix                        print the plan; nothing is sent
  racwire measure mix --go practice          measure the first path
  racwire measure mix --beside --for 5m --go practice
                                             small flows on a cluster in use""",
        _add_mix,
        _mix,
        is_one_path=True,
    ),
    "rate": MeasureKind(
        "what a path carries at a stated rate, by TCP and by UDP",
        """\
  racwire measure rate                       print the plan; nothing is sent
  racwire measure rate --go practice         measure the first private network
  racwire measure rate --public --go practice
                                             private and public side by side""",
        _add_rate,
        _rate,
    ),
    "hashes": MeasureKind(
        "each parallel link of a path, by datagrams from many source ports",
        """\
  racwire measure hashes                     print the plan; nothing is sent
  racwire measure hashes --go practice       measure all paths from this node""",
        _add_hashes,
        _hashes,
    ),
    "storage": MeasureKind(
        "write and read times of one file in a directory of a storage network",
        """\
  racwire measure storage /mnt/backup        print the plan; nothing is written
  racwire measure storage /mnt/backup --go practice
  racwire measure storage /mnt/backup --bytes 64m --request 8k --go practice""",
        _add_storage,
        _storage,
    ),
}


def usual_measurement(kind: str, network: str = "", peer: str = "") -> tuple[Experiment, WantedPaths, LoadLimits]:
    """Return the experiment, the paths and the limits of `racwire measure KIND`, on the path to a peer if one is named,
    without other options."""
    parser = argparse.ArgumentParser()
    add_load_options(parser)
    KINDS[kind].add_options(parser)
    args = parser.parse_args(["--on", network, "--to", peer] if peer else [])
    args.measure_command = kind
    return KINDS[kind].experiment(args), wanted_from(args, KINDS[kind].is_one_path), limits_from(args)


def add_seed(options: argparse._ActionsContainer) -> None:
    """Add the option for the seed of a random order."""
    options.add_argument("--seed", type=int, metavar="N", help="seed of the random order (default: a new one)")


def seed_of(args: argparse.Namespace) -> int:
    """Return the chosen seed, or a new one."""
    import secrets  # late: the console loads this module before its first screen

    return secrets.randbelow(1_000_000) if args.seed is None else int(args.seed)


def size_in_bytes(text: str, option: str = "--sizes") -> int:
    """Return the bytes in `8192`, `8k` or `4m`. Raises UsageError."""
    unit = _UNITS.get(text[-1:].lower(), 1)
    number = text if unit == 1 else text[:-1]
    if not (number.isascii() and number.isdigit() and len(number) <= 10):
        raise UsageError(f"{option}: {text!r} is no size; use bytes, such as 8192, 8k or 4m.")
    return int(number) * unit


_UNITS = {"k": 1 << 10, "m": 1 << 20}


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
    from checks.measure.load_limits import beside, limits_of, of_storage

    limits = limits_of(
        packets_per_s=args.packets,
        link_share=None if args.share is None else args.share / 100,
        in_flight=args.in_flight,
        whole_s=None if args.whole is None else seconds_of(args.whole, "--whole"),
    )
    if args.measure_command == "storage":
        return of_storage(limits)
    return beside(limits) if getattr(args, "beside", False) else limits


def wanted_from(args: argparse.Namespace, is_one_path: bool) -> WantedPaths:
    """Return the paths that the options choose."""
    from checks.measure.preparing import WantedPaths

    is_rate = args.measure_command == "rate"
    from_all = getattr(args, "towards_here", False) or is_rate
    return WantedPaths(
        tuple(args.on),
        tuple(args.to),
        args.far_end or "",
        is_one_path and not from_all,
        is_one_network=from_all,
        with_public=is_rate and args.public,
    )
