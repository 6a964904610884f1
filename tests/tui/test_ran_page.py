"""`@`: what racwire ran in this console, and what it returned."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from checks.model.journal import Entry
from tests.support.sampling import sampled
from tests.tui.clusters import black_hole, engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown, until
from tui.screens.ran_page import RanScreen
from tui.screens.reader import ReaderScreen
from tui.text.journal_lines import ran_lines
from tui.text.line import plain, width_of
from tui.widgets.lines import MarkedLines

ENTRIES = (
    Entry("rac1", "oifcfg getif", "oifcfg getif -global", "2020-11-20T14:02:31.500+01:00", 12.0, text="eth1  private"),
    Entry("rac2-a-long-name.example", "interfaces", "ip -d link", "2020-11-20T14:02:33.000+01:00", 1300.0, "no answer"),
    Entry("rac1", "path", "DF ping 8972 bytes " + "to rac2 " * 30, "2020-11-20T14:02:32.000+01:00", 61.0),
)


@pytest.fixture
def ran(new_console: NewConsole) -> NewConsole:
    """A console whose runs have these entries."""

    def make(*engines: object, **options: object) -> object:
        made = engine(black_hole())
        made.journal.entries.extend(ENTRIES)
        return new_console(lambda: made, **options)

    return make  # type: ignore[return-value]


def selected(pilot: Pilot[None]) -> str:
    page = pilot.app.screen.query_one("#page", MarkedLines)
    return page.text.splitlines()[page._cursor]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_each_entry_is_one_line_and_a_failure_has_its_reason_below(width: int) -> None:
    lines, places = ran_lines(ENTRIES, width)
    assert len(places) == len(ENTRIES)
    assert all(width_of(line) <= width for line in lines) or width < 60
    text = plain(lines).splitlines()
    assert text[places[0]].startswith("14:02:31.500")
    assert "no answer" in text[places[1] + 1]
    assert places[2] == places[1] + 2


@pytest.mark.parametrize("key", sampled("157!"))
async def test_the_list_opens_from_every_main_screen(ran: NewConsole, key: str) -> None:
    async with ran().run_test() as pilot:
        await concluded(pilot)
        await pilot.press("exclamation_mark" if key == "!" else key, "at")
        await until(pilot, lambda: isinstance(pilot.app.screen, RanScreen) and "oifcfg getif" in shown(pilot, "page"))
        times = [line.split()[0] for line in shown(pilot, "page").splitlines() if line[2:3] == ":"]
        assert times[-3:] == ["14:02:33.000", "14:02:32.000", "14:02:31.500"]
        await pilot.press("at", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ReaderScreen))


async def test_enter_shows_what_the_selected_entry_returned_also_after_a_search(ran: NewConsole) -> None:
    async with ran().run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("at")
        await until(pilot, lambda: isinstance(pilot.app.screen, RanScreen) and bool(selected(pilot)))
        newest = selected(pilot)
        await pilot.press("G", "up")
        assert newest != selected(pilot)
        await until(pilot, lambda: "DF ping" in selected(pilot))
        await pilot.resize_terminal(120, 30)
        await until(pilot, lambda: "DF ping" in selected(pilot))
        await pilot.press("slash", *"getif -gl", "enter")
        await until(pilot, lambda: "getif -global" in selected(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, RanScreen))
        assert "eth1  private" in shown(pilot, "page")
