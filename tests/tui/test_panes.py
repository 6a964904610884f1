"""Panes: the rules meet the lines between them at each size, and `z` gives one of them the whole screen."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual.pilot import Pilot

from checks.change.progress.change_events import Attested
from tests.support.sampling import sampled
from tests.tui.change_driving import PaperChanges
from tests.tui.clusters import black_hole, engine
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.measure_driving import PaperMeasurements
from tests.tui.test_events_screen import samples
from tests.unit.change_journals import journal
from tui.widgets.lines import BROKEN, Lines

SIZES = ((200, 50), (80, 24), (161, 40), (60, 16), (79, 24), (121, 30), (59, 16), (120, 40), (200, 50), (40, 12))


def rows(pilot: Pilot[None]) -> list[str]:
    """Return the rows of the screen as the terminal has them."""
    screen = pilot.app.screen
    return ["".join(segment.text for segment in strip) for strip in screen._compositor.render_strips()]


def columns(row: str, sign: str) -> set[int]:
    return {at for at, each in enumerate(row) if each == sign}


def meet(pilot: Pilot[None], *, also_below: bool) -> bool:
    """Whether the rules meet the lines between the panes: a rule has a text there, or its own sign, and that sign
    nowhere else."""
    top, *body = rows(pilot)[2:-1]
    bottom = body.pop()
    between = set.intersection(*(columns(row, "│") for row in (body if also_below else body[:-1])))
    ends = [(top, "┬"), *([(bottom, "┴")] if also_below else [])]
    return all(columns(rule, sign) <= between and not columns(rule, "─") & between for rule, sign in ends)


@pytest.mark.parametrize("key", "17")
async def test_the_rules_meet_the_lines_between_the_panes_after_each_resize(new_console: NewConsole, key: str) -> None:
    app = new_console(lambda: engine(black_hole()), measurements=PaperMeasurements())
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press(key)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: meet(pilot, also_below=key == "1"))
            assert bool(columns(rows(pilot)[5], "│")) is (size[0] >= 60)


@pytest.mark.parametrize("key", sampled("1234567!", "1!"))
async def test_no_part_fails_to_be_drawn_while_a_terminal_is_resized(
    new_console: NewConsole, tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    journal(tmp_path, Attested("agree", "Ann Lee"))
    app = new_console(lambda: engine(black_hole()), changes=PaperChanges(tmp_path), measurements=PaperMeasurements())
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("exclamation_mark" if key == "!" else key)
        for size in (*SIZES, (10, 5), (1, 1), (200, 5), (20, 50)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.pause()
            assert not [part.id for part in app.screen.query(Lines) if BROKEN[:20] in part.text]
    assert "could not be drawn" not in caplog.text


ALONE = {
    "1": ("finding", "list"),
    "2": ("path-foot", "path-matrix"),
    "5": ("change-page", "change-ahead"),
    "6": ("report-says", "report-forms"),
    "7": ("measure-page", "measure-list"),
    "!": ("events-foot", "events-list"),
}
"""By key of the screen: the pane that `z` leaves, and one that it hides."""


@pytest.mark.parametrize("key", sampled(ALONE))
async def test_z_gives_a_pane_the_whole_screen_and_returns(new_console: NewConsole, tmp_path: Path, key: str) -> None:
    journal(tmp_path, Attested("agree", "Ann Lee"))
    feed = FakeFeed()
    app = new_console(
        lambda: engine(black_hole()),
        new_feed=lambda: feed,
        changes=PaperChanges(tmp_path),
        measurements=PaperMeasurements(),
    )
    pane, other = ALONE[key]
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("exclamation_mark" if key == "!" else key)
        feed.emit(*(samples(time.time() - 40, 40, fails_from=5) if key == "!" else ()))
        if key == "5":
            await until(pilot, lambda: app.state.changes.change is not None)

        def size_of(part: str) -> tuple[int, int]:
            region = app.screen.query_one(f"#{part}", Lines).region
            return (region.width, region.height)

        await until(pilot, lambda: all(size_of(pane)) and all(size_of(other)))
        before = size_of(pane)
        await pilot.press("z")
        await until(pilot, lambda: size_of(pane) > before and not any(size_of(other)))
        assert size_of(pane) >= (79 if key in "17" else 80, 17)
        assert "z all panes" in shown(pilot, "keys")
        assert "│" not in "".join(rows(pilot)) or key not in "17"
        await pilot.press("z")
        await until(pilot, lambda: size_of(pane) == before and all(size_of(other)))
        assert "z all panes" not in shown(pilot, "keys")


async def test_a_filter_shows_what_it_filters(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("z", "slash", *"rac3")
        await until(
            pilot,
            lambda: "rac3" in rows(pilot)[-3] + rows(pilot)[2] and bool(pilot.app.screen.query_one("#list").region),
        )
