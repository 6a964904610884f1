"""Measure the CPU time of one sample of a node by the number of its interfaces, against psutil."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from bench.pace import Pace
from bench.rows import Row, figure
from bench.wires import wires

COUNTS = (8, 32, 128)
BUDGET = 1.0
GROWTH_BUDGET = 1.25
"""The cost of one more interface among many, divided by the cost among few: linear growth, with room for noise."""


def measure(pace: Pace) -> Iterator[Row]:
    """Yield a row for each number of interfaces, and one for the growth of the cost."""
    costs: list[float] = []
    for count in COUNTS:
        found = _medians(count, pace.samples)
        ours, theirs = found["interfaces"], found["psutil"]
        note = (
            f"compared: read /proc/net/dev and compute each interface's growth: {figure(ours)} µs; psutil's "
            f"bare counters (pernic, nowrap=False): {figure(theirs)} µs; {pace.samples} times in turn, all of them busy"
        )
        rest = (
            f"the whole sample, with IP, UDP, softnet, CPUs and load: {figure(found['sample'])} µs; psutil, "
            f"which has no IP, UDP and softnet: {figure(found['psutil all'])} µs"
        )
        yield Row(f"one sample of {count} interfaces, against psutil", "x", ours / theirs, BUDGET, "", (note, rest))
        costs.append(ours)
    few, some, many = COUNTS
    among_few, among_many = (costs[1] - costs[0]) / (some - few), (costs[2] - costs[1]) / (many - some)
    note = (
        f"one more interface costs {figure(among_few)} µs among {few} to {some}, {figure(among_many)} µs up to {many}"
    )
    yield Row("one sample, growth with its interfaces", "x", among_many / among_few, GROWTH_BUDGET, "", (note,))


def _medians(count: int, samples: int) -> dict[str, float]:
    """The cost of each method to take a sample, in microseconds."""
    with wires(count) as namespace:
        command = namespace.enter([sys.executable, "-m", "bench.programs.sample_cost", str(samples)])
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        return {str(way): float(us) for way, us in json.loads(done.stdout).items()}
