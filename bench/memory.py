"""Measure whether the memory of the Traffic screen stays constant once its history is full."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.console import show, until_concluded
from bench.home import RACWIRE, new_user
from bench.pace import Pace
from bench.practice import inside, outside, practice_cluster
from bench.rows import Row, figure
from bench.terminal import Terminal
from bench.usage import rss_mb
from checks.traffic.timeline import KEPT

BUDGET_MB = 2.0
"""The most that the memory may grow once the history is full."""
TOTAL_MB = 90.0
"""The most resident memory after an hour."""
_FIRST_S, _LAST_S = 300, 3600
_HASTE_S = 0.05
"""Seconds between two samples at the accelerated rate."""
_BEGIN_WITHIN_S = 120.0


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the growth and the total: of a real hour with `--hour`, else of its number of samples at an accelerated
    rate."""
    yield from _hour() if pace.hour else _hasty(pace.memory_s)


def _hour() -> Iterator[Row]:
    with (
        new_user() as environment,
        practice_cluster(nodes=2) as lab,
        Terminal([RACWIRE, "--lab", "--interval", "1"], outside(lab, environment)) as terminal,
    ):
        until_concluded(terminal)
        show(terminal, "3")
        terminal.read_for(_FIRST_S)
        before = rss_mb(terminal)
        terminal.read_for(_LAST_S - _FIRST_S)
        yield from _rows(
            "memory, from minute 5 to minute 60", before, rss_mb(terminal), "2 nodes and 2 instances at 1 s"
        )


def _hasty(seconds: float) -> Iterator[Row]:
    with new_user() as environment, practice_cluster(nodes=2) as lab:
        file = Path(environment["HOME"]) / "samples.json"
        command = [sys.executable, "-m", "bench.programs.hasty_console", str(_HASTE_S), str(file)]
        with Terminal(lab.enter(lab.nodes[0], command), inside(lab, environment)) as terminal:
            until_concluded(terminal)
            show(terminal, "3")
            started = time.monotonic()
            while min(_counts(file).values(), default=0) < KEPT and time.monotonic() < started + _BEGIN_WITHIN_S:
                terminal.read_for(1)
            first, before = _counts(file), rss_mb(terminal)
            started = time.monotonic()
            while min(_counts(file).values()) < KEPT + _LAST_S and time.monotonic() < started + seconds:
                terminal.read_for(1)
            last, after = _counts(file), rss_mb(terminal)
            took = time.monotonic() - started
    counts = ", ".join(f"{source} {first.get(source, 0)} to {count}" for source, count in sorted(last.items()))
    how = f"accelerated: {figure(took)} s at {_HASTE_S:g} s instead of an hour at 1 s (--hour); samples: {counts}"
    yield from _rows("memory, after the history is full", before, after, how)


def _counts(file: Path) -> dict[str, int]:
    """The number of samples of each source that the console has received so far."""
    try:
        return {str(source): int(count) for source, count in json.loads(file.read_bytes()).items()}
    except FileNotFoundError:
        return {}


def _rows(what: str, before: float, after: float, how: str) -> Iterator[Row]:
    note = f"resident: {figure(before)} MB, then {figure(after)} MB; {how}"
    yield Row(f"{what}: growth", "MB", max(0.0, after - before), BUDGET_MB, notes=(note,))
    yield Row(f"{what}: in all", "MB", after, TOTAL_MB)
