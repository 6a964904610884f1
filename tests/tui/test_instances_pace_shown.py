"""The pace of the instances on the Traffic and Database screens, and in a recording that starts there."""

from __future__ import annotations

import pytest

from checks.traffic.samples import InstanceSample, InstancesPace, NodeSample
from tests.fixtures.databases import asked
from tests.tui.clusters import engine
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.traffic_driving import console

NOON = 1_763_640_000.0
SLOWED = InstancesPace(NOON, 4.0, 40.0, "instances", "16 instances")
TROUBLE = InstancesPace(NOON, 10.0, 60.0, "slow", "GV$ took 2.1 s", 4.0)
USUAL = InstancesPace(NOON, 1.0, 10.0)


def samples(at: float) -> tuple[NodeSample, InstanceSample]:
    statistics = {"gc blocks lost": 0, "gc cr blocks received": 300, "gc current blocks received": 100}
    return NodeSample("rac1", at, 1.0), InstanceSample("prod1", 1, "rac1", at, 1.0, statistics)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_traffic_shows_the_pace_only_where_something_changes_it(
    new_console: NewConsole, size: tuple[int, int]
) -> None:
    async with console(new_console, samples(NOON), size) as screen:
        await screen.emit(USUAL, *samples(NOON + 1))
        assert "instances" not in screen.below
        await screen.emit(SLOWED, *samples(NOON + 2))
        assert "instances every 4 s: 16 instances" in screen.below
        await screen.emit(TROUBLE, *samples(NOON + 3))
        assert "instances every 10 s, returning to 4 s: GV$ took 2.1 s" in screen.below
        await screen.press("space")
        assert "instances" not in screen.below, "the pace is not that of the paused moment"


async def test_traffic_shows_which_racwire_takes_the_samples(new_console: NewConsole) -> None:
    async with console(new_console, samples(NOON), (80, 24)) as screen:
        assert "pid" not in screen.below
        screen.pilot.app.state.feed.sampler = 4711  # type: ignore[attr-defined]
        await screen.emit(SLOWED, *samples(NOON + 1))
        assert "instances every 4 s: 16 instances  samples of pid 4711" in screen.below


async def test_database_shows_the_pace_with_its_reason(new_console: NewConsole) -> None:
    feed = FakeFeed()
    app = new_console(lambda: engine(asked(2)), new_feed=lambda: feed)
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("4")
        feed.emit(SLOWED, *samples(NOON))
        await until(pilot, lambda: "Sampled every 4 s: 16 instances." in shown(pilot, "database-page"))
        feed.emit(USUAL, *samples(NOON + 1))
        await until(pilot, lambda: "Sampled every" not in shown(pilot, "database-page"))
