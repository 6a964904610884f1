"""Text pasted into a question of the Change screen: from a ticket, a chat, another terminal."""

from __future__ import annotations

from pathlib import Path

from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from checks.change.progress.change_events import Noted
from tests.tui.change_driving import PaperChanges, console, last
from tests.tui.conftest import NewConsole
from tests.tui.driving import shown
from tests.unit.change_journals import journal


def line(pilot: Pilot[None]) -> Input:
    focused = pilot.app.screen.focused
    assert isinstance(focused, Input)
    return focused


async def paste(pilot: Pilot[None], text: str) -> None:
    line(pilot).post_message(events.Paste(text))
    await pilot.pause()


async def test_a_paste_is_one_escaped_line_and_truncation_is_reported(new_console: NewConsole, tmp_path: Path) -> None:
    journal(tmp_path / "changes")
    changes = PaperChanges(tmp_path / "changes")
    async with console(new_console, changes) as pilot:
        await pilot.pause()
        await pilot.press("n")
        await paste(pilot, "first line\n\tsecond \x1b[31m\x9b2J\u202e")
        assert line(pilot).value == r"first line second \x1b[31m\x9b2J\x202e"
        line(pilot).select_all()
        await paste(pilot, "x" * 10_000)
        assert line(pilot).value == "x" * 500
        assert "cut off at 500 characters" in shown(pilot, "ask-rule")
        await pilot.press("enter")
        await pilot.pause()
    assert last(changes) == Noted("agree", "x" * 500)
