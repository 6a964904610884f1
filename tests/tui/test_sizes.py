"""A larger terminal shows more, on each screen; a small one still says what matters."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from checks.change.progress.change_events import Attested
from tests.fixtures.databases import asked
from tests.support.sampling import sampled
from tests.tui.change_driving import PaperChanges
from tests.tui.clusters import black_hole, engine
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, until
from tests.tui.measure_driving import PaperMeasurements
from tests.tui.traffic_samples import cluster_events
from tests.unit.change_journals import journal
from tui.widgets.lines import Lines

SIZES = ((60, 16), (80, 24), (120, 40), (200, 50))


def in_sight(pilot: Pilot[None]) -> str:
    """Return the text in view, without what is scrolled out of sight."""
    parts = [part for part in pilot.app.screen.query(Lines) if part.display and part.region and part.id != "keys"]
    return "\n".join(
        "\n".join(line[: part.size.width] for line in part.text.splitlines()[part.above :][: part.size.height])
        for part in parts
    )


async def amounts(pilot: Pilot[None]) -> list[int]:
    """Return for each size how many letters and digits are in view."""
    found = []
    for size in SIZES:
        await pilot.resize_terminal(*size)
        for _ in range(4):
            await pilot.pause()
        text = in_sight(pilot)
        found.append(sum(sign.isalnum() for sign in text))
    return found


@pytest.mark.parametrize("key", sampled("1234567", "14"))
async def test_a_larger_terminal_shows_more(new_console: NewConsole, tmp_path: Path, key: str) -> None:
    journal(tmp_path, Attested("agree", "Ann Lee"))
    feed = FakeFeed()
    app = new_console(
        lambda: engine(asked(3) if key == "4" else black_hole()),
        new_feed=lambda: feed,
        changes=PaperChanges(tmp_path),
        measurements=PaperMeasurements(),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press(key)
        feed.emit(*cluster_events(60, 3))
        await until(pilot, lambda: bool(app.state.timeline.sources()))
        await pilot.pause(0.3)
        shown = await amounts(pilot)
        assert shown[0] > 150
        assert shown == sorted(set(shown)), shown
