"""A cluster in which every name is hostile is drawn like any other: control characters are displayed, not executed."""

from __future__ import annotations

import re

from textual.pilot import Pilot

from tests.fixtures.hostile import hostile_cluster
from tests.tui.clusters import engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown
from tui.widgets.lines import Lines

OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff\uffff]"
)


def drawn(pilot: Pilot[None]) -> list[str]:
    """Return the text of everything on the screen, including the text that is scrolled out of sight."""
    return [lines.text for lines in pilot.app.screen.query(Lines)]


async def test_every_screen_of_the_report_escapes_hostile_names(new_console: NewConsole) -> None:
    facts = hostile_cluster()
    async with new_console(lambda: engine(facts)).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        for keys in ("1", "enter", "escape", "j", "j", "2", "down", "right", "enter", "escape", "4", "6"):
            await pilot.press(keys)
            await pilot.pause()
            assert not [text for text in drawn(pilot) if OBEYED.search(text)], keys
        assert "rac1\\x1b]0;owned\\x07" in shown(pilot, "header")
        assert "prod2\\x9b31m\\x9d0;owned\\x9c and prod3" in " ".join(shown(pilot, "report-says").split())
        await pilot.press("1")
        await pilot.pause()
        assert "df-ping" in shown(pilot, "list")
