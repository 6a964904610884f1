"""Measure the CPU time of the Traffic screen of a node with eight busy interfaces, and that of other monitors.

All run at the same time, each in a terminal of its own, so that a busy machine slows them alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

from bench.console import show, until_concluded, until_graphs_are_full
from bench.home import RACWIRE, new_user
from bench.monitors import BTOP, MONITORS, once_a_second
from bench.pace import Pace
from bench.rows import Row, figure, not_measured
from bench.terminal import LARGE, SMALL, Terminal
from bench.usage import Cpu, cpu_of_all
from bench.wires import Wires, wires

_UNIT = "% of a core"
_INTERFACES = 8
_WARM_S = 4.0


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows of both sizes. The interfaces are private networks, so that the screen shows all of them."""
    seconds = max(20.0, pace.seconds)
    with new_user() as environment, wires(_INTERFACES) as namespace:
        for size in (SMALL, LARGE):
            yield from _rows(namespace, once_a_second(environment), size, seconds)


def _rows(namespace: Wires, environment: dict[str, str], size: tuple[int, int], seconds: float) -> Iterator[Row]:
    networks = [word for subnet in namespace.subnets for word in ("--network", subnet)]
    command = namespace.enter([RACWIRE, "--interval", "1", *networks])
    with ExitStack() as stack:
        ours = stack.enter_context(Terminal(command, environment, size))
        until_concluded(ours)
        show(ours, "3", _WARM_S)
        until_graphs_are_full(ours, size)
        running = [monitor for monitor in MONITORS if not monitor.why_not]
        others = [
            stack.enter_context(Terminal(namespace.enter(monitor.command), environment, size)) for monitor in running
        ]
        for terminal in others:
            terminal.read_for(1)
        used = cpu_of_all([ours, *others], seconds)
    theirs = {monitor.name: usage.own for monitor, usage in zip(running, used[1:], strict=True)}
    yield _row(used[0], size, seconds, theirs.get(BTOP.name))
    for monitor in MONITORS:
        title = f"CPU, {monitor.name} beside it, {size[0]}x{size[1]}"
        yield Row(title, _UNIT, theirs[monitor.name]) if monitor in running else not_measured(title, monitor.why_not)


def _row(used: Cpu, size: tuple[int, int], seconds: float, btop: float | None) -> Row:
    note = (
        f"over {seconds:g} s at 1 s; its child processes: {figure(used.children)} %; load {os.getloadavg()[0]:.1f}; "
        "the limit is what btop uses at the same time"
    )
    title = f"CPU, Traffic, {_INTERFACES} interfaces, {size[0]}x{size[1]}"
    return Row(title, _UNIT, used.own, btop, "" if btop is not None else BTOP.why_not, (note,))
