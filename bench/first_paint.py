"""Measure the time to the first screen, against a bare Textual app with as many widgets."""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.home import RACWIRE, new_user
from bench.pace import Pace
from bench.practice import outside, practice_cluster
from bench.rows import Row, figure
from bench.terminal import Terminal

BUDGET, LAB_BUDGET = 1.15, 1.5
"""The most that the first paint may take of that of a bare app: of `racwire`, and of `racwire --lab`."""
_BARE_APP = Path(__file__).with_name("programs") / "bare_app.py"
_TEXT, _BARE_TEXT = "1 Checks", "bare 0"
_IMPORT = re.compile(rb"import time: +(\d+) \| +\d+ \| +([\w.]+)")


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the ratios of the medians of many starts, in turn: on this machine, and on a practice node with
    `--lab`."""
    with new_user() as environment:
        widgets = asyncio.run(_widgets(Path(environment["HOME"])))
        bare = [sys.executable, str(_BARE_APP), str(widgets)]
        title = f"first paint, against a bare app of {widgets} widgets"
        imports = _imports([RACWIRE], bare, environment)
        yield _row(title, BUDGET, [RACWIRE], bare, environment, pace, imports)
        with practice_cluster(nodes=2) as lab:
            lab_command = [RACWIRE, "--lab"]
            yield _row(f"{title}, --lab", LAB_BUDGET, lab_command, bare, outside(lab, environment), pace)


def _row(
    title: str,
    budget: float,
    ours: Sequence[str],
    bare: Sequence[str],
    environment: Mapping[str, str],
    pace: Pace,
    notes: Sequence[str] = (),
) -> Row:
    times: tuple[list[float], list[float]] = [], []
    for repeat in range(pace.starts + 1):
        found = _first_paint(ours, _TEXT, environment), _first_paint(bare, _BARE_TEXT, environment)
        if repeat:  # the first start fills the caches
            times[0].append(found[0])
            times[1].append(found[1])
    medians = [1000 * statistics.median(t) for t in times]
    spread = [f"{figure(1000 * min(t))} to {figure(1000 * max(t))}" for t in times]
    note = (
        f"medians of {pace.starts} starts in turn: racwire {figure(medians[0])} ms ({spread[0]}), bare "
        f"{figure(medians[1])} ms ({spread[1]}), so the limit is {figure(budget * medians[1])} ms; of the shortest "
        f"{figure(min(times[0]) / min(times[1]))} x; load {os.getloadavg()[0]:.1f}"
    )
    return Row(title, "x", medians[0] / medians[1], budget, notes=(note, *notes))


def _first_paint(command: Sequence[str], text: str, environment: Mapping[str, str]) -> float:
    """The seconds from the start of the process until it has drawn this text."""
    with Terminal(command, environment) as terminal:
        return terminal.read_until(text) - terminal.started_at


async def _widgets(home: Path) -> int:
    """The number of widgets on the first screen."""
    from checks.model.settings import Settings
    from checks.run.engine import Engine
    from checks.traffic.feed import Feed
    from tui.console.app import ConsoleApp

    settings = Settings()
    app = ConsoleApp(lambda *_: Engine((), settings), new_feed=lambda: Feed(settings), state_directory=home)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        return len(list(app.screen.walk_children(with_self=False)))


def _imports(ours: Sequence[str], bare: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Notes on the imports of both programs until the first screen, from -X importtime, which slows them by about a
    fifth."""
    script = Path(ours[0])
    racwire = _imported([sys.executable, "-X", "importtime", str(script)], _TEXT, environment)
    plain = _imported([sys.executable, "-X", "importtime", *bare[1:]], _BARE_TEXT, environment)
    more: Counter[str] = Counter()
    for module, us in racwire.items():
        if module not in plain:
            more[_package(module)] += us
    most = ", ".join(f"{package} {us / 1000:.0f}" for package, us in more.most_common(9))
    return [
        f"imports until the first screen, by -X importtime: racwire {_sum_text(racwire)}, bare {_sum_text(plain)}",
        f"imports of racwire only, by package in ms: {most}",
    ]


def _package(module: str) -> str:
    """The package that a module's cost counts for: racwire's own by subpackage, others as a whole."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] in ("checks", "tui") else 1])


def _sum_text(modules: Mapping[str, int]) -> str:
    return f"{sum(modules.values()) / 1000:.0f} ms ({len(modules)} modules)"


def _imported(command: Sequence[str], text: str, environment: Mapping[str, str]) -> dict[str, int]:
    """The microseconds of each module, without the modules that it imports."""
    with Terminal(command, environment) as terminal:
        terminal.read_until(text)
        return {module.decode(): int(us) for us, module in _IMPORT.findall(terminal.raw)}
