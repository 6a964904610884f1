"""Measure the CPU time of one sample of this node, and of psutil: `python -m bench.programs.sample_cost COUNT`.

Prints JSON: the median of each method in microseconds. The methods alternate, with a pause in which the counters
change.
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
            started = time.process_time_ns()
            take()
            times[name].append((time.process_time_ns() - started) / 1000)
    print(json.dumps({name: statistics.median(of_way[_WARM:]) for name, of_way in times.items()}))


def _interfaces() -> Callable[[], object]:
    """The part of a sample that is comparable with psutil's bare counters: the growth of the interfaces' counters."""
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
    """A whole sample, as the feed takes it: interfaces, IP, UDP, softnet, CPUs, load."""
    files, counter = KernelFiles(), NodeCounter()
    return lambda: counter.sample("node", files.read(), time.monotonic(), time.time())


def _psutil_all() -> object:
    """The counterparts that psutil has of a whole sample: it lacks IP, UDP and softnet."""
    return psutil.net_io_counters(pernic=True, nowrap=False), psutil.cpu_times(percpu=True), psutil.getloadavg()


main()
