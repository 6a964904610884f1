"""Helpers of the console's tests: the display and the operator's keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from tests.tui.terminal import PATIENCE_S
from tui.console.app import ConsoleApp
from tui.console.export_state import Written
from tui.console.finding_rows import Section
from tui.screens.checks.finding_list import FindingList
from tui.screens.checks.screen import ChecksScreen
from tui.screens.report.screen import FORMS
from tui.widgets.choice_list import ChoiceList
from tui.widgets.lines import Lines

HEADINGS = (*(section.heading for section in Section), "Running", "Waivers not in force")


def shown(pilot: Pilot[None], part: str) -> str:
    """Return the text of a part of the screen, including the text that is scrolled out of sight."""
    return pilot.app.screen.query_one(f"#{part}", Lines).text


def listed(pilot: Pilot[None]) -> list[str]:
    """Return the causes, findings and running checks of the list, without the headings and the further lines of a
    cause."""
    lines = shown(pilot, "list").splitlines()
    return [line for line in lines if line.strip() not in ("", *HEADINGS) and not line.startswith("     ")]


def chosen(pilot: Pilot[None]) -> str:
    """Return the code of the selected finding."""
    row = pilot.app.screen.query_one("#list", FindingList).chosen
    return row.finding.code if row else ""


async def until(pilot: Pilot[None], so: Callable[[], bool]) -> None:
    """Wait until the condition holds; the deadline only ends a failed test."""
    end = time.monotonic() + PATIENCE_S
    while not so():
        assert time.monotonic() < end, "it has not come to that"
        await pilot.pause(0.005)
    await pilot.pause()


def running(pilot: Pilot[None], group: str = "run") -> bool:
    """Whether a worker of that group runs."""
    return any(worker.group == group and not worker.is_finished for worker in pilot.app.workers)


async def concluded(pilot: Pilot[None]) -> None:
    """Wait until the run is complete, counts, and is drawn."""
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    await pilot.pause()
    await until(pilot, lambda: not any(running(pilot, group) for group in ("run", "history")))
    await until(pilot, lambda: not app.state.run.running)
    await pilot.pause()


async def write(pilot: Pilot[None], form: str) -> Path:
    """Write the report in that format on the Report screen. Return the file."""
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    before = len(app.state.exports.done)
    app.screen.query_one(ChoiceList).chosen = [each.name for each in FORMS].index(form)
    app.simulate_key("enter")
    await until(pilot, lambda: len(app.state.exports.done) > before)
    done = app.state.exports.done[0]
    assert isinstance(done, Written), done
    return done.path


def checks_screen(pilot: Pilot[None]) -> ChecksScreen:
    """Return the Checks screen."""
    screen = pilot.app.screen
    assert isinstance(screen, ChecksScreen)
    return screen
