"""The guided path on the Checks screen: from the cause to its proof, over several runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.model.check import Kind, check
from checks.model.facts import Cluster
from checks.model.finding import Finding, Status
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import checks_screen, chosen, concluded, listed, shown
from tui.screens.finding_page import FindingScreen
from tui.widgets.lines import Lines

LOST = Kind("ACME-LOST-001", "Blocks are lost", "They are sent again.")


def losing(blocks: int, *nodes: str) -> Engine:
    @check("acme-lost", question="Are blocks lost?", needs=("networks",), kinds=(LOST,))
    def judge(facts: Cluster) -> Iterator[Finding]:
        """Find that many lost blocks."""
        yield LOST.finding(
            f"{blocks} blocks were lost.",
            status=Status.FAIL if blocks > 9 else Status.WARN,
            subject=f"{blocks} lost",
            nodes=nodes,
            extent=(blocks, "blocks"),
        )

    return engine(healthy(), (judge,))


def some(facts: Cluster, names: Sequence[str]) -> Engine:
    return engine(facts, tuple(c for c in discover() if not names or c.id in names))


async def test_the_first_step_is_in_sight_at_80_columns(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        pane = pilot.app.screen.query_one("#finding", Lines)
        in_sight = pane.text.splitlines()[: pane.size.height]
        assert any(line.startswith("Next 1. ") for line in in_sight)
        cause = " ".join(" ".join(shown(pilot, "list").splitlines()[:3]).split())
        assert "192.168.11.0/24" in cause
        assert "rac3" in cause


async def test_v_runs_only_the_checks_of_the_cause_and_says_that_it_is_gone(new_console: NewConsole) -> None:
    wanted: list[Sequence[str]] = []

    def repaired(names: Sequence[str]) -> Engine:
        wanted.append(names)
        return some(healthy(), names)

    async with new_console(lambda: engine(black_hole()), repaired).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("v")
        await concluded(pilot)
        (names,) = wanted
        assert names[0] == "df-ping"
        assert len(names) < 6
        assert re.match(r"─ Verified [\d:]+: it is over", shown(pilot, "lower-rule"))
        assert listed(pilot)[1].startswith("-F ▸ Jumbo frames")
        assert re.search(r"over, verified [\d:]+", shown(pilot, "list"))
        assert chosen(pilot) == "IC-PATH-003"
        assert re.match(r"Over, verified [\d:]+\.", shown(pilot, "finding"))
        assert "rac3!" not in shown(pilot, "header")


async def test_v_says_what_still_fails(new_console: NewConsole) -> None:
    app = new_console(lambda: engine(black_hole()), lambda names: some(black_hole(), names))
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("v")
        await concluded(pilot)
        assert shown(pilot, "lower-rule").startswith("─ Not fixed: it is still so, as of ")
        assert listed(pilot)[0].startswith(" F ▸ Jumbo frames")


async def test_what_is_gone_stays_over_further_runs_until_it_is_dismissed(new_console: NewConsole) -> None:
    app = new_console(lambda: engine(black_hole()), lambda: engine(healthy()))
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        for _ in range(2):
            await pilot.press("r")
            await concluded(pilot)
            assert listed(pilot)[1].startswith("-F ▸ Jumbo frames")
        assert chosen(pilot) == "IC-PATH-003"
        await pilot.press("d")
        assert "Jumbo" not in shown(pilot, "list")
        await pilot.press("r")
        await concluded(pilot)
        assert "Jumbo" not in shown(pilot, "list")


async def test_the_same_code_at_the_same_place_is_the_same_problem(new_console: NewConsole) -> None:
    app = new_console(lambda: losing(28, "rac1", "rac2", "rac3"), lambda: losing(1, "rac2"))
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("r")
        await concluded(pilot)
        assert listed(pilot) == ["↓W acme-lost       28 → 1 blocks"]
        assert "28 → 1 blocks" in " ".join(shown(pilot, "finding").split())
        assert "0 new  0 over" in shown(pilot, "lower-rule")


async def test_a_new_problem_is_in_sight_after_a_rerun_of_a_healthy_cluster(new_console: NewConsole) -> None:
    app = new_console(lambda: engine(healthy()), lambda: engine(black_hole()))
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("r")
        await concluded(pilot)
        assert chosen(pilot) == "IC-PATH-003"
        assert pilot.app.screen.query_one("#list", Lines).above == 0


async def test_earlier_runs_of_the_session_can_be_revisited(new_console: NewConsole) -> None:
    app = new_console(lambda: engine(black_hole()), lambda: engine(healthy()))
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("r")
        await concluded(pilot)
        await pilot.press("left_square_bracket")
        assert "run 1 of 2" in shown(pilot, "counts")
        assert listed(pilot)[0].startswith(" F ▸ Jumbo frames")
        await pilot.press("left_square_bracket")
        assert "no earlier run" in shown(pilot, "lower-rule")
        await pilot.press("right_square_bracket")
        assert "run 1" not in shown(pilot, "counts")
        assert listed(pilot)[1].startswith("-F ▸ Jumbo frames")


async def test_links_are_followed_and_backspace_returns(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("right", "down", "enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, FindingScreen)
        finding = shown(pilot, "page")
        assert "Cause    → CAUSE-12" in finding
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "FAIL  supported: CAUSE-12" in shown(pilot, "page")
        await pilot.press("backspace")
        await pilot.pause()
        assert shown(pilot, "page") == finding
        await pilot.press("backspace")
        assert checks_screen(pilot)


async def test_the_filter_searches_the_whole_text(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("slash", *"giants", "enter")
        assert [row.split()[:2] for row in listed(pilot)] == [["F", "df-ping"]]
