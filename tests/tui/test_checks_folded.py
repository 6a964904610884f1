"""Findings that are UNKNOWN for one reason are one row of the Checks screen, as they are one problem in reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from checks.model.check import Check, Kind, check
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.settings import Settings
from checks.report.folding import grouped_by_reason
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from tests.tui.clusters import TimelessEngine, engine, gatherers, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import checks_screen, concluded, listed, shown

REASON = "GV$SYSSTAT did not answer in time: an instance hangs."
OTHER = "prod2 is down."


def unknown_check(number: int, *reasons: str) -> Check:
    """A check that is UNKNOWN for each of these reasons."""
    kind = Kind(f"ACME-{number}-001", "It is not known")

    @check(f"acme-{number}", question="Is it known?", needs=("networks",), kinds=(kind,))
    def judge(facts: Cluster) -> Iterator[Finding]:
        """Know nothing."""
        for place, reason in enumerate(reasons):
            yield kind.finding(
                f"Figure {number}.{place} is not known.",
                status=Status.UNKNOWN,
                subject=f"figure {number}.{place}",
                seen=(reason,),
                next=[NextStep("Fix the cause named above.", (f"racwire check acme-{number}",))],
            )

    return judge


FOUR = (unknown_check(1, REASON), unknown_check(2, REASON, OTHER), unknown_check(3, REASON))


def engine_of(checks: Sequence[Check]) -> Engine:
    return engine(healthy(), checks)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_one_reason_is_one_row_with_all_its_checks(new_console: NewConsole, size: tuple[int, int]) -> None:
    async with new_console(lambda: engine_of(FOUR)).run_test(size=size) as pilot:
        await concluded(pilot)
        rows = listed(pilot)
        assert len(rows) == 2
        assert rows[0].split()[:4] == ["?", "3", "checks", "GV$SYSSTAT"]
        assert rows[1].split()[:2] == ["?", "acme-2"]
        assert "4 UNKNOWN" in shown(pilot, "counts")
        text = " ".join(shown(pilot, "finding").split())
        assert "Figure 1.0 is not known." in text
        assert "Likewise unknown for acme-2 (ACME-2-001), acme-3 (ACME-3-001)" in text
        assert "racwire check acme-1 acme-2 acme-3" in text


async def test_a_filter_shows_one_of_them_and_the_cursor_stays_on_the_row(new_console: NewConsole) -> None:
    async with new_console(lambda: engine_of(FOUR)).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("slash", *"acme-3", "enter")
        (row,) = listed(pilot)
        assert row.split()[:2] == ["?", "acme-3"]
        await pilot.press("escape", "down")
        await pilot.press("up")
        assert listed(pilot)[0].split()[1] == "3"


async def test_a_row_of_several_checks_runs_none_of_them_alone(new_console: NewConsole) -> None:
    wanted: list[str] = []

    def again(names: Sequence[str]) -> Engine:
        wanted.extend(names)
        return engine_of([c for c in FOUR if not names or c.id in names])

    async with new_console(lambda: engine_of(FOUR), again).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("R")
        await pilot.pause()
        assert wanted == []
        assert "3 checks have this reason: r runs all again" in shown(pilot, "lower-rule")
        await pilot.press("down", "R")
        await concluded(pilot)
        assert wanted == ["acme-2"]


async def test_facts_that_could_not_be_gathered_are_one_row(new_console: NewConsole) -> None:
    async def fails(session: object, known: Cluster) -> object:
        return Unknown("No listener answers at rac-scan:1521.")

    database = [c for c in discover().checks if "activity" in c.needs]

    def new() -> Engine:
        return TimelessEngine(
            tuple(database), Settings(), gatherers=gatherers(healthy(), database=fails, activity=fails)
        )

    async with new_console(new).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        report = checks_screen(pilot).state.run.report
        assert report is not None
        assert len(report.findings) >= len(database) > 2
        assert len(listed(pilot)) == len(list(grouped_by_reason(report.findings))) == 1
        text = " ".join(shown(pilot, "finding").split())
        assert all(c.id in text for c in database)


async def test_the_next_run_compares_the_findings_and_not_the_rows(new_console: NewConsole) -> None:
    runs = iter([FOUR, FOUR[:2]])
    async with new_console(lambda: engine_of(next(runs))).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("r")
        await concluded(pilot)
        rows = [row.split() for row in listed(pilot)]
        assert [row[:3] for row in rows] == [
            ["?", "2", "checks"],
            ["?", "acme-2", "figure"],
        ]
