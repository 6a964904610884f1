"""The Checks screen, driven by keys."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from checks.model.facts import Cluster
from checks.sources.nodes.session import Session
from tests.fixtures.clusters import cluster, node, with_interface
from tests.support.sampling import sampled
from tests.tui.clusters import black_hole, engine, healthy, node_unread
from tests.tui.conftest import NewConsole
from tests.tui.driving import checks_screen, chosen, concluded, listed, shown, until
from tui.widgets.lines import Lines

PING_CHECKS = ("df-ping", "effective-route", "fragments", "haip-path", "neighbours", "udp-path")
"""The checks that wait for the pings."""


class Gate:
    """A gatherer that waits until the test lets it go on."""

    def __init__(self, facts: Cluster, group: str) -> None:
        self.open = asyncio.Event()
        self.reached = asyncio.Event()
        self.closed_by_engine = False
        self._given = getattr(facts, group)

    async def __call__(self, session: Session, known: Cluster) -> object:
        self.reached.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.closed_by_engine = True
            raise
        return self._given


async def test_the_cause_is_first_with_its_steps_before_its_reasons(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        assert listed(pilot)[0].split()[:3] == ["F", "▸", "Jumbo"]
        assert "1 cause" in shown(pilot, "counts")
        assert "1 FAIL" in shown(pilot, "counts")
        text = " ".join(shown(pilot, "finding").split())
        assert text.startswith("Jumbo frames vanish on 192.168.11.0/24 between rac3 and every other node, both ways.")
        assert "pass. FAIL supported: CAUSE-12 As of " in text
        parts = ("Next 1. ", "Because", "Then 2. ", "CHANGE", "df-ping (IC-PATH-003)", "Excluded", "possible on")
        assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
        assert "Why" not in text


async def test_a_cause_unfolds_its_findings_and_folds_them_from_each_of_them(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        folded = shown(pilot, "list")
        assert "df-ping" not in folded
        await pilot.press("right")
        await pilot.pause()
        assert listed(pilot)[0].split()[:2] == ["F", "▾"]
        assert listed(pilot)[1].startswith("   F df-ping")
        await pilot.press("down")
        await pilot.pause()
        text = " ".join(shown(pilot, "finding").split())
        assert "both ways. At most 1500 bytes pass. FAIL IC-PATH-003 As of " in text
        for part in ("Seen", "Expected", "Why", "Next", "Sources"):
            assert part in text
        await pilot.press("left")
        await pilot.pause()
        assert shown(pilot, "list") == folded
        assert "CAUSE-12" in shown(pilot, "finding")
        await pilot.press("left")
        assert shown(pilot, "list") == folded


async def test_the_rows_below_a_cause_follow_it_into_the_next_run(new_console: NewConsole) -> None:
    app = new_console(lambda: engine(black_hole()), lambda: engine(black_hole()), lambda: engine(healthy()))
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("right", "down", "r")
        await concluded(pilot)
        assert listed(pilot)[1].startswith("   F df-ping")
        assert "IC-PATH-003" in shown(pilot, "finding")
        await pilot.press("r")
        await concluded(pilot)
        assert "Causes" not in shown(pilot, "list")
        assert [row[:4] for row in listed(pilot)][1:3] == ["-F ▾", "-  F"]


async def test_the_header_names_cluster_nodes_and_networks(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        header = shown(pilot, "header")
        assert header.split() == (
            "racwire prodrac rac1* rac2 rac3! GI 19.0.0 eth1 9000 eth2 9000 live 1 s".split()  # noqa: SIM905
        )


async def test_while_facts_are_gathered_results_are_shown_and_the_cursor_keeps_its_finding(
    new_console: NewConsole,
) -> None:
    facts = black_hole()
    gate = Gate(facts, "paths")
    async with new_console(lambda: engine(facts, paths=gate)).run_test() as pilot:
        await until(pilot, lambda: checks_screen(pilot).state.run.pending == PING_CHECKS)
        assert "· df-ping" in shown(pilot, "list")
        assert "df-ping" not in chosen(pilot)
        await pilot.press("G", "right", *"jjj")
        selected = chosen(pilot)
        assert selected.startswith("IC-")
        gate.open.set()
        await concluded(pilot)
        assert listed(pilot)[0].lstrip().startswith("F ▸ Jumbo")
        assert chosen(pilot) == selected


async def test_until_the_operator_moves_the_worst_finding_is_selected(new_console: NewConsole) -> None:
    facts = black_hole()
    gate = Gate(facts, "paths")
    async with new_console(lambda: engine(facts, paths=gate)).run_test() as pilot:
        await until(pilot, lambda: chosen(pilot) == "IC-BOOT-001")
        gate.open.set()
        await concluded(pilot)
        assert chosen(pilot) == "IC-PATH-003"


async def test_the_filter_narrows_with_each_letter_and_esc_clears_it(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        everything = shown(pilot, "list")
        await pilot.press("slash", *"mtu")
        await pilot.pause()
        left = listed(pilot)
        assert {"boot-mtu", "df-ping", "mtu-consistency"} <= {line.split()[1] for line in left}
        assert "rp-filter" not in shown(pilot, "list")
        await pilot.press("enter", "j")
        assert f"/mtu  {len(left)} of " in shown(pilot, "upper-rule")
        await pilot.press("escape")
        await pilot.pause()
        assert shown(pilot, "list") == everything


async def test_a_filter_without_matches_says_so(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("slash", *"zzz")
        await pilot.pause()
        assert "No finding matches /zzz; Esc clears the filter." in " ".join(shown(pilot, "finding").split())


async def test_p_shows_only_problems(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("p")
        assert [line.split()[0] for line in listed(pilot)] == ["F"]
        assert "passed" not in shown(pilot, "list")
        assert "problems only" in shown(pilot, "counts")
        await pilot.press("p")
        assert "passed" in shown(pilot, "list")


async def test_enter_shows_the_cause_its_findings_and_the_evidence(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("enter")
        page = shown(pilot, "page")
        parts = ("Jumbo frames", "CAUSE-12", "Next", "Because", "FAIL  IC-PATH-003", "Seen", "Why", "─ Evidence ─")
        assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)
        assert "DF ping -s 8972 192.168.11.3" in page
        assert "black hole: 8972 bytes 0/20" in page
        assert "192.168.10.3" not in page
        await pilot.press("escape")
        assert checks_screen(pilot)


async def test_a_healthy_cluster_says_so_first_with_its_scope(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        assert listed(pilot)[0].split()[:6] == ["▸", "No", "problem", "was", "found", "·"]
        text = " ".join(shown(pilot, "finding").split())
        assert text.startswith("No problem was found: 3 nodes, 12 paths, ")
        await pilot.press("j")
        assert "No problem was found" not in shown(pilot, "finding")


async def test_a_second_run_marks_gone_and_new_findings(new_console: NewConsole) -> None:
    changed = cluster([node(1), node(2), with_interface(node(3), "eth1", mtu=1500)])
    app = new_console(lambda: engine(black_hole()), lambda: engine(changed))
    async with app.run_test() as pilot:
        await concluded(pilot)
        assert "new" not in shown(pilot, "lower-rule")
        await pilot.press("r")
        await concluded(pilot)
        rows = listed(pilot)
        assert any(row.startswith("+F ▸ eth1 of rac3 has MTU") for row in rows)
        assert any(row.startswith("-F ▸ Jumbo frames") for row in rows)
        assert "1 over" in shown(pilot, "lower-rule")


async def test_a_finding_that_could_not_be_checked_again_is_not_called_gone(new_console: NewConsole) -> None:
    app = new_console(lambda: engine(black_hole()), lambda: engine(node_unread()))
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("r")
        await concluded(pilot)
        rows = listed(pilot)
        assert any(row.startswith("~F") for row in rows)
        assert not any(row.startswith("-F") for row in rows)


async def test_during_a_second_run_the_earlier_findings_stay_visible(new_console: NewConsole) -> None:
    facts = black_hole()
    gate = Gate(facts, "paths")
    app = new_console(lambda: engine(facts), lambda: engine(facts, paths=gate))
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("r")
        await gate.reached.wait()
        assert chosen(pilot) == "IC-PATH-003"
        assert "1 FAIL" in shown(pilot, "counts")
        assert "rac3!" in shown(pilot, "header")
        gate.open.set()
        await concluded(pilot)
        assert chosen(pilot) == "IC-PATH-003"
        assert "0 new  0 over" in shown(pilot, "lower-rule")


async def test_a_run_in_progress_is_ended_before_the_next(new_console: NewConsole) -> None:
    facts = black_hole()
    gate = Gate(facts, "paths")
    app = new_console(lambda: engine(facts, paths=gate), lambda: engine(healthy()))
    async with app.run_test() as pilot:
        await gate.reached.wait()
        await pilot.press("r")
        await concluded(pilot)
        assert gate.closed_by_engine
        assert "FAIL" not in shown(pilot, "counts")
        assert "IC-PATH-001" in shown(pilot, "finding") or chosen(pilot) == "IC-BOOT-001"


async def test_copied_commands_are_in_a_file_with_changes_as_comments(new_console: NewConsole, tmp_path: Path) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(200, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("c")
        await pilot.pause()
        saved = (tmp_path / "state" / "commands.txt").read_text()
        assert pilot.app.clipboard == saved.rstrip("\n")
        assert "ping -c 3 -M do -I 192.168.11.1 -s 8972 192.168.11.3" in saved.splitlines()
        assert "commands.txt" in shown(pilot, "lower-rule")
        await pilot.press("j")
        assert "commands.txt" not in shown(pilot, "lower-rule")


async def test_a_finding_without_commands_says_so(new_console: NewConsole, tmp_path: Path) -> None:
    async with new_console(lambda: engine(healthy())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("c")
        await pilot.pause()
        assert "no commands" in shown(pilot, "lower-rule")
        assert not (tmp_path / "state").exists()


async def test_help_lists_every_key_of_the_footer(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test() as pilot:
        await concluded(pilot)
        footer = shown(pilot, "keys")
        await pilot.press("question_mark")
        page = shown(pilot, "page")
        for entry in footer.strip().split("  "):
            assert f" {entry.split()[0]} " in page
        assert page.index("Run all checks again") < page.index("Show the Traffic screen.") < page.index("black hole")
        assert page.count("Quit racwire") == 1
        await pilot.press("q")
        assert checks_screen(pilot)


async def test_quitting_while_a_source_hangs_takes_no_time(new_console: NewConsole) -> None:
    gate = Gate(healthy(), "nodes")
    app = new_console(lambda: engine(healthy(), nodes=gate))
    async with app.run_test() as pilot:
        await gate.reached.wait()
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert gate.closed_by_engine
    assert app.report is None


async def test_a_task_that_cannot_be_cancelled_does_not_block_quitting(new_console: NewConsole) -> None:
    let_go = asyncio.Event()

    reached = asyncio.Event()

    async def stubborn(session: Session, known: Cluster) -> object:
        reached.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return healthy().nodes

    app = new_console(lambda: engine(healthy(), nodes=stubborn))
    async with app.run_test() as pilot:
        await reached.wait()
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
        let_go.set()


async def test_a_source_that_fails_makes_its_checks_unknown_and_the_console_continues(new_console: NewConsole) -> None:
    async def fails(session: Session, known: Cluster) -> object:
        raise RuntimeError("no such device")

    async with new_console(lambda: engine(healthy(), paths=fails)).run_test() as pilot:
        await concluded(pilot)
        assert "1 UNKNOWN" in shown(pilot, "counts")
        assert "no such device" in " ".join(shown(pilot, "finding").split())
        assert "passed" in shown(pilot, "list")


async def test_an_engine_that_fails_is_reported_and_can_be_run_again(new_console: NewConsole) -> None:
    def broken() -> None:
        raise RuntimeError("the wheels came off")

    app = new_console(broken, lambda: engine(black_hole()))
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        assert "the wheels came off" in shown(pilot, "lower-rule")
        await pilot.press("r")
        await concluded(pilot)
        assert chosen(pilot) == "IC-PATH-003"


HOSTILE = "\x1b]0;owned\x07\x1b[31m[bold red]rac\u202e3[/] \x9b2J\r\nsecond line"


async def test_hostile_text_is_escaped(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(node_unread(HOSTILE))).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        for part in ("list", "finding", "header", "counts"):
            text = shown(pilot, part)
            assert not any(sign in text for sign in "\x1b\x07\x9b\r\u202e"), part
        assert "[bold red]rac" in shown(pilot, "finding")
        assert "\\x1b[31m" in shown(pilot, "finding")


@pytest.mark.parametrize("size", sampled([((80, 24),), ((30, 8),), ((60, 16),), ((120, 40),), ((50, 12),)], 2))
async def test_every_line_fits_at_any_size(new_console: NewConsole, size: tuple[int, int]) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.resize_terminal(*size)
        await pilot.pause()
        await pilot.pause()
        for part in ("upper-rule", "lower-rule", "keys"):
            assert len(shown(pilot, part)) <= size[0], part
        assert chosen(pilot) == "IC-PATH-003"
        assert listed(pilot)[0].lstrip().startswith("F ▸ Jumbo")


async def test_enter_goes_on_from_the_cause_to_the_evidence(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(50, 16)) as pilot:
        await concluded(pilot)
        await pilot.press("enter")
        await pilot.pause()
        page = pilot.app.screen.query_one("#page", Lines)
        assert page.above == 0
        await pilot.press("enter")
        await pilot.pause()
        assert page.text.splitlines()[page.above].strip().startswith("─ Evidence")
        assert page.above > 10
        await pilot.press("escape")
        assert checks_screen(pilot)


async def test_the_finding_scrolls_and_says_how_much_is_below(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        before = shown(pilot, "lower-rule")
        assert "more lines" in before
        await pilot.press("pagedown")
        await pilot.pause()
        assert shown(pilot, "lower-rule") != before
