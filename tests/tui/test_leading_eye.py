"""What is new and bad takes the eye: the cursor of the list of events and of Checks, `u`, and the bell."""

from __future__ import annotations

import re
import time

import pytest

from checks.model.run_record import RunRecord
from checks.model.settings import ConsoleSettings, Settings
from tests.fixtures.clusters import cluster, node, with_interface
from tests.tui.clusters import black_hole, engine, healthy, without_database
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import chosen, concluded, listed, shown, until
from tests.unit.events_support import links
from tui.console import eye
from tui.screens.finding_page import FindingScreen


class Cables:
    """A feed of the links of three nodes, of which eth2 changes. Events of one kind within 10 s are one event."""

    def __init__(self) -> None:
        self.feed = FakeFeed()
        self.feed.emit(*(links(f"rac{number}", time.time()) for number in (1, 2, 3)))

    def pull(self, node: str) -> None:
        self.feed.emit(links(node, time.time(), eth2={"is_up": False}))

    def shrink(self, node: str) -> None:
        self.feed.emit(links(node, time.time(), eth2={"mtu": 1400}))

    def slow(self, node: str) -> None:
        self.feed.emit(links(node, time.time(), eth2={"speed_mbps": 1000}))

    def plug(self, node: str) -> None:
        self.feed.emit(links(node, time.time()))


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The apps that rang the bell."""
    rings: list[object] = []
    monkeypatch.setattr("tui.console.live_sampling.ring", rings.append)
    return rings


async def test_a_new_alarm_takes_the_cursor_of_the_list_of_events_unless_it_was_moved_just_now(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    cables = Cables()
    app = new_console(lambda: engine(healthy()), new_feed=lambda: cables.feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("exclamation_mark")
        cables.pull("rac2")
        await until(pilot, lambda: "eth2 of rac2 has no link" in shown(pilot, "events-foot"))
        cables.shrink("rac3")
        await until(pilot, lambda: "MTU of eth2 of rac3 changed" in shown(pilot, "events-foot"))
        assert "Backspace back" in shown(pilot, "keys")
        await pilot.press("backspace")
        assert "eth2 of rac2 has no link" in shown(pilot, "events-foot")
        cables.slow("rac1")
        await until(pilot, lambda: "eth2 of rac1" in shown(pilot, "events-list"))
        assert "eth2 of rac2 has no link" in shown(pilot, "events-foot"), "the operator moved the cursor just now"
        monkeypatch.setattr(eye, "HOLDS_S", 0.0)
        await pilot.press("u")
        assert "peed of eth2 of rac1 changed" in shown(pilot, "events-foot")


async def test_the_list_opens_at_the_alarm_of_the_line_from_every_screen(new_console: NewConsole) -> None:
    cables = Cables()
    app = new_console(lambda: engine(healthy()), new_feed=lambda: cables.feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("u")
        assert "There is no alarm." in shown(pilot, "lower-rule")
        await pilot.press("exclamation_mark")
        cables.pull("rac2")
        await until(pilot, lambda: "eth2 of rac2 has no link" in shown(pilot, "events-foot"))
        cables.shrink("rac3")
        await until(pilot, lambda: "MTU of eth2 of rac3 changed" in shown(pilot, "events-foot"))
        await pilot.press("down")
        assert "eth2 of rac2 has no link" in shown(pilot, "events-foot")
        for key in "1234567":
            # From Traffic, where Enter on an event leads, the list is as it was left.
            for way in ("u",) if key == "3" else ("exclamation_mark", "u"):
                await pilot.press("exclamation_mark", "down", key, way)
                assert "MTU of eth2 of rac3 changed" in shown(pilot, "events-foot"), (key, way)


async def test_a_new_alarm_takes_the_selection_of_checks_with_a_way_back(new_console: NewConsole) -> None:
    cables = Cables()
    app = new_console(lambda: engine(healthy()), new_feed=lambda: cables.feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        assert listed(pilot)[0].startswith(" ▸ No problem was found")
        cables.pull("rac2")
        await until(pilot, lambda: "+F eth2 of rac2 has no link" in shown(pilot, "list"))
        assert " ".join(shown(pilot, "finding").split()).startswith("New since the run: since ")
        assert "eth2 of rac2 has no link." in shown(pilot, "finding")
        assert "1 new" in shown(pilot, "counts")
        assert "rac2!" in shown(pilot, "header")
        assert "Backspace back" in shown(pilot, "keys")
        passed = re.compile(r"▸ · \d+ passed, not known since \d\d:\d\d:\d\d")
        assert passed.search(shown(pilot, "list"))
        await pilot.press("backspace")
        assert "No problem was found" not in shown(pilot, "list") + shown(pilot, "finding")
        assert "eth2 of rac2 has no link." not in shown(pilot, "finding")
        assert "Backspace" not in shown(pilot, "keys")


async def test_a_new_fail_of_a_run_takes_the_selection_from_a_cause_that_is_over(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eye, "HOLDS_S", 0.0)
    changed = without_database(cluster([node(1), node(2), with_interface(node(3), "eth1", mtu=1500)]))
    app = new_console(lambda: engine(black_hole()), lambda: engine(changed))
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("right", "down")
        before = chosen(pilot)
        await pilot.press("r")
        await concluded(pilot)
        assert shown(pilot, "finding").startswith("eth1 of rac3 has MTU 1500")
        await pilot.press("backspace")
        assert chosen(pilot) == before
        assert shown(pilot, "finding").startswith("Over, verified ")


async def test_a_cable_that_is_back_is_over_at_once_on_checks_and_in_the_first_line(new_console: NewConsole) -> None:
    cables = Cables()
    unplugged = without_database(cluster([node(1), with_interface(node(2), "eth2", operational_state="down"), node(3)]))
    app = new_console(lambda: engine(healthy()), lambda: engine(unplugged), new_feed=lambda: cables.feed)
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        cables.pull("rac2")
        await until(pilot, lambda: "+F eth2 of rac2 has no link" in shown(pilot, "list"))
        await pilot.press("r")
        await concluded(pilot)
        assert any(row.startswith("+F ▸ eth2 of rac2 has no link") for row in listed(pilot))
        assert "rac2!" in shown(pilot, "header")
        assert "r looks" not in shown(pilot, "lower-rule"), "a finding is about it"

        cables.plug("rac2")
        await until(pilot, lambda: "was so until" in shown(pilot, "list"))
        assert any(row.startswith("-F ▸ eth2 of rac2 has no link") for row in listed(pilot))
        assert re.match(r"Was so until [\d:]+; v proves it\.", shown(pilot, "finding"))
        assert "rac2!" not in shown(pilot, "header")
        assert "No problem was found" not in shown(pilot, "list")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, FindingScreen)
        assert shown(pilot, "page").startswith("Was so until ")
        await pilot.press("escape", "exclamation_mark")
        assert re.search(r"until [\d:]+\.", shown(pilot, "events-foot"))


async def test_what_a_gate_read_is_newer_than_a_run_within_the_stop(new_console: NewConsole) -> None:
    app = new_console(lambda: engine(black_hole()))
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        assert "rac3!" in shown(pilot, "header")
        gates = await engine(healthy()).run()
        app._history.add(RunRecord(report=gates, ended=time.time(), is_gate=True))
        await until(pilot, lambda: "FAIL" not in shown(pilot, "counts"))
        assert "rac3!" not in shown(pilot, "header")


@pytest.mark.parametrize("is_on", [True, False])
async def test_the_bell_rings_once_for_each_new_alarm(new_console: NewConsole, rung: list[object], is_on: bool) -> None:
    cables = Cables()
    settings = Settings(console=ConsoleSettings(bell=is_on))
    app = new_console(lambda: engine(healthy()), new_feed=lambda: cables.feed, settings=settings)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        cables.pull("rac2")
        await until(pilot, lambda: "eth2 of rac2" in shown(pilot, "lower-rule"))
        cables.shrink("rac3")
        await until(pilot, lambda: "! 2" in shown(pilot, "tabs"))
        cables.plug("rac2")
        await until(pilot, lambda: "has a link again" in shown(pilot, "lower-rule"))
        assert len(rung) == (2 if is_on else 0)
