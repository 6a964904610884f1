"""The time of the last run, now, and the playhead: each with its name, at every width, on every screen."""

from __future__ import annotations

from datetime import datetime

import msgspec
import pytest

from tests.support.sampling import sampled
from tests.tui.clusters import black_hole, engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown
from tests.tui.traffic_driving import console
from tests.tui.traffic_samples import cluster_events
from tui.widgets.run_text import run_labels


@pytest.mark.parametrize("size", sampled([((60, 16),), ((80, 24),), ((120, 40),)], [((80, 24),)]))
async def test_every_screen_has_the_time_of_the_last_run(new_console: NewConsole, size: tuple[int, int]) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=size) as pilot:
        await concluded(pilot)
        for key in "1234567":
            await pilot.press(key)
            await pilot.pause()
            assert "run 2026-11-20 14:02:31" in shown(pilot, "upper-rule"), key


@pytest.mark.parametrize("size", sampled([((60, 16),), ((80, 24),), ((120, 40),)], [((80, 24),)]))
async def test_traffic_names_all_three(new_console: NewConsole, size: tuple[int, int]) -> None:
    async with console(new_console, cluster_events(5), size=size) as on:
        assert "run 2026-11-20 14:02:31" in on.rule
        assert "now 14:02:35" in on.rule
        await on.press("space")
        assert "run 2026-11-20 14:02:31" in on.rule
        assert "playhead 14:02:35" in on.rule
        assert "now" not in on.rule


async def test_a_run_has_its_date_where_that_is_not_today() -> None:
    app = engine(black_hole())
    report = msgspec.structs.replace(app.report(), started_at="2026-11-20T14:02:31.000+01:00", duration_s=1.94)
    assert run_labels(report, datetime(2026, 11, 20, 18), is_past=False) == ("run 14:02:31, 1.9 s", "run 14:02:31")
    of_yesterday = ("run 2026-11-20 14:02:31, 1.9 s", "run 2026-11-20 14:02:31")
    assert run_labels(report, datetime(2026, 11, 21, 9), is_past=False) == of_yesterday
    assert run_labels(report, datetime(2026, 11, 21, 9), is_past=True)[1] == "run 14:02:31"
    assert run_labels(None, datetime(2026, 11, 21, 9), is_past=False) == ()
