"""The Measure screen, operated by keys, with plans and results that a test specifies: nothing is sent."""

from __future__ import annotations

import re

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.conftest import NewConsole
from tests.tui.driving import shown, until
from tests.tui.measure_driving import CHANGING, LOADED, PaperMeasurements, agree, line, measuring, page
from tests.unit.measurement_support import hashes, mix, sizes
from tui.console.app import ConsoleApp
from tui.screens.ask import AskScreen
from tui.text.line import plain
from tui.text.measurement_lines import measurement_lines


def state(pilot: Pilot[None]) -> ConsoleApp:
    assert isinstance(pilot.app, ConsoleApp)
    return pilot.app


async def test_only_the_typed_name_of_this_cluster_sends(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source) as pilot:
        assert source.prepared == [("sizes", True)], "the facts of the checks are enough for a plan"
        assert "racwire measure sizes --go practice" in page(pilot)
        assert line(pilot).startswith("Nothing is sent before")
        await agree(pilot, "prac")
        assert "This cluster is called practice, not prac" in shown(pilot, "ask-rule")
        await pilot.press("escape")
        assert source.sent == []
        await agree(pilot, "practice")
        await until(pilot, lambda: source.is_sending)
        assert source.sent == [("practice", "")]
        assert source.prepared[-1] == ("sizes", False), "what refuses to send is read again"


async def test_while_it_sends_every_screen_says_so_and_the_rows_fill(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source) as pilot:
        await agree(pilot, "practice")
        await until(pilot, lambda: "SENDING" in line(pilot))
        assert line(pilot) == "SENDING 800 kb/s to rac2 on 192.168.10.0/24   4 of 11 steps of sizes   s stops"
        assert "8,192 bytes, one at a time" in page(pilot)
        assert "one at a time bytes" in page(pilot)
        assert "sending now" in shown(pilot, "measure-list")
        for key in "123456":
            await pilot.press(key)
            assert shown(pilot, "header").endswith("SENDING sizes")
        await pilot.press("1", "r")
        assert "would disturb the measurement" in shown(pilot, "lower-rule")
        await pilot.press("7", "g")
        assert not isinstance(pilot.app.screen, AskScreen)
        source.done.set()
        await until(pilot, lambda: not source.is_sending and bool(source.kept))
        await until(pilot, lambda: line(pilot) == "sizes is done after 1 min 30 s.")
        assert "The result is in /state/sizes-1.json." in shown(pilot, "lower-rule")
        assert "SENDING" not in shown(pilot, "header")
        report = state(pilot).state.report
        assert report is not None
        assert report.measurements == (source.kept[0],), "a report that is written now has it"
        await pilot.press("enter")
        assert shown(pilot, "page") == plain(measurement_lines(source.kept[0], 78))


async def test_a_key_stops_it_and_what_was_measured_is_kept(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source) as pilot:
        await agree(pilot, "practice")
        await until(pilot, lambda: source.is_sending)
        await pilot.press("s")
        await until(pilot, lambda: "stopped after 1 min 30 s, because the operator stopped it." in line(pilot))
        assert [one.stopped for one in source.kept] == ["The operator stopped it."]
        assert "! " in shown(pilot, "measure-list")
        await pilot.press("j", "k")
        await until(pilot, lambda: "Last 8 KB" in page(pilot) and "stopped early" in page(pilot))


async def test_before_anything_is_sent_esc_ends_the_reading(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source) as pilot:
        source.reading.clear()
        await agree(pilot, "practice")
        await until(pilot, lambda: line(pilot) == "PREPARING sizes: reading the cluster again   s stops")
        await pilot.press("escape")
        await until(pilot, lambda: line(pilot) == "Stopped before anything was sent.")
        assert source.sent == []


async def test_quitting_stops_it_and_says_so(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source) as pilot:
        await agree(pilot, "practice")
        await until(pilot, lambda: source.is_sending)
        await pilot.press("2", "q")
    assert not source.is_sending
    assert [one.stopped for one in source.kept] == ["The operator stopped it."]
    farewell = state(pilot).state.measures.farewell()
    assert farewell.endswith("because the operator stopped it. The result is in /state/sizes-1.json.")


async def test_what_the_plan_refuses_is_not_asked_for(new_console: NewConsole) -> None:
    async with measuring(new_console, PaperMeasurements(CHANGING)) as pilot:
        assert "F ME-LOAD-003 The change 2026-11-20-a is open" in page(pilot)
        await pilot.press("g")
        assert not isinstance(pilot.app.screen, AskScreen)
        assert "ME-LOAD-003 forbids it" in shown(pilot, "lower-rule")


async def test_a_loaded_cluster_is_measured_with_a_reason_only(new_console: NewConsole) -> None:
    source = PaperMeasurements(tried=[LOADED])
    async with measuring(new_console, source) as pilot:
        await agree(pilot, "practice")
        await until(pilot, lambda: line(pilot) == "Refused; nothing was sent.")
        assert "F ME-LOAD-006 The interconnect is loaded" in page(pilot)
        assert "g asks for the reason" in page(pilot)
        assert source.kept == []
        await agree(pilot, "practice", "short")
        assert "at least 10 characters" in shown(pilot, "ask-rule")
        focused = pilot.app.screen.focused
        assert isinstance(focused, Input)
        focused.value = "agreed with Ann"
        await pilot.press("enter")
        await until(pilot, lambda: source.is_sending)
        assert source.sent[-1] == ("practice", "agreed with Ann")


async def test_a_plan_that_has_changed_meanwhile_is_not_sent(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    source.peaks = iter((133.2e6, 500e6))
    async with measuring(new_console, source) as pilot:
        await agree(pilot, "practice")
        await until(pilot, lambda: "has changed since this plan was made" in line(pilot))
        assert source.sent == []
        assert "500.0 Mb/s on a path" in page(pilot)


async def test_without_the_name_of_the_cluster_nothing_can_be_typed(new_console: NewConsole) -> None:
    async with measuring(new_console, PaperMeasurements(cluster="")) as pilot:
        await pilot.press("g")
        assert not isinstance(pilot.app.screen, AskScreen)
        assert "The name of this cluster is not known" in shown(pilot, "lower-rule")


async def test_n_plans_for_the_next_path_and_the_command_names_it(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source) as pilot:
        await pilot.press("n")
        await until(pilot, lambda: "to rac3 (192.168.10.3" in page(pilot))
        assert "racwire measure sizes --on 192.168.10.0/24 --to rac3 --go practice" in page(pilot)
        await agree(pilot, "practice")
        await until(pilot, lambda: "to rac3 on 192.168.10.0/24" in line(pilot))
        await pilot.press("s")
        await until(pilot, lambda: "stopped after" in line(pilot))
        await pilot.press("n")
        await until(pilot, lambda: "to rac2 (192.168.10.2" in page(pilot))
        assert "--to" not in page(pilot)


async def test_another_selection_ends_the_reading_for_the_last_one(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source) as pilot:
        source.reading.clear()
        await pilot.press("j", "j")
        await until(pilot, lambda: "Reading the cluster" in page(pilot))
        source.reading.set()
        await until(pilot, lambda: "mix: 11 message sizes" in page(pilot))
        assert [kind for kind, _ in source.prepared] == ["sizes", "mix"]
        await pilot.press("r")
        await until(pilot, lambda: source.prepared[-1] == ("mix", False))
        await pilot.press("G")
        assert "racwire drill link" in page(pilot)
        assert "g measure" not in shown(pilot, "keys")


async def test_the_list_has_the_last_results_with_their_age(new_console: NewConsole) -> None:
    source = PaperMeasurements()
    source.found = (sizes(9000), mix(), hashes(mtu=9000, is_harm=True, stopped="rac1: 1 dropped packet."))
    async with measuring(new_console, source, (120, 40)) as pilot:
        await until(pilot, lambda: "8 KB" in shown(pilot, "measure-list"))
        rows = shown(pilot, "measure-list").splitlines()
        assert "us p50" in rows[0]
        assert re.match(r" sizes +\d+ (h|d) +8 KB", rows[0])
        assert rows[1].split() == ["rate", "no", "result"]
        assert rows[2].endswith("! at MTU 1500"), "another MTU than that of the cluster: no figure"
        assert " F " in rows[3]
        assert "rac1 -> rac2 on 192.168.10.0/24" in page(pilot), "a large screen has the last figures below the plan"


@pytest.mark.parametrize("size", [(60, 16), (200, 50)])
async def test_the_line_fits_any_width(new_console: NewConsole, size: tuple[int, int]) -> None:
    source = PaperMeasurements()
    async with measuring(new_console, source, size) as pilot:
        assert "7" in shown(pilot, "tabs")
        await agree(pilot, "practice")
        await until(pilot, lambda: line(pilot).startswith("SENDING"))
        assert line(pilot).endswith("s stops")
        assert len(shown(pilot, "measure-line")) <= size[0]
        assert shown(pilot, "header").endswith("SENDING sizes")
