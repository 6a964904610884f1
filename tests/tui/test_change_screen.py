"""The Change screen, operated by keys, on changes with real journals and with verifications that a test specifies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input

from checks.change.change_events import (
    AnyEvent,
    Attested,
    Closed,
    GateResult,
    Noted,
    Overridden,
    Surprise,
    Surprised,
    Verified,
)
from checks.change.change_journal import ChangeJournal, find
from checks.change.change_plan import Accepted, Gate
from checks.change.obstacles import Obstacle
from checks.change.state import Change
from checks.model.finding import Finding, Status
from checks.run.events import Event
from tests.tui.change_driving import PaperChanges, PaperSession, in_sight, refuses, settled
from tests.tui.clusters import UNCHANGING, black_hole, engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, running, shown, until
from tests.unit.change_journals import STEPS, journal, plan, verification
from tui.console import app as app_module
from tui.console import journal_watcher
from tui.console.app import ConsoleApp
from tui.console.journal_watcher import JournalWatcher
from tui.console.live import Past
from tui.screens.change.ask import AskScreen
from tui.screens.change.screen import ChangeScreen
from tui.widgets.lines import Lines

AGREED = Attested("agree", "Ann Lee", "CHG-4711")
SWITCHED = Attested("switch", "Bob of the network team")
FAILS, PASSES = verification(Status.PASS, Status.FAIL), verification(Status.PASS, Status.PASS)


@asynccontextmanager
async def console(
    new_console: NewConsole, changes: PaperChanges | None, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncGenerator[Pilot[None], None]:
    """A console that starts on the Change screen."""
    app = new_console(lambda: engine(black_hole(), UNCHANGING), changes=changes, first="change", **options)
    async with app.run_test(size=size) as pilot:
        yield pilot


async def answer(pilot: Pilot[None], *answers: str) -> None:
    """Enter these texts into the input lines of the page, from the focused one on; an empty text changes nothing."""
    for text in answers:
        focused = pilot.app.screen.focused
        assert isinstance(focused, Input)
        focused.value = text or focused.value
        await pilot.press("enter")
    await pilot.pause()


def written(changes: PaperChanges) -> Change:
    """Return the change in the only journal."""
    (found,) = find(changes.directory)
    assert found.change is not None
    return found.change


def last(changes: PaperChanges) -> AnyEvent:
    return written(changes).lines[-1].event


def rule(pilot: Pilot[None]) -> str:
    return shown(pilot, "lower-rule")


@pytest.fixture
def changes(tmp_path: Path) -> PaperChanges:
    """A change at its third step of four, `set MTU`, with a gate."""
    journal(tmp_path / "changes", AGREED, SWITCHED)
    return PaperChanges(tmp_path / "changes")


# --- where there is none ----------------------------------------------------------------------------------------------


async def test_without_a_change_the_screen_explains_and_n_plans_one(new_console: NewConsole, tmp_path: Path) -> None:
    requests: list[int | None] = []

    def begins(target: int | None, accepted: tuple[Accepted, ...]) -> ChangeJournal:
        requests.append(target)
        return journal(tmp_path / "changes")

    async with console(new_console, PaperChanges(tmp_path / "changes", begins=begins)) as pilot:
        await settled(pilot, "No change of the MTU is open here.")
        await settled(pilot, "MTU now eth1 9000, eth2 9000")
        await pilot.press("n")
        assert "eth1 9000, eth2 9000" in shown(pilot, "page")
        await answer(pilot, "many")
        assert "An MTU is a number of bytes" in shown(pilot, "ask-rule")
        await answer(pilot, "1500")
        await settled(pilot, "step 1 of 4", "change-top")
        assert requests == [1500]
        assert "press a to attest" in rule(pilot) or "The change is open" in rule(pilot)


async def test_obstacles_are_listed_and_can_be_accepted_with_a_reason(new_console: NewConsole, tmp_path: Path) -> None:
    unread = Obstacle(code="CH-START-001", title="rac3 not read", sentence="rac3 could not be read.")
    lost = Obstacle(code="IC-LOST-002", title="blocks lost", sentence="37 blocks were lost.", acceptable=True)
    async with console(new_console, PaperChanges(tmp_path, begins=refuses(unread, lost))) as pilot:
        await settled(pilot, "No change of the MTU is open here.")
        await pilot.press("n", "enter")
        await settled(pilot, "2 of 2 obstacles left")
        await pilot.press("o")
        assert "CH-START-001 cannot be accepted" in rule(pilot)
        await pilot.press("tab", "o")
        await answer(pilot, "It is a known old loss.")
        assert "Accepted: It is a known old loss." in await settled(pilot, "1 of 2 obstacles left")
        await pilot.press("n", "enter")
        assert "IC-LOST-002" not in await settled(pilot, "1 of 1 obstacle left")
        await pilot.press("escape")
        await settled(pilot, "No change of the MTU is open here.")


async def test_closed_changes_can_be_opened(new_console: NewConsole, tmp_path: Path) -> None:
    journal(tmp_path, AGREED, Closed("abandoned", "Ann", "The window was taken."), of=plan("2026-11-18-a"))
    journal(tmp_path, Closed("abandoned", "Ann", "Another day is better."), of=plan("2026-11-19-a"))
    async with console(new_console, PaperChanges(tmp_path)) as pilot:
        page = await settled(pilot, "Changes with a journal here")
        assert page.index("▸ 2026-11-19-a") < page.index("2026-11-18-a")
        await pilot.press("down", "enter")
        await settled(pilot, "2026-11-18-a", "change-top")
        assert "abandoned" in shown(pilot, "change-top")
        assert "verify" not in shown(pilot, "keys")
        await pilot.press("left_square_bracket", "escape", "escape")
        await settled(pilot, "Changes with a journal here")


async def test_a_journal_that_cannot_be_read_is_reported(new_console: NewConsole, changes: PaperChanges) -> None:
    (found,) = find(changes.directory)
    found.path.write_bytes(found.path.read_bytes().replace(b"Ann Lee", b"Eve Lee"))
    async with console(new_console, changes) as pilot:
        await settled(pilot, "does not follow from the line before")
        await pilot.press("v", "a", "o", "b")  # nothing to do it with
        assert isinstance(pilot.app.screen, ChangeScreen)


async def test_a_recording_has_no_change(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole(), UNCHANGING)).run_test(size=(80, 24)) as pilot:
        assert isinstance(pilot.app, ConsoleApp)
        pilot.app.state.feed.past = Past("recording mtu1500", None, is_saved=False)
        await concluded(pilot)
        await pilot.press("5")
        await settled(pilot, "This is a recording.")
        await pilot.press("n", "v", "enter")
        assert isinstance(pilot.app.screen, ChangeScreen)


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
        assert seen[23].startswith(" v verify  a attest  o override  n note  b rollback  c copy")


async def test_tab_marks_a_block_which_c_copies_and_shift_c_copies_all_as_comments(
    new_console: NewConsole, changes: PaperChanges, tmp_path: Path
) -> None:
    written = tmp_path / "state" / "commands.txt"
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("tab", "c")
        await pilot.pause()
        assert written.read_text().splitlines()[:2] == [
            "# 2026-11-20-a: As root on rac2:",
            "ip link set dev eth1 mtu 9000",
        ]
        assert "also in" in rule(pilot) + shown(pilot, "change-top")
        await pilot.press("C")
        await pilot.pause()
        assert all(line.startswith("#") for line in written.read_text().splitlines())


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
    assert waited < 2 * app_module.STOP_WITHIN_S


# --- decisions --------------------------------------------------------------------------------------------------------


async def test_attesting_shows_the_statement_and_asks_for_a_name(new_console: NewConsole, tmp_path: Path) -> None:
    journal(tmp_path, AGREED)
    changes = PaperChanges(tmp_path)
    async with console(new_console, changes) as pilot:
        await settled(pilot, "▶ 2 switch")
        await pilot.press("a")
        assert "They are at 9216." in shown(pilot, "page")
        await pilot.press("home", "ctrl+k", *"Bob 5q?", "enter")  # digits, q and ? are letters here
        await answer(pilot, "Ticket NET-1")
        await settled(pilot, "▶ 3 set MTU")
        assert last(changes) == Attested("switch", "Bob 5q?", "Ticket NET-1")
        await pilot.press("a")
        assert "nothing to attest" in rule(pilot)


async def test_a_step_for_several_hosts_is_attested_for_the_displayed_host(
    new_console: NewConsole, tmp_path: Path
) -> None:
    hosts = msgspec.structs.replace(STEPS[1], attest_for=("esx1", "esx2"))
    journal(tmp_path, AGREED, of=msgspec.structs.replace(plan(), steps=(STEPS[0], hosts, *STEPS[2:])))
    changes = PaperChanges(tmp_path)
    async with console(new_console, changes) as pilot:
        for host, following in (("esx1", "Press a to attest for esx2."), ("esx2", "▶ 3 set MTU")):
            await settled(pilot, "▶ 2 switch")
            await pilot.press("a")
            assert f"Attest step 2, switch for {host}" in in_sight(pilot)
            await pilot.press("home", "ctrl+k", *"Bob", "enter")
            await answer(pilot, "")
            await settled(pilot, following)
            assert last(changes) == Attested("switch", "Bob", "", host)


async def test_an_override_needs_a_verification_a_reason_and_a_confirmation(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    changes._finds[:] = [(FAILS,)]
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("o")
        await settled(pilot, "The gate of set-mtu was not verified yet.", "lower-rule")
        await pilot.press("v")
        await settled(pilot, "rac2 ✗ 1500")
        await pilot.press("o")
        assert "eth1 of rac2 would come up at 1500." in shown(pilot, "page")
        await answer(pilot, "Ann", "because")
        assert "Type a reason of at least 10 characters" in shown(pilot, "ask-rule")
        await answer(pilot, "rac2 is being replaced.", "y")
        assert isinstance(pilot.app.screen, AskScreen)
        await answer(pilot, "yes")
        await settled(pilot, "! 3 set MTU", "change-top")
        overridden = last(changes)
        assert isinstance(overridden, Overridden)
        assert (overridden.step, overridden.by, overridden.reason) == ("set-mtu", "Ann", "rac2 is being replaced.")
        assert [result.node for result in overridden.not_held] == ["rac2"]


async def test_keys_pressed_in_a_burst_go_to_the_right_widget(new_console: NewConsole, changes: PaperChanges) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        for key in ("x", *"A", "enter", *"reason 5 q", "enter", *"yes", "enter"):
            pilot.app.post_message(Key({" ": "space"}.get(key, key), key if len(key) == 1 else None))
        await settled(pilot, "abandoned", "change-top")
        abandoned = last(changes)
        assert isinstance(abandoned, Closed)
        assert abandoned.by.endswith("A")
        assert abandoned.reason == "reason 5 q"


async def test_a_cancelled_prompt_decides_nothing(new_console: NewConsole, changes: PaperChanges) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        for key in ("n", "b", "o"):
            await pilot.press(key, "escape")
            await pilot.pause()
            assert isinstance(pilot.app.screen, ChangeScreen)
        assert len(written(changes).lines) == 3


async def test_a_note_is_shown_at_its_step_and_can_be_typed_in_a_burst(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("n", *"2 q:1", "enter")
        await settled(pilot, "rac1: 2 q:1")
        assert last(changes) == Noted("set-mtu", "2 q:1")


async def test_abandoning_is_offered_only_while_nothing_was_changed(
    new_console: NewConsole, tmp_path: Path, changes: PaperChanges
) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("x")
        await answer(pilot, "Ann", "The window was taken.", "yes")
        await settled(pilot, "abandoned", "change-top")
        assert last(changes) == Closed("abandoned", "Ann", "The window was taken.")


async def test_the_last_step_is_signed_off_with_enter_and_the_change_is_closed(
    new_console: NewConsole, changes: PaperChanges
) -> None:
    changes._finds[:] = [(PASSES,)]
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("v")
        await settled(pilot, "▶ 4 sign off")
        assert "The gate passed. Next: step 4, sign off." in rule(pilot)
        await pilot.press("j")
        assert "Enter signs the change off" in rule(pilot)
        await pilot.press("enter")
        assert "All is well." in shown(pilot, "page")
        await answer(pilot, "Ann Lee", "")
        await settled(pilot, "signed off", "change-top")
        assert last(changes) == Closed("signed off", "Ann Lee")
        await pilot.press("escape")
        await settled(pilot, "Changes with a journal here")


async def test_nothing_is_signed_off_before_the_last_verification(new_console: NewConsole, tmp_path: Path) -> None:
    last_step = msgspec.structs.replace(STEPS[-1], gates=(Gate("running-mtu"),))
    journal(tmp_path, of=msgspec.structs.replace(plan(), steps=(last_step,)))
    still = GateResult(check="running-mtu", status=Status.PASS, text="9000", node="rac1")
    async with console(new_console, PaperChanges(tmp_path, (Verified("sign-off", True, (still,)),))) as pilot:
        await settled(pilot, "▶ 1 sign off")
        assert "v checks once more" in rule(pilot)
        await pilot.press("a")
        assert "can be attested only after its gate has passed: v" in rule(pilot)
        await pilot.press("v")
        await settled(pilot, "rac1 ✓ 9000")
        await pilot.press("enter")
        await answer(pilot, "Ann Lee", "")
        await settled(pilot, "signed off", "change-top")


async def test_the_rollback_is_shown_before_it_starts(new_console: NewConsole, changes: PaperChanges) -> None:
    async with console(new_console, changes) as pilot:
        await settled(pilot, "3 set MTU")
        await pilot.press("b")
        await settled(pilot, "The rollback from here: back to MTU 1500", "page")
        await answer(pilot, "Ann", "The window ends.", "yes")
        await settled(pilot, "back to MTU 1500", "change-top")
        assert written(changes).is_way_back


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
        await pilot.press("1")
        await until(pilot, lambda: not running(pilot, "change-watch"))


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
