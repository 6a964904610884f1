"""The options of measurements: those of all kinds, and those of each kind with the experiment that they describe."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tui.cli.durations import seconds_of
from tui.cli.errors import UsageError
from tui.cli.option import Option, declare

if TYPE_CHECKING:
    from checks.measure.load_limits import LoadLimits
    from checks.measure.preparing import WantedPaths
    from checks.measure.testbed import Experiment


class MeasureKind(NamedTuple):
    """A kind of measurement."""

    help: str
    examples: str
    options: tuple[Option, ...]
    experiment: Callable[[argparse.Namespace], Experiment]
    """Returns the experiment. Raises UsageError and MeasureError for wrong options."""
    is_one_path: bool = False
    """Whether it measures one path unless --on or --to names others."""


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is no whole number.") from None


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is no number.") from None


_UNITS = {"k": 1 << 10, "m": 1 << 20}


def _size(text: str, option: str) -> int:
    """Return the bytes in `8192`, `8k` or `4m`."""
    unit = _UNITS.get(text[-1:].lower(), 1)
    number = text if unit == 1 else text[:-1]
    if not (number.isascii() and number.isdigit() and len(number) <= 10):
        raise UsageError(f"{option}: {text!r} is no size; use bytes, such as 8192, 8k or 4m.")
    return int(number) * unit


def _sizes(text: str, option: str) -> tuple[int, ...]:
    return tuple(_size(one, option) for one in text.split(","))


def _names(text: str, option: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _small_numbers(text: str, option: str) -> tuple[int, ...]:
    if not all(one.isascii() and one.isdigit() and len(one) <= 3 for one in text.split(",")):
        raise UsageError(f"{option}: {text!r} is no list of numbers; use one such as 1,4.")
    return tuple(map(int, text.split(",")))


def _shares(text: str, option: str) -> tuple[float, ...]:
    """Return percentages of the link as shares."""
    found = []
    for one in text.split(","):
        try:
            percent = float(one)
        except ValueError:
            percent = math.nan
        if not 0 < percent <= 100:
            raise UsageError(f"{option}: {one!r} is no percentage of the link; use numbers such as 1,2,5,10.")
        found.append(percent / 100)
    return tuple(found)


_SEED = Option("--seed", "seed of the random order (default: a new one)", "N", reads=_whole)


def _seed_of(args: argparse.Namespace) -> int:
    """Return the chosen seed, or a new one."""
    import secrets  # late: the console loads this module before its first screen

    return secrets.randbelow(1_000_000) if args.seed is None else int(args.seed)


# --- each kind --------------------------------------------------------------------------------------------------------


_OF_SIZES = (
    Option(
        "--sizes", "bytes of the messages, such as 64,8k,65507 (default: 11 sizes up to 65507)", "LIST", reads=_sizes
    ),
    Option("--no-trains", "leave out trains of 2, 8 and 16 blocks"),
    Option("--rounds", "rounds of each size (default {default})", "N", "8", _whole),
    Option("--round", "length of a round of one size (default {default}: half at a rate)", "TIME", "1s", seconds_of),
    _SEED,
)


def _sizes_experiment(args: argparse.Namespace) -> Experiment:
    from checks.measure.sizes import TRAINS, USUAL_SIZES, Sizes

    trains = () if args.no_trains else TRAINS
    return Sizes(args.sizes or USUAL_SIZES, trains, rounds=args.rounds, round_s=args.round, seed=_seed_of(args))


_TURNS = Option(
    "--turns", "turns of all rounds with --priorities: off, on, on, off ... (default {default})", "N", "4", _whole
)
_ALONE = (
    Option("--classes", "classes of flows (default {default})", "LIST", "message,block,small,medium,large", _names),
    Option(
        "--flows", "flows of a class at the same time, such as 1,4 (default {default})", "LIST", "1", _small_numbers
    ),
    Option("--rounds", "rounds of each class (default {default})", "N", "6", _whole),
    Option("--towards-here", "flows from all peers to this node, which meet at its switch port"),
    Option("--gap", "least pause after each flow of a connection, in ms (default {default})", "MS", "10", _number),
    Option("--priorities", "together only: without and with priorities of the switch, which you set when asked"),
    _TURNS,
)
"""The options of `mix` without --beside."""
_BESIDE = Option("--beside", "on a cluster in use: small flows only, at most 50 a second")
_BESIDE_TIME = Option(
    "--for", "length of --beside (default {default})", "TIME", "60s", seconds_of, attribute="for_time"
)


def _mix(args: argparse.Namespace) -> Experiment:
    from checks.measure.mix import Mix
    from checks.measure.mix_beside import MixBeside

    if args.beside:
        for option in _ALONE:
            if option.is_used(args):
                raise UsageError(f"{option.name} does not go with --beside, which sends small flows one at a time.")
        return MixBeside(seconds=args.for_time, seed=_seed_of(args))
    if _BESIDE_TIME.is_used(args):
        raise UsageError("--for needs --beside; without it, the flows and rounds say how long it takes.")
    if _TURNS.is_used(args) and not args.priorities:
        raise UsageError("--turns needs --priorities; without it, choose --rounds.")
    return Mix(
        args.classes,
        args.flows,
        rounds=args.rounds,
        is_towards_here=args.towards_here,
        gap_s=args.gap / 1000,
        turns=args.turns if args.priorities else 0,
        seed=_seed_of(args),
    )


_OF_RATE = (
    Option(
        "--steps", "percent of the slowest link (default 1,2,5,10, and --share where it is more)", "LIST", reads=_shares
    ),
    Option("--step", "length of a step (default {default}, most 30s)", "TIME", "1s", seconds_of),
    Option("--rounds", "rounds of all steps (default {default})", "N", "1", _whole),
    Option("--public", "one private path next to the public network, at most 100 Mbit/s on each"),
)


def _rate(args: argparse.Namespace) -> Experiment:
    from checks.measure.rate import USUAL_STEPS, Rate

    share = USUAL_STEPS[-1] if args.share is None else args.share / 100
    usual = (*(step for step in USUAL_STEPS if step < share), share)
    return Rate(
        args.steps or usual,
        step_s=args.step,
        rounds=args.rounds,
        is_public=args.public,
        are_paths_named=bool(args.on or args.to),
    )


_OF_HASHES = (Option("--ports", "source ports of a path, from 16 to 256 (default {default})", "N", "64", _whole),)


def _hashes(args: argparse.Namespace) -> Experiment:
    from checks.measure.hashes import Hashes

    return Hashes(args.ports)


_OF_STORAGE = (
    Option(
        "directory", "a directory of a mounted storage network, without datafiles", "DIR", attribute="storage_directory"
    ),
    Option("--bytes", "size of the file, from 4m to 1024m (default 256m, or less)", "SIZE", reads=_size),
    Option("--request", "size of a request, from 4k to 4m (default {default})", "SIZE", "1m", _size),
    Option("--rounds", "rounds, at most 20 (default {default})", "N", "5", _whole),
)


def _storage(args: argparse.Namespace) -> Experiment:
    from checks.measure.storage import Storage

    for option in (*_PATHS, PACKETS, _IN_FLIGHT):
        if option.is_used(args):
            raise UsageError(f"{option.name} does not go with storage, which has a directory in place of a path.")
    return Storage(args.storage_directory, file_bytes=args.bytes, request_bytes=args.request, rounds=args.rounds)


KINDS = {
    "sizes": MeasureKind(
        "latency, throughput and CPU time by message size",
        """\
  racwire measure sizes                      print the plan; nothing is sent
  racwire measure sizes --go practice        measure the first path
  racwire measure sizes --go practice --format json -o before.json""",
        _OF_SIZES,
        _sizes_experiment,
        is_one_path=True,
    ),
    "mix": MeasureKind(
        "completion times of small, medium and large flows, alone and together",
        """\
  racwire measure mix                        print the plan; nothing is sent
  racwire measure mix --go practice          measure the first path
  racwire measure mix --beside --for 5m --go practice
                                             small flows on a cluster in use
  racwire measure mix --towards-here --priorities --go practice
                                             without and with priorities of
                                             the switch, in turns""",
        (*_ALONE, _BESIDE, _BESIDE_TIME, _SEED),
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
        _OF_RATE,
        _rate,
    ),
    "hashes": MeasureKind(
        "each parallel link of a path, by datagrams from many source ports",
        """\
  racwire measure hashes                     print the plan; nothing is sent
  racwire measure hashes --go practice       measure all paths from this node""",
        _OF_HASHES,
        _hashes,
    ),
    "storage": MeasureKind(
        "write and read times of one file in a directory of a storage network",
        """\
  racwire measure storage /mnt/backup        print the plan; nothing is written
  racwire measure storage /mnt/backup --go practice
  racwire measure storage /mnt/backup --bytes 64m --request 8k --go practice""",
        _OF_STORAGE,
        _storage,
    ),
}


def usual_measurement(kind: str, network: str = "", peer: str = "") -> tuple[Experiment, WantedPaths, LoadLimits]:
    """Return the experiment, the paths and the limits of `racwire measure KIND`, on the path to a peer if one is named,
    without other options."""
    parser = argparse.ArgumentParser()
    add_load_options(parser)
    declare(parser, KINDS[kind].options)
    args = parser.parse_args(["--on", network, "--to", peer] if peer else [])
    args.measure_command = kind
    return KINDS[kind].experiment(args), wanted_from(args, KINDS[kind].is_one_path), limits_from(args)


# --- all kinds --------------------------------------------------------------------------------------------------------


_PATHS = (
    Option("--on", "private network (repeatable)", "SUBNET", is_repeatable=True),
    Option("--to", "peer (repeatable)", "NODE", is_repeatable=True),
    Option("--far-end", "what answers there (default: the best)", choices=("kernel", "perl", "python")),
)
PACKETS = Option("--packets", "packets/s of this node (default {default}, most 20000)", "N", "2000", _number)
_SHARE = Option("--share", "percent of the link (default 10)", "PERCENT", reads=_number)
_IN_FLIGHT = Option("--in-flight", "unanswered messages on a path (default {default}, most 8)", "N", "1", _whole)
_WHOLE = Option("--whole", "length of the whole measurement (default {default}, most 15m)", "TIME", "120s", seconds_of)


def add_consent_options(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the options of the consent to send or to probe."""
    consent = (
        Option("--go", f"{verb}: CLUSTER is the name of this cluster, typed by you", "CLUSTER"),
        Option("--although-loaded", f"{verb} although the cluster is loaded; kept in the result", "REASON", ""),
    )
    declare(parser.add_argument_group("consent"), consent)


def add_load_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the consent, the paths and the limits."""
    add_consent_options(parser, "send")
    declare(parser.add_argument_group("paths"), _PATHS)
    declare(parser.add_argument_group("limits"), (PACKETS, _SHARE, _IN_FLIGHT, _WHOLE))


def limits_from(args: argparse.Namespace) -> LoadLimits:
    """Return the limits that the options choose. Raises MeasureError."""
    from checks.measure.load_limits import HARD, MIX_SHARE, beside, limits_of, of_storage

    limits = limits_of(
        packets_per_s=args.packets,
        link_share=None if args.share is None else args.share / 100,
        in_flight=args.in_flight,
        whole_s=args.whole,
        most_share=MIX_SHARE if args.measure_command == "mix" else HARD.link_share,
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
