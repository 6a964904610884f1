"""The processor time of one sample of this node, against psutil's: `python -m bench.programs.sample_cost COUNT`.

Prints JSON: the median of each way in microseconds. The ways take turns, with a pause in which the counters change.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable

import psutil

from checks.traffic.interface_table import InterfaceTable, counted_between, parse_table
from checks.traffic.node_counter import NodeCounter
from checks.traffic.this_node import KernelFiles

_PAUSE_S = 0.06
_WARM = 10


def main() -> None:
    """Measure and print."""
    ways: dict[str, Callable[[], object]] = {
        "interfaces": _interfaces(),
        "psutil": lambda: psutil.net_io_counters(pernic=True, nowrap=False),
        "sample": _sample(),
        "psutil all": _psutil_all,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(int(sys.argv[1])):
        for name, take in ways.items():
            time.sleep(_PAUSE_S / len(ways))
            began = time.process_time_ns()
            take()
            times[name].append((time.process_time_ns() - began) / 1000)
    print(json.dumps({name: statistics.median(of_way[_WARM:]) for name, of_way in times.items()}))


def _interfaces() -> Callable[[], object]:
    """What the interfaces counted since the last time: what of a sample can be set against psutil's bare counters."""
    file, before = os.open("/proc/net/dev", os.O_RDONLY), InterfaceTable()

    def take() -> object:
        nonlocal before
        parts = [os.pread(file, 65536, 0)]
        while parts[-1]:
            parts.append(os.pread(file, 65536, sum(map(len, parts))))
        was, before = before, parse_table(b"".join(parts).decode())
        return counted_between(was, before)

    return take


def _sample() -> Callable[[], object]:
    """A whole sample, as the feed takes it: interfaces, IP, UDP, softnet, processors, load."""
    files, counter = KernelFiles(), NodeCounter()
    return lambda: counter.sample("node", files.read(), time.monotonic(), time.time())


def _psutil_all() -> object:
    """What psutil has of a whole sample: it knows nothing of IP, UDP and softnet."""
    return psutil.net_io_counters(pernic=True, nowrap=False), psutil.cpu_times(percpu=True), psutil.getloadavg()


main()
