"""Run `make bench`: measure the cost of racwire, and print it with its budget."""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from bench import (
    check,
    cpu,
    first_paint,
    incidents,
    keys,
    live,
    measure_drill,
    measure_flows,
    measure_hashes,
    measure_load,
    measure_rate,
    measure_sizes,
    measure_stop,
    memory,
    page,
    samples,
    sent,
    still,
)
from bench.instruments import NoInstrument
from bench.pace import QUICK, Pace
from bench.practice import NoCluster
from bench.rows import Row, not_measured, table
from bench.terminal import TerminalError
from bench.wires import NoNamespace

MEASUREMENTS: dict[str, Callable[[Pace], Iterator[Row]]] = {
    "first-paint": first_paint.measure,
    "sent": sent.measure,
    "still": still.measure,
    "cpu": cpu.measure,
    "samples": samples.measure,
    "live": live.measure,
    "memory": memory.measure,
    "keys": keys.measure,
    "incidents": incidents.measure,
    "html": page.measure,
    "check": check.measure,
    "measure-sizes": measure_sizes.measure,
    "measure-rate": measure_rate.measure,
    "measure-hashes": measure_hashes.measure,
    "measure-flows": measure_flows.measure,
    "measure-stop": measure_stop.measure,
    "measure-load": measure_load.measure,
    "measure-drill": measure_drill.measure,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table. Return 0 whatever the figures are."""
    args = _parser().parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    pace = dataclasses.replace(QUICK if args.quick else Pace(), hour=args.hour)
    try:
        rows = [row for name in args.only or MEASUREMENTS for row in _measured(name, pace)]
    except KeyboardInterrupt:
        return 130
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end\n\n{table(rows)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        choices=tuple(MEASUREMENTS),
        help="run this measurement only (repeatable)",
        metavar="NAME",
    )
    parser.add_argument("--quick", action="store_true", help="measure with fewer repeats and shorter times")
    parser.add_argument("--hour", action="store_true", help="measure the memory over a real hour")
    return parser


def _measured(name: str, pace: Pace) -> Iterator[Row]:
    """The rows of one measurement. A row reports a resource that this machine lacks, or a failure of the console."""
    started = time.monotonic()
    print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
    try:
        yield from MEASUREMENTS[name](pace)
    except (NoCluster, NoInstrument, NoNamespace, TerminalError) as reason:
        yield not_measured(f"{name}, remaining rows", str(reason))
    finally:
        print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)


def _end(number: int, frame: FrameType | None) -> None:
    """Act as Ctrl-C, so that everything made is removed."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
