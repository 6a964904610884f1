"""What the operator sees and does, in the words of the tests."""

from __future__ import annotations

from textual.pilot import Pilot

from tui.app import ConsoleApp
from tui.screens.checks import ChecksScreen
from tui.widgets.finding_list import FindingList
from tui.widgets.lines import Lines


def shown(pilot: Pilot[None], part: str) -> str:
    """The text of a part of the screen, also what is scrolled out of sight."""
    return pilot.app.screen.query_one(f"#{part}", Lines).text


def chosen(pilot: Pilot[None]) -> str:
    """The code of the chosen finding."""
    row = pilot.app.screen.query_one("#list", FindingList).chosen
    return row.finding.code if row else ""


async def concluded(pilot: Pilot[None]) -> None:
    """Wait until the run is over and drawn."""
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


def checks_screen(pilot: Pilot[None]) -> ChecksScreen:
    """The Checks screen."""
    screen = pilot.app.screen
    assert isinstance(screen, ChecksScreen)
    return screen
