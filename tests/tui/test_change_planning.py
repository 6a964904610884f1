"""The Change screen without a change: an overview, and the form that plans one."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from checks.change.plan.change_plan import Accepted
from checks.change.plan.obstacles import Obstacle, PlanError
from checks.change.progress.change_events import (
    Closed,
)
from checks.change.record.change_journal import ChangeJournal, find
from checks.model.settings import ChangeSettings, Settings
from checks.run.check_discovery import Checks
from tests.tui.change_driving import (
    AGREED,
    PaperChanges,
    answer,
    console,
    in_sight,
    refuses,
    rule,
    settled,
)
from tests.tui.clusters import UNCHANGING, black_hole, engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown
from tests.unit.change_journals import journal, plan
from tui.console.app import ConsoleApp
from tui.console.change_state import WantedPlan
from tui.console.journal_watcher import ClusterChanges
from tui.console.past import Past
from tui.screens.change.screen import ChangeScreen

SKIPPED = ("", "", "", "", "")
"""No answer in the five optional fields of the form."""


async def test_without_a_change_the_screen_explains_and_n_plans_one(new_console: NewConsole, tmp_path: Path) -> None:
    requests: list[WantedPlan] = []

    def begins(plan: WantedPlan, accepted: tuple[Accepted, ...]) -> ChangeJournal:
        requests.append(plan)
        return journal(tmp_path / "changes")

    async with console(new_console, PaperChanges(tmp_path / "changes", begins=begins)) as pilot:
        await settled(pilot, "No change of the MTU is open here.")
        await settled(pilot, "MTU now eth1 9000, eth2 9000")
        await pilot.press("n")
        assert "eth1 9000, eth2 9000" in shown(pilot, "page")
        await answer(pilot, "many")
        assert "An MTU is a number of bytes" in shown(pilot, "ask-rule")
        await answer(pilot, "1500", *SKIPPED)
        await settled(pilot, "step 1 of 4", "change-top")
        assert requests == [WantedPlan(1500)]
        assert "press a to attest" in rule(pilot) or "The change is open" in rule(pilot)


async def test_obstacles_are_listed_and_can_be_accepted_with_a_reason(new_console: NewConsole, tmp_path: Path) -> None:
    unread = Obstacle(code="CH-START-001", title="rac3 not read", sentence="rac3 could not be read.")
    lost = Obstacle(code="IC-LOST-002", title="blocks lost", sentence="37 blocks were lost.", acceptable=True)
    async with console(new_console, PaperChanges(tmp_path, begins=refuses(unread, lost))) as pilot:
        await settled(pilot, "No change of the MTU is open here.")
        await pilot.press("n")
        await answer(pilot, "", "CHG42", *SKIPPED[1:])
        await settled(pilot, "2 of 2 obstacles left")
        await pilot.press("o")
        assert "CH-START-001 cannot be accepted" in rule(pilot)
        await pilot.press("tab", "o")
        await answer(pilot, "It is a known old loss.")
        assert "Accepted: It is a known old loss." in await settled(pilot, "1 of 2 obstacles left")
        await pilot.press("n")
        assert pilot.app.screen.query_one("#field-1", Input).value == "CHG42"
        await answer(pilot, "", *SKIPPED)
        assert "IC-LOST-002" not in await settled(pilot, "1 of 1 obstacle left")
        await pilot.press("escape")
        await settled(pilot, "No change of the MTU is open here.")


async def test_the_form_takes_what_change_new_takes_and_fits_80_by_24(new_console: NewConsole, tmp_path: Path) -> None:
    requests: list[WantedPlan] = []

    def begins(plan: WantedPlan, accepted: tuple[Accepted, ...]) -> ChangeJournal:
        requests.append(plan)
        return journal(tmp_path / "changes")

    async with console(new_console, PaperChanges(tmp_path / "changes", begins=begins)) as pilot:
        await settled(pilot, "MTU now eth1 9000, eth2 9000")
        await pilot.press("n")
        await pilot.pause()
        seen = in_sight(pilot).splitlines()
        names = ("New MTU", "Reason", "Switch", "Pair", "Hypervisor", "Hosts")
        assert [line.split("  ")[0].strip() for line in seen[16:22]] == list(names)
        assert all(len(line) <= 80 for line in seen)
        assert "more below" not in shown(pilot, "ask-rule")
        await answer(pilot, "9000", "CHG42", "nexus-9000, arista", "perhaps")
        assert "Type yes or no" in shown(pilot, "ask-rule")
        await answer(pilot, "NO", "vmware", "esx1 esx2,esx3")
        await settled(pilot, "step 1 of 4", "change-top")
    switches, hosts = ("nexus-9000", "arista"), ("esx1", "esx2", "esx3")
    assert requests == [WantedPlan(9000, "CHG42", switches, "no", ("vmware",), hosts)]


@pytest.mark.parametrize(
    ("stated", "title"),
    [
        (WantedPlan(9000, switches=("xyz",)), "A kind of switch is not known"),
        (WantedPlan(9000, hypervisors=("none", "vmware")), "A hypervisor and none"),
        (WantedPlan(9000, hypervisors=("none",), hosts=("esx1",)), "A hypervisor and none"),
    ],
)
async def test_what_is_stated_wrongly_is_an_obstacle_before_any_check(
    tmp_path: Path, stated: WantedPlan, title: str
) -> None:
    def nothing() -> Checks:
        raise AssertionError("the checks are not asked for")

    source = ClusterChanges(Settings(change=ChangeSettings(directory=str(tmp_path))), nothing, None)
    with pytest.raises(PlanError) as raised:
        async for _ in source.begin(stated, ()):
            pass
    assert [obstacle.title for obstacle in raised.value.obstacles] == [title]


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
