"""Measure the CPU time and memory of a program in a terminal."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.terminal import Terminal


@dataclass(frozen=True)
class Cpu:
    """Percent of one core: the program's own, and that of its child processes."""

    own: float
    children: float


def cpu_of_all(terminals: Sequence[Terminal], seconds: float) -> list[Cpu]:
    """Measure programs at the same time for so many seconds. Raises TerminalError when one has ended."""
    before = [_times(terminal) for terminal in terminals]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for terminal in terminals:
            terminal.read_for(_TURN_S)
    return [_grown(start, _times(terminal), seconds) for start, terminal in zip(before, terminals, strict=True)]


_TURN_S = 0.05
"""Seconds for which one terminal is read before the next one: none may fill up."""


@dataclass(frozen=True)
class _Times:
    """CPU seconds of a program so far, of its children that run, and of those that have ended."""

    own: float
    running: dict[int, float]
    ended: float


def _times(terminal: Terminal) -> _Times:
    program, children = terminal.processes()
    return _Times(_precise(program), {child.pid: _own(child) for child in children}, _ended(program))


def _grown(before: _Times, after: _Times, seconds: float) -> Cpu:
    grown = after.ended - before.ended
    grown += sum(now - before.running.get(pid, 0.0) for pid, now in after.running.items())
    # A child that ended meanwhile adds its whole CPU time to the sum of ended children.
    grown -= sum(time for pid, time in before.running.items() if pid not in after.running)
    return Cpu(100 * (after.own - before.own) / seconds, max(0.0, 100 * grown / seconds))


def _precise(process: psutil.Process) -> float:
    """The CPU seconds of all threads: the usual times of a process count in hundredths of a second."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    try:
        return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9 or _own(process)
    except (OSError, ValueError):
        return _own(process)


def rss_mb(terminal: Terminal) -> float:
    """Return the program's resident memory, in MB of 10^6 bytes. Raises TerminalError when it has ended."""
    program, _ = terminal.processes()
    return float(program.memory_info().rss / 1e6)


def _own(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def _ended(process: psutil.Process) -> float:
    """The CPU time of the children that have ended and were waited for."""
    with contextlib.suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.children_user + times.children_system)
    return 0.0
