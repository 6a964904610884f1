"""Measure the time to the answer of a key while eight nodes and a hung database are being read."""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Iterator, Sequence

from bench.console import CONCLUDED_WITHIN_S, QUIET_S, SCREENS
from bench.home import RACWIRE, new_user
from bench.pace import Pace
from bench.practice import outside, practice_cluster
from bench.rows import Row, figure
from bench.terminal import Terminal, TerminalError

BUDGET_MS = 50.0
_NODES = 8
_PAUSES_S = (0.1, 0.4)
"""Range of the pause between two keys, random so that keys do not synchronise with samples."""
_UNANSWERED_S = 5.0
_FIRST, _OTHERS = "1", "2345"
"""The screen that exists from the start, and the screens that are made when first displayed."""


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows: first while the checks read everything, then while only the feed reads; without a cluster to
    compare."""
    with new_user() as environment:
        with practice_cluster(nodes=_NODES) as lab:
            lab.break_("hung-instance")
            with Terminal([RACWIRE, "--lab"], outside(lab, environment)) as terminal:
                terminal.read_until("1 Checks")
                yield from _screens(terminal, pace.keys, f"{_NODES} nodes, hung instance")
                terminal.send(_FIRST)
                terminal.read_until_quiet(QUIET_S, CONCLUDED_WITHIN_S)
                moves = [_moves(terminal, number) for number in range(pace.keys)]
                yield _row(f"key in the list of findings, p99 ({_NODES} nodes, hung instance)", moves, BUDGET_MS)
        with Terminal([RACWIRE], environment) as terminal:
            terminal.read_until("1 Checks")
            yield from _screens(terminal, pace.keys // 3, "no cluster", compared=True)


def _screens(terminal: Terminal, count: int, where: str, *, compared: bool = False) -> Iterator[Row]:
    budget = None if compared else BUDGET_MS
    first = {key: _changes_screen(terminal, key) for key in _OTHERS}
    worst = max(first, key=lambda key: first[key])
    each = ", ".join(f"{SCREENS[key]} {figure(ms)} ms" for key, ms in first.items())
    yield Row(
        f"key that opens a screen for the first time, {SCREENS[worst]} ({where})",
        "ms",
        first[worst],
        budget,
        "",
        (each,),
    )
    times: dict[str, list[float]] = {key: [] for key in SCREENS}
    for number in range(count):
        key = random.choice(_OTHERS) if number % 2 else _FIRST  # noqa: S311 - no secret
        times[key].append(_changes_screen(terminal, key))
    medians = ", ".join(f"{SCREENS[key]} {figure(statistics.median(ms))}" for key, ms in times.items() if ms)
    pressed = [ms for of_screen in times.values() for ms in of_screen]
    yield _row(f"key that opens a screen again, p99 ({where})", pressed, budget, f"medians by screen: {medians}")


def _changes_screen(terminal: Terminal, key: str) -> float:
    """The milliseconds until the tabs of the other screen are drawn. Other output does not answer the key."""
    _rest(terminal)
    pressed = terminal.send(key)
    return 1000 * (terminal.read_until(f"{key} {SCREENS[key]}", _UNANSWERED_S) - pressed)


def _moves(terminal: Terminal, number: int) -> float:
    """The milliseconds until anything is drawn: on this screen nothing else draws."""
    _rest(terminal)
    pressed = terminal.send("k" if number % 2 else "j")
    answered = terminal.read_any(_UNANSWERED_S)
    if answered is None:
        raise TerminalError(f"a key in the list of findings got no answer within {_UNANSWERED_S:g} s")
    return 1000 * (answered - pressed)


def _rest(terminal: Terminal) -> None:
    terminal.read_for(random.uniform(*_PAUSES_S))  # noqa: S311 - no secret


def _row(title: str, times: Sequence[float], budget: float | None, *more: str) -> Row:
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    note = (
        f"{len(times)} keys: median {figure(statistics.median(times))} ms, worst {figure(ordered[-1])} ms; the cluster "
        f"uses the same {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
    )
    return Row(title, "ms", p99, budget, notes=(note, *more))
