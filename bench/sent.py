"""Measure the bytes to the terminal, on the Traffic screen of a node under load, and those of btop."""

from __future__ import annotations

from collections.abc import Iterator

from bench.anatomy import anatomy
from bench.console import show, until_concluded, until_graphs_are_full
from bench.home import RACWIRE, new_user
from bench.monitors import BTOP, MONITORS, once_a_second
from bench.pace import Pace
from bench.practice import inside, outside, practice_cluster
from bench.rows import Row, figure, not_measured
from bench.terminal import HUGE, LARGE, SMALL, Terminal
from racwire_lab import Lab

BUDGETS = {SMALL: 1500, LARGE: 1900, HUGE: 2900}
"""Bytes a second, by size."""
SHARE_OF_BTOP = 1 / 5
_WARM_S = 4.0
"""Seconds until the first drawing is complete."""


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows of each size: racwire's own limit, a fifth of btop's bytes, and the bytes of other monitors."""
    with new_user() as environment, practice_cluster(nodes=2) as lab:
        for size, budget in BUDGETS.items():
            title = f"{size[0]}x{size[1]}"
            # A short run of the checks at the start: it is not measured.
            with Terminal([RACWIRE, "--lab", "--interval", "1"], outside(lab, environment), size) as terminal:
                until_concluded(terminal)
                show(terminal, "3", _WARM_S)
                until_graphs_are_full(terminal, size)
                terminal.forget()
                ours = terminal.read_for(pace.seconds) / pace.seconds
                notes = (
                    f"practice cluster of 2 nodes and 2 instances under load, 1 s, truecolor, over {pace.seconds:g} s",
                    anatomy(terminal.raw, pace.seconds),
                )
            yield Row(f"bytes sent, Traffic, {title}", "B/s", ours, budget, notes=notes)
            yield from _beside(title, ours, lab, environment, size, pace)


def _beside(
    title: str, ours: float, lab: Lab, environment: dict[str, str], size: tuple[int, int], pace: Pace
) -> Iterator[Row]:
    """Yield the row against btop, and those of the other monitors."""
    for monitor in MONITORS:
        is_btop = monitor is BTOP
        name = f"bytes sent, Traffic, {title}, against btop" if is_btop else f"bytes sent, {monitor.name}, {title}"
        if monitor.why_not:
            yield not_measured(name, monitor.why_not)
            continue
        command = lab.enter(lab.nodes[0], monitor.command)
        with Terminal(command, once_a_second(inside(lab, environment)), size) as terminal:
            terminal.read_for(_WARM_S)
            terminal.processes()
            theirs = terminal.read_for(pace.seconds) / pace.seconds
        note = f"btop in the same node and terminal: {figure(theirs)} B/s; a fifth of that is allowed"
        yield Row(name, "B/s", ours, SHARE_OF_BTOP * theirs, notes=(note,)) if is_btop else Row(name, "B/s", theirs)
