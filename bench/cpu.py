"""Measure the CPU time of the Traffic screen of a node with eight busy interfaces, and that of btop."""

from __future__ import annotations

from collections.abc import Iterator

from bench.btop import COMMAND, once_a_second, why_no_btop
from bench.console import show, until_concluded, until_graphs_are_full
from bench.home import RACWIRE, new_user
from bench.pace import Pace
from bench.rows import Row, figure, not_measured
from bench.terminal import LARGE, SMALL, Terminal
from bench.usage import cpu
from bench.wires import Wires, wires

BUDGET = 1.5
"""The budget in percent of a core."""
_INTERFACES = 8
_WARM_S = 4.0


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows of both sizes. The interfaces are private networks, so that the screen shows all of them."""
    seconds = max(20.0, pace.seconds)
    with new_user() as environment, wires(_INTERFACES) as namespace:
        yield _btop(namespace, environment, seconds)
        for size in (SMALL, LARGE):
            yield _racwire(namespace, environment, size, seconds)


def _racwire(namespace: Wires, environment: dict[str, str], size: tuple[int, int], seconds: float) -> Row:
    networks = [word for subnet in namespace.subnets for word in ("--network", subnet)]
    command = namespace.enter([RACWIRE, "--interval", "1", *networks])
    with Terminal(command, environment, size) as terminal:
        until_concluded(terminal)
        show(terminal, "3", _WARM_S)
        until_graphs_are_full(terminal, size)
        used = cpu(terminal, seconds)
    return Row(
        f"CPU, Traffic, {_INTERFACES} interfaces, {size[0]}x{size[1]}",
        "% of a core",
        used.own,
        BUDGET,
        notes=(f"over {seconds:g} s at 1 s; its child processes: {figure(used.children)} %",),
    )


def _btop(namespace: Wires, environment: dict[str, str], seconds: float) -> Row:
    title = f"CPU, btop in the same namespace, {SMALL[0]}x{SMALL[1]}"
    if why := why_no_btop():
        return not_measured(title, why)
    with Terminal(namespace.enter(COMMAND), once_a_second(environment), SMALL) as terminal:
        terminal.read_for(_WARM_S)
        used = cpu(terminal, seconds)
    return Row(title, "% of a core", used.own)
