"""Waived findings on the Checks screen."""

from __future__ import annotations

from datetime import date

import pytest

from checks.model.settings import Settings
from checks.model.settings_waivers import Waiver
from checks.run.engine import Engine
from tests.tui.clusters import UNCHANGING, TimelessEngine, black_hole, gatherers
from tests.tui.conftest import NewConsole
from tests.tui.driving import chosen, concluded, listed, shown
from tui.widgets.lines import Lines

# --- waivers ----------------------------------------------------------------------------------------------------------


def waiving(*waivers: Waiver) -> Engine:
    """An engine that always finds one failure and one thing not known, with these waivers."""
    return TimelessEngine(UNCHANGING, Settings(waivers=waivers), gatherers=gatherers(black_hole()))


def waiver(**more: object) -> Waiver:
    fields = {"code": "IC-PATH-003", "subject": "eth2: *", "reason": "the switch is replaced in January"}
    return Waiver(**{**fields, "by": "Ann Lee", "expires": date(9999, 12, 31), "status": "FAIL", **more})  # type: ignore[arg-type]


async def test_a_waived_finding_is_shown_separately(new_console: NewConsole) -> None:
    async with new_console(lambda: waiving(waiver())).run_test() as pilot:
        await concluded(pilot)
        first, second = (line.split() for line in listed(pilot)[:2])
        assert (first[:2], second[:2]) == (["?", "interfaces"], ["wF", "df-ping"])
        assert shown(pilot, "counts").split() == ["1", "UNKNOWN", "1", "waived", "1", "PASS"]
        assert "Waived" in shown(pilot, "list")
        await pilot.press("j")
        text = " ".join(shown(pilot, "finding").split())
        assert "both ways. FAIL IC-PATH-003 As of" in text
        assert "Waived until 9999-12-31 by Ann Lee: the switch is replaced in January" in text


async def test_a_waived_finding_marks_no_node_and_stays_in_the_problems_and_the_filter(
    new_console: NewConsole,
) -> None:
    async with new_console(lambda: waiving(waiver())).run_test() as pilot:
        await concluded(pilot)
        assert "rac3!" not in shown(pilot, "header")
        await pilot.press("p")
        assert [line.split()[1] for line in listed(pilot)] == ["interfaces", "df-ping"]
        await pilot.press("slash", *"waived")
        await pilot.pause()
        assert [line.split()[1] for line in listed(pilot)] == ["df-ping"]


async def test_a_finding_that_got_worse_says_that_its_waiver_is_lifted(new_console: NewConsole) -> None:
    async with new_console(lambda: waiving(waiver(status="WARN"))).run_test() as pilot:
        await concluded(pilot)
        assert "rac3!" in shown(pilot, "header")
        assert listed(pilot)[0].split()[:2] == ["F", "▸"]
        text = " ".join(shown(pilot, "finding").split())
        assert "Waiver by Ann Lee, lifted. It was waived as WARN, and is FAIL now." in text


async def test_waivers_that_do_not_apply_are_below_the_findings_and_scroll_into_view(new_console: NewConsole) -> None:
    ended = [waiver(code=f"IC-PATH-00{n}", subject="eth2: black hole", expires=date(2020, 1, n)) for n in range(1, 4)]
    async with new_console(lambda: waiving(*ended)).run_test(size=(60, 12)) as pilot:
        await concluded(pilot)
        shown_lines = shown(pilot, "list").splitlines()
        assert [line.split()[0] for line in shown_lines[-3:]] == ["expired:"] * 3
        lines = pilot.app.screen.query_one("#list", Lines)
        assert lines.below > 0
        await pilot.press("G")
        assert lines.below == 0
        assert chosen(pilot) == "IC-IFACE-001"


async def test_a_waiver_that_ends_between_two_runs_makes_a_new_problem(new_console: NewConsole) -> None:
    app = new_console(lambda: waiving(waiver()), lambda: waiving(waiver(status="WARN")))
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("r")
        await concluded(pilot)
        assert listed(pilot)[0].startswith("+F ▸ Jumbo")
        assert "1 new" in shown(pilot, "lower-rule")


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (50, 12)])
async def test_the_counts_include_waived_findings(new_console: NewConsole, size: tuple[int, int]) -> None:
    async with new_console(lambda: waiving(waiver())).run_test(size=size) as pilot:
        await concluded(pilot)
        assert "1 waived" in shown(pilot, "counts")
