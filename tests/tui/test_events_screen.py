"""Events in the console: the first line, the line above the keys, the list, and the way to Traffic."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from checks.model.facts import Cluster, Thresholds
from checks.model.settings import ConsoleSettings, Settings
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.traffic.recording import Recording
from checks.traffic.recording_replay import JudgedRecording
from checks.traffic.samples import Event
from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.test_traffic_recordings import record
from tests.tui.traffic_samples import BEGIN, links, node_sample
from tui.console.export_state import Written
from tui.console.past import of_recording
from tui.screens.traffic import screen

NOISE = random.Random(7)


@pytest.fixture(autouse=True)
def _draw_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "DRAW_AFTER_S", 0.005)
    monkeypatch.setattr(screen, "DRAW_EVERY_S", 0.005)


def samples(begin: float, seconds: int, fails_from: int = 999) -> Iterator[Event]:
    """Three nodes; from a second on, rac2 cannot reassemble packets."""
    nodes = ("rac1", "rac2", "rac3")
    for node in nodes:
        yield links(node, begin)
    for second in range(1, seconds + 1):
        for node in nodes:
            failed = 212 if node == "rac2" and second >= fails_from else 0
            yield node_sample(node, begin + second, NOISE, Ip_ReasmFails=failed)


async def test_an_event_is_on_every_screen_leads_to_its_moment_and_to_its_cause(
    new_console: NewConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    feed, begin = FakeFeed(), time.time() - 40
    facts: list[Cluster] = [healthy(), black_hole()]
    app = new_console(lambda: engine(facts.pop(0)), new_feed=lambda: feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("exclamation_mark")
        feed.emit(*samples(begin, 20))
        await until(pilot, lambda: "No event since" in shown(pilot, "events-foot"))
        assert "3 nodes (drops" in shown(pilot, "events-foot")
        await pilot.press("escape")
        assert app.current_mode == "checks"

        feed.emit(*(e for e in samples(begin, 40, fails_from=25) if e.at > begin + 20))
        await until(pilot, lambda: "reassembly failed on rac2" in shown(pilot, "lower-rule"))
        assert "! 1" in shown(pilot, "tabs")
        for key in "24567":
            await pilot.press(key)
            assert "reassembly failed on rac2" in shown(pilot, "lower-rule"), key
        await pilot.press("2")
        assert ": r looks for the cause" in shown(pilot, "lower-rule")

        await pilot.press("exclamation_mark")
        assert "reassembly failed" in shown(pilot, "events-list")
        assert "No finding is about it yet" in shown(pilot, "events-foot")
        await pilot.press("enter")
        await until(pilot, lambda: "playhead" in shown(pilot, "upper-rule"))
        assert "rac2 of 3" in shown(pilot, "upper-rule")
        await until(pilot, lambda: "FAILED  212/s" in shown(pilot, "traffic"))
        assert any("reassembly failed" in line for line in shown(pilot, "traffic").splitlines()), "a mark on the axis"

        await pilot.press("question_mark", "escape")
        assert "not live" in shown(pilot, "upper-rule"), "a page over the screen leaves its moment"
        await pilot.press("1", "3")
        await until(pilot, lambda: " now " in shown(pilot, "upper-rule"))
        assert "playhead" not in shown(pilot, "upper-rule")

        await pilot.press("r")
        await concluded(pilot)
        assert "rac3!" in shown(pilot, "header"), "the node at fault"
        await pilot.press("exclamation_mark", "e")
        await until(pilot, lambda: bool(app.state.exports.done))
        written = app.state.exports.done[0]
        assert isinstance(written, Written), written
        assert "packets were not reassembled on rac2" in written.path.read_text("utf-8")
        await pilot.press("d")
        assert "! Events" not in shown(pilot, "tabs")
        assert "No event" in shown(pilot, "events-foot")


async def test_events_are_judged_by_the_thresholds_of_the_run(new_console: NewConsole) -> None:
    feed, begin = FakeFeed(), time.time() - 40
    facts = msgspec.structs.replace(healthy(), thresholds=Thresholds(reassembly_fail_percent=99.0))
    async with new_console(lambda: engine(facts), new_feed=lambda: feed).run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        feed.emit(*samples(begin, 40, fails_from=25))
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: "reassembly failed" in shown(pilot, "events-list"))
        assert shown(pilot, "events-list").rstrip().endswith("W")


async def test_checks_run_by_themselves_where_the_settings_want_that(new_console: NewConsole) -> None:
    feed, begin = FakeFeed(), time.time() - 40
    ran: list[tuple[str, ...]] = []

    def new_engine(checks: tuple[str, ...]):  # type: ignore[no-untyped-def]
        ran.append(tuple(checks))
        return engine(healthy())

    settings = Settings(console=ConsoleSettings(on_event="check"))
    app = new_console(new_engine, new_feed=lambda: feed, settings=settings)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        assert ran == [()]
        feed.emit(*samples(begin, 40, fails_from=25))
        await until(pilot, lambda: len(ran) == 2)
        await concluded(pilot)
        assert "reassembly" in ran[1]
        assert [one.event.nodes for one in app.state.situation.new] == [("rac2",)], "no finding is about it"


async def test_events_of_a_recording_are_listed_and_enter_goes_there(new_console: NewConsole, tmp_path: Path) -> None:
    path = record(tmp_path / "lost.rec", healthy(), samples(BEGIN, 60, fails_from=30))
    with closing(Recording.open(path)) as recording:
        app = new_console(
            lambda: JudgedRecording(recording.header, (), Settings()), past=of_recording(recording), first="traffic"
        )
        async with app.run_test(size=(120, 40)) as pilot:
            await _event_of_recording(pilot)


async def _event_of_recording(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: "1 event" in shown(pilot, "tabs"))
    assert "reassembly failed on rac2: ! lists it" in shown(pilot, "lower-rule")
    await pilot.press("exclamation_mark")
    assert "reassembly failed" in shown(pilot, "events-list")
    await pilot.press("enter")
    await until(pilot, lambda: "rac2" in shown(pilot, "upper-rule") and "FAILED  212/s" in shown(pilot, "traffic"))


async def test_v_looks_again_at_all_that_passed_and_is_not_known_any_longer(new_console: NewConsole) -> None:
    feed, wanted = FakeFeed(), list[Sequence[str]]()

    def again(names: Sequence[str]) -> Engine:
        wanted.append(names)
        return engine(healthy(), tuple(check for check in discover() if check.id in names))

    app = new_console(lambda: engine(healthy()), again, new_feed=lambda: feed)
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        feed.emit(*samples(time.time() - 10, 12, fails_from=11))
        await until(pilot, lambda: "passed, not known since" in shown(pilot, "list"))
        await pilot.press("home", "down", "v")
        await concluded(pilot)
        (names,) = wanted
        assert "df-ping" in names
        assert "link-speed" not in names
