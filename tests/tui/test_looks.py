"""One picture of each screen at its most important size. All other tests compare text."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from checks.change.progress.change_events import Attested
from checks.change.record import change_journal as journal_of_changes
from checks.model.finding import Status
from tests.fixtures.databases import asked
from tests.tui.change_driving import PaperChanges, settled
from tests.tui.clusters import UNCHANGING, black_hole, engine
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.investigate_driving import PaperMaker, PaperSessions
from tests.tui.measure_driving import PaperMeasurements, agree
from tests.tui.traffic_driving import Console
from tests.tui.traffic_samples import cluster_events
from tests.unit.change_journals import journal, verification
from tui.screens.investigate.screen import InvestigateScreen

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def _in_one_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_checks(new_console: NewConsole, snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(new_console(lambda: engine(black_hole(), UNCHANGING)), terminal_size=size, run_before=concluded)


def test_paths(new_console: NewConsole, snap_compare: Compare) -> None:
    async def paths(pilot: Pilot[None]) -> None:
        await concluded(pilot)
        await pilot.press("2")
        await pilot.pause()

    assert snap_compare(new_console(lambda: engine(black_hole(), UNCHANGING)), terminal_size=(80, 24), run_before=paths)


def test_traffic(new_console: NewConsole, snap_compare: Compare) -> None:
    feed = FakeFeed()

    async def traffic(pilot: Pilot[None]) -> None:
        await concluded(pilot)
        await pilot.press("3")
        await Console(pilot, feed).emit(*cluster_events(60, 3))

    app = new_console(lambda: engine(black_hole(), UNCHANGING), new_feed=lambda: feed)
    assert snap_compare(app, terminal_size=(80, 24), run_before=traffic)


def test_database(new_console: NewConsole, snap_compare: Compare) -> None:
    async def database(pilot: Pilot[None]) -> None:
        await concluded(pilot)
        await pilot.press("4")
        await pilot.pause()

    assert snap_compare(new_console(lambda: engine(asked(2))), terminal_size=(80, 24), run_before=database)


def test_change(
    new_console: NewConsole, snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_of_changes, "now", lambda: "2026-11-20T18:02:31+01:00")
    journal(tmp_path, Attested("agree", "Ann Lee"), Attested("switch", "Bob"), verification(Status.PASS, Status.FAIL))

    async def change(pilot: Pilot[None]) -> None:
        await concluded(pilot)
        await pilot.press("5")
        await settled(pilot, "3 set MTU")
        await pilot.press("G")
        await pilot.pause()

    app = new_console(lambda: engine(black_hole(), UNCHANGING), changes=PaperChanges(tmp_path))
    assert snap_compare(app, terminal_size=(80, 24), run_before=change)


def test_report(
    new_console: NewConsole, snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    async def report(pilot: Pilot[None]) -> None:
        await concluded(pilot)
        await pilot.press("6")
        await Console(pilot, FakeFeed()).until(lambda: "~/" in shown(pilot, "report-file"))
        await pilot.pause()

    assert snap_compare(
        new_console(lambda: engine(black_hole(), UNCHANGING)), terminal_size=(80, 24), run_before=report
    )


def test_measure(new_console: NewConsole, snap_compare: Compare) -> None:
    source = PaperMeasurements()

    async def sends(pilot: Pilot[None]) -> None:
        await concluded(pilot)
        await pilot.press("7")
        await Console(pilot, FakeFeed()).until(lambda: "It takes up to" in shown(pilot, "measure-page"))
        await agree(pilot, "practice")
        await Console(pilot, FakeFeed()).until(lambda: "SENDING" in shown(pilot, "measure-line"))
        await pilot.pause()

    app = new_console(lambda: engine(black_hole(), UNCHANGING), measurements=source)
    assert snap_compare(app, terminal_size=(80, 24), run_before=sends)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_investigate(new_console: NewConsole, snap_compare: Compare, size: tuple[int, int]) -> None:
    async def asked(pilot: Pilot[None]) -> None:
        await concluded(pilot)
        await pilot.press("i")
        await until(pilot, lambda: isinstance(pilot.app.screen, InvestigateScreen) and "Next" in shown(pilot, "step"))

    app = new_console(lambda: engine(black_hole(), UNCHANGING), sessions=PaperSessions(PaperMaker()))
    assert snap_compare(app, terminal_size=size, run_before=asked)
