"""Decisions on the Change screen: attestations, overrides, notes, the rollback, the sign-off."""

from __future__ import annotations

from pathlib import Path

import msgspec
from textual.events import Key

from checks.change.plan.change_plan import Gate
from checks.change.progress.change_events import (
    Attested,
    Closed,
    GateResult,
    Noted,
    Overridden,
    Verified,
)
from checks.model.finding import Status
from tests.tui.change_driving import (
    AGREED,
    FAILS,
    PASSES,
    PaperChanges,
    answer,
    console,
    in_sight,
    last,
    rule,
    settled,
    written,
)
from tests.tui.conftest import NewConsole
from tests.tui.driving import shown
from tests.unit.change_journals import STEPS, journal, plan
from tui.screens.ask import AskScreen
from tui.screens.change.screen import ChangeScreen


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
