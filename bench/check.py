"""Measure what one check of a healthy cluster costs: CPU time, packets per path, and the time for 16 nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bench.pace import Pace
from bench.practice import outside, practice_cluster
from bench.rows import Row

_INTERVAL_S = 5
_FEW, _MANY = 2, 16


@dataclass(frozen=True)
class _Run:
    """One check."""

    cpu_s: float
    """User and system time of racwire and its ssh clients."""
    wall_s: float
    packets: float
    """Packets that were sent on each path, on average."""


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows of few nodes, then those of many."""
    for nodes, runs in ((_FEW, pace.checks), (_MANY, 1)):
        with practice_cluster(nodes) as lab:
            done = [_check(outside(lab, dict(os.environ))) for _ in range(runs)]
        name = f"check of {nodes} healthy nodes"
        note = f"median of {runs}, --interval {_INTERVAL_S}"
        yield Row(f"{name}, CPU", "s", median(run.cpu_s for run in done), notes=(note,))
        yield Row(f"{name}, packets per path", "", median(run.packets for run in done))
        yield Row(f"{name}, time", "s", median(run.wall_s for run in done))


def _check(environment: dict[str, str]) -> _Run:
    command = [sys.executable, "-m", "racwire", "check", "--lab", "--interval", str(_INTERVAL_S), "--format", "json"]
    before, began = _children_cpu_s(), time.monotonic()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    wall, cpu = time.monotonic() - began, _children_cpu_s() - before
    paths = json.loads(done.stdout)["cluster"]["paths"]
    return _Run(cpu, wall, sum(path.get("packets_sent", 0) for path in paths) / len(paths))


def _children_cpu_s() -> float:
    times = os.times()
    return times.children_user + times.children_system
