"""The Change screen, operated by keys, on changes with real journals and with verifications that a test specifies."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from checks.change.plan.change_plan import Minutes
from checks.change.progress.change_events import (
    Begun,
    Noted,
    Surprise,
    Surprised,
)
from checks.change.record.change_journal import ChangeJournal, find
from checks.model.finding import Finding, Status
from checks.run.events import Event
from tests.tui.change_driving import (
    AGREED,
    FAILS,
    PASSES,
    SWITCHED,
    PaperChanges,
    PaperSession,
    answer,
    console,
    in_sight,
    last,
    rule,
    settled,
    written,
)
from tests.tui.clusters import UNCHANGING, black_hole, engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import shown, until
from tests.unit.change_journals import STEPS, journal, plan, verification
from tui.console import journal_watcher, working
from tui.console.app import ConsoleApp
from tui.console.journal_watcher import JournalWatcher
from tui.screens.change.screen import ChangeScreen
from tui.widgets.lines import Lines

# --- a step -----------------------------------------------------------------------------------------------------------


async def test_the_current_step_is_shown_in_full_and_the_others_as_lines(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        seen = in_sight(pilot).splitlines()
        assert "[5 Change]" in seen[1]
        assert seen[3] == " Change 2026-11-20-a  MTU 1500 → 9000  2 nodes  owner oracle@rac1  step 3 of 4"
        assert seen[4] == "  ✓ 1 agree  ✓ 2 switch"
        assert seen[5] == " ▶ 3 set MTU"
        assert seen[21] == "  · 4 sign off"
        assert "then v checks the gate" in seen[22]
        assert seen[23].startswith(" v verify  a attest  o override  b rollback  c copy  C copy all")


async def test_tab_marks_a_block_which_c_copies_and_shift_c_copies_all_as_comments(
    new_console: NewConsole, changes: PaperChanges, tmp_path: Path
) -> None:
    written = tmp_path / "state" / "commands.txt"
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("tab", "c", "escape")  # the step is not started
        await pilot.pause()
        assert written.read_text().splitlines()[:2] == [
            "# 2026-11-20-a: As root on rac2:",
            "ip link set dev eth1 mtu 9000",
        ]
        assert "state/commands.txt" in rule(pilot) + shown(pilot, "change-top")
        await pilot.press("C")
        await pilot.pause()
        assert all(line.startswith("#") for line in written.read_text().splitlines())


async def test_c_offers_to_start_a_step_that_stops_something_and_y_reads_what_it_will_stop(
    new_console: NewConsole, tmp_path: Path
) -> None:
    lasting = tuple(replace(step, minutes=Minutes(1, 9, "the nodes")) for step in STEPS)
    journal(tmp_path / "timed", AGREED, SWITCHED, of=replace(plan(), steps=lasting))
    changes = PaperChanges(tmp_path / "timed")
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("c")
        asked = await settled(pilot, "Start the step now", "page")
        assert "links down and another MTU on rac1 and rac2" in asked
        await pilot.press("n", "enter", "c", "escape")
        assert not isinstance(last(changes), Begun)
        await pilot.press("c", "y", "enter")
        seen = await settled(pilot, "Started")
        assert "rac1 (up, prod1); not read: rac2" in " ".join(seen.split())
        assert "planned: links down and another MTU on rac1 and rac2, until set MTU, at most 9 min" in " ".join(
            seen.split()
        )
        assert isinstance(last(changes), Begun)
        await pilot.press("c")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ChangeScreen)  # it is started: nothing is asked


async def test_e_writes_the_report_that_the_command_writes(
    new_console: NewConsole, changes: PaperChanges, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("e")
        await until(pilot, lambda: "Report:" in rule(pilot) + shown(pilot, "change-top"))
        page = (tmp_path / "racwire-change-2026-11-20-a.html").read_text()
        assert "Change 2026-11-20-a of prodrac" in page


async def test_the_copied_block_is_always_visible(
    new_console: NewConsole, changes: PaperChanges, tmp_path: Path
) -> None:
    async with console(new_console, changes, size=(80, 16)) as pilot:
        await settled(pilot, "3 set MTU")
        for key in ("pagedown", "G", "g"):
            await pilot.press(key)
            await pilot.pause()
            blocks = [line for line in in_sight(pilot).splitlines() if line.startswith("   As ")]
            assert not blocks or any(line.endswith("c copies") for line in blocks), key


async def test_other_steps_can_be_shown_and_esc_returns(new_console: NewConsole, changes: PaperChanges) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("left_square_bracket")
        assert "✓ Bob of the network team" in await settled(pilot, "2 switch done")
        assert "viewing: [ and ] move" in rule(pilot)
        await pilot.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        await settled(pilot, "4 sign off not reached yet")
        await pilot.press("escape")
        await settled(pilot, "▶ 3 set MTU")


async def test_surprises_are_above_the_step_until_a_verification_passes(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    danger = Surprised(Surprise.LIVE_CHANGE, "rac2", "eth1 of rac2 was set while Clusterware runs.", dangerous=True)
    changes._finds[:] = [(danger, verification(Status.PASS, Status.FAIL, rac2_mtu=1500)), (PASSES,)]
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("v")
        await settled(pilot, "DANGER eth1 of rac2 was set while Clusterware runs.", "change-top")
        await pilot.press("v")
        await settled(pilot, "step 4 of 4", "change-top")
        assert "DANGER" not in shown(pilot, "change-top")


# --- the gate ---------------------------------------------------------------------------------------------------------


async def test_v_verifies_the_gate_which_stays_visible_until_it_passes(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    changes._finds[:] = [(FAILS,), (PASSES,)]
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        assert "kept-mtu" not in in_sight(pilot)
        await pilot.press("v")
        await settled(pilot, "rac2 ✗ 1500")
        assert "kept-mtu     rac1 ✓ 9000 kept   rac2 ✗ 1500" in in_sight(pilot)
        assert "waiting for rac2; v checks again" in rule(pilot)
        await pilot.press("v")
        await settled(pilot, "▶ 4 sign off")
        assert pilot.app.screen.query_one("#change-page", Lines).above == 0


async def test_during_a_verification_progress_and_results_are_shown_and_esc_cancels(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    passed = Finding(code="CH-MTU-001", check="kept-mtu", status=Status.PASS, title="It is kept.", nodes=("rac1",))
    changes._found, changes._finds[:] = (passed,), [(PASSES,)]
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        assert changes.session is not None
        changes.session.gate.clear()
        await pilot.press("v")
        await settled(pilot, "read rac2 1 of 2", "lower-rule")
        await settled(pilot, "rac1 ✓")
        await pilot.press("a", "v")
        assert isinstance(pilot.app.screen, ChangeScreen)
        await pilot.press("escape")
        await settled(pilot, "Cancelled; nothing was written.", "lower-rule")
        assert changes.session.closed
        assert len(written(changes).lines) == 3


async def test_enter_shows_all_results_of_the_gate(new_console: NewConsole, changes: PaperChanges) -> None:
    changes._finds[:] = [(FAILS,)]
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("v")
        await settled(pilot, "rac2 ✗ 1500")
        await pilot.press("enter")
        page = await settled(pilot, "eth1 of rac2 would come up at 1500.", "page")
        assert "✗ FAIL  rac2" in page
        assert "checked the gate" in page
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ChangeScreen)


async def test_quitting_does_not_wait_for_a_verification(new_console: NewConsole, changes: PaperChanges) -> None:
    class Stubborn(PaperSession):
        async def verify(self) -> AsyncGenerator[Event, None]:
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    if let_go.is_set():
                        raise
            yield

    let_go = asyncio.Event()
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        assert changes.session is not None
        changes.session.__class__ = Stubborn
        await pilot.press("v")
        await pilot.pause()
        loop = asyncio.get_running_loop()
        began = loop.time()
        await pilot.app.action_quit()
        waited = loop.time() - began
        let_go.set()
        assert isinstance(pilot.app, ConsoleApp)
        assert "is at step 3 of 4, set MTU; `racwire change` continues it." in pilot.app.state.changes.farewell()
    assert waited < 2 * working.STOP_WITHIN_S


# --- other operators and terminals ------------------------------------------------------------------------------------


async def test_events_of_other_operators_appear_and_without_them_no_message_is_sent(
    new_console: NewConsole, changes: PaperChanges, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_watcher, "POLL_EVERY_S", 0.02)
    calls: list[object] = []
    stamp = JournalWatcher._stamp

    def count_call(watcher: JournalWatcher) -> tuple[object, ...]:
        calls.append(watcher)
        return stamp(watcher)

    monkeypatch.setattr(JournalWatcher, "_stamp", count_call)
    messages: list[object] = []
    monkeypatch.setattr(ConsoleApp, "on_change_reported", _counting(messages, ConsoleApp.on_change_reported))
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await _some_more(pilot, calls)
        before = len(messages)
        await _some_more(pilot, calls)
        assert len(messages) == before
        elsewhere = ChangeJournal.read(find(changes.directory)[0].path)
        elsewhere.append(Noted("set-mtu", "rac2 is done."), who="root@rac2", version="1")
        await settled(pilot, "root@rac2: rac2 is done.")


async def test_the_first_line_of_every_screen_has_the_open_change_and_follows_it(
    new_console: NewConsole, changes: PaperChanges, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_watcher, "POLL_BEHIND_S", 0.02)
    app = new_console(lambda: engine(black_hole(), UNCHANGING), changes=changes)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "change 3/4" in shown(pilot, "header"))
        for key in "2345671":
            await pilot.press(key)
            assert "change 3/4" in shown(pilot, "header")
        elsewhere = ChangeJournal.read(find(changes.directory)[0].path)
        elsewhere.append(PASSES, who="root@rac2", version="1")
        await until(pilot, lambda: "change 4/4" in shown(pilot, "header"))


async def test_keys_in_one_breath_wait_until_the_journals_are_read_and_esc_drops_them(
    new_console: NewConsole, changes: PaperChanges, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = threading.Event()

    def journals(of: PaperChanges) -> object:
        hangs.wait()
        return find(of.directory)

    monkeypatch.setattr(PaperChanges, "journals", journals)
    app = new_console(lambda: engine(black_hole(), UNCHANGING), changes=changes)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.current_mode == "checks" and app._screens.made.is_set())
        await pilot.press("5", "n", "escape", "1")  # a directory that hangs holds no other key
        assert app.current_mode == "checks"
        await pilot.press("5", "n", "7", "enter")
        assert app.current_mode == "change"
        assert "waits until the journals are read" in rule(pilot)
        hangs.set()
        await until(pilot, lambda: last(changes) == Noted("set-mtu", "7"))


async def _some_more(pilot: Pilot[None], calls: list[object]) -> None:
    """Wait until the journal has been read a few more times."""
    enough = len(calls) + 5
    await until(pilot, lambda: len(calls) >= enough)


def _counting(messages: list[object], handle: Any) -> Any:
    def counted(app: ConsoleApp, message: object) -> None:
        messages.append(message)
        handle(app, message)

    return counted


async def test_a_decision_is_written_completely_even_while_quitting(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("n")
        await answer(pilot, "Done on rac1.")
        await pilot.press("escape", "q")
    assert last(changes) == Noted("set-mtu", "Done on rac1.")


async def test_the_screen_works_at_any_size_and_in_ascii(new_console: NewConsole, changes: PaperChanges) -> None:
    changes._finds[:] = [(FAILS,)]
    async with console(new_console, changes, size=(120, 40), encoding="ascii") as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("v")
        await settled(pilot, "rac2 ✗ 1500")
        for size in ((60, 20), (40, 10), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert all(len(line) <= size[0] for line in in_sight(pilot).splitlines())
            assert "set MTU" in shown(pilot, "change-page")


async def test_the_digit_5_opens_the_screen_from_every_screen(new_console: NewConsole, changes: PaperChanges) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("1", "5")
        await settled(pilot, "3 set MTU")


async def test_the_mouse_marks_a_block(new_console: NewConsole, changes: PaperChanges) -> None:
    async with console(new_console, changes) as pilot:
        page = await settled(pilot, "3 set MTU")
        line = next(n for n, text in enumerate(page.splitlines()) if "As root on rac2:" in text)
        await pilot.click("#change-page", offset=(5, line + 1))
        await settled(pilot, "As root on rac2: c copies")
