"""Measure the CPU time and memory of a program in a terminal."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import psutil

from bench.terminal import Terminal


@dataclass(frozen=True)
class Cpu:
    """Percent of one core: the program's own, and that of its child processes."""

    own: float
    children: float


def cpu(terminal: Terminal, seconds: float) -> Cpu:
    """Measure for so many seconds. Raises TerminalError when the program has ended."""
    program, children = terminal.processes()
    own, theirs, ended = _own(program), {child.pid: _own(child) for child in children}, _ended(program)
    terminal.read_for(seconds)
    program, children = terminal.processes()
    grown = _ended(program) - ended + sum(_own(child) - theirs.get(child.pid, 0.0) for child in children)
    # A child that ended meanwhile adds its whole CPU time to the sum of ended children.
    grown -= sum(time for pid, time in theirs.items() if pid not in {child.pid for child in children})
    return Cpu(100 * (_own(program) - own) / seconds, max(0.0, 100 * grown / seconds))


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
