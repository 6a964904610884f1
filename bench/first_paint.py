"""How soon the first screen is there, against a bare Textual app with as many widgets."""

from __future__ import annotations

import asyncio
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.home import RACWIRE, new_user
from bench.pace import Pace
from bench.rows import Row, figure
from bench.terminal import Terminal

BUDGET = 1.25
_BARE_APP = Path(__file__).with_name("programs") / "bare_app.py"
_WORDS, _BARE_WORDS = "1 Checks", "bare 0"
_IMPORT = re.compile(rb"import time: +(\d+) \| +\d+ \| +([\w.]+)")


def measure(pace: Pace) -> Iterator[Row]:
    """The ratio of the medians of many starts, taken in turn."""
    with new_user() as environment:
        widgets = asyncio.run(_widgets(Path(environment["HOME"])))
        ours, bare = [RACWIRE], [sys.executable, str(_BARE_APP), str(widgets)]
        times: tuple[list[float], list[float]] = [], []
        for repeat in range(pace.starts + 1):
            found = _first_paint(ours, _WORDS, environment), _first_paint(bare, _BARE_WORDS, environment)
            if repeat:  # the first start fills the caches
                times[0].append(found[0])
                times[1].append(found[1])
        medians = [1000 * statistics.median(t) for t in times]
        spread = [f"{figure(1000 * min(t))} to {figure(1000 * max(t))}" for t in times]
        yield Row(
            f"first paint, against a bare app of {widgets} widgets",
            "x",
            medians[0] / medians[1],
            BUDGET,
            notes=(
                f"medians of {pace.starts} starts in turn: racwire {figure(medians[0])} ms ({spread[0]}), "
                f"bare {figure(medians[1])} ms ({spread[1]}), so the budget is {figure(BUDGET * medians[1])} ms",
                *_imports(ours, bare, environment),
            ),
        )


def _first_paint(command: Sequence[str], words: str, environment: Mapping[str, str]) -> float:
    """Seconds from the start of the process to these words."""
    with Terminal(command, environment) as terminal:
        return terminal.read_until(words) - terminal.started_at


async def _widgets(home: Path) -> int:
    """How many widgets the first screen has."""
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
    """What both load until then, as Python itself tells (its measuring makes it slower by a fifth or so)."""
    script = Path(ours[0])
    racwire = _imported([sys.executable, "-X", "importtime", str(script)], _WORDS, environment)
    plain = _imported([sys.executable, "-X", "importtime", *bare[1:]], _BARE_WORDS, environment)
    more: Counter[str] = Counter()
    for module, us in racwire.items():
        if module not in plain:
            more[_package(module)] += us
    most = ", ".join(f"{package} {us / 1000:.0f}" for package, us in more.most_common(9))
    return [
        f"imports until then, by -X importtime: racwire {_told(racwire)}, bare {_told(plain)}",
        f"what only racwire imports, by package in ms: {most}",
    ]


def _package(module: str) -> str:
    """Where a module's cost is told: racwire's own by the packages within, others as a whole."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] in ("checks", "tui") else 1])


def _told(modules: Mapping[str, int]) -> str:
    return f"{sum(modules.values()) / 1000:.0f} ms ({len(modules)} modules)"


def _imported(command: Sequence[str], words: str, environment: Mapping[str, str]) -> dict[str, int]:
    """The microseconds that each module took, without those that it imports itself."""
    with Terminal(command, environment) as terminal:
        terminal.read_until(words)
        return {module.decode(): int(us) for us, module in _IMPORT.findall(terminal.raw)}
