"""The command line `:`: verbs with arguments, names of the cluster, and codes."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from checks.model.report import Report
from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import checks_screen, chosen, concluded, listed, shown, until
from tui.console.actions import CHECKS
from tui.console.command_choices import argument_of, choices
from tui.screens.ask import Answer, Field, Question, ask
from tui.screens.reader import ReaderScreen


async def report_of(pilot: Pilot[None]) -> Report:
    await concluded(pilot)
    report = checks_screen(pilot).state.run.report
    assert report is not None
    return report


async def test_what_a_text_offers(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        report = await report_of(pilot)

        def first(text: str) -> str:
            found = choices(text, CHECKS, report)
            return found[0].with_argument(argument_of(found[0], text) or "") if found else ""

        assert first("rac2") == "app.find('rac2')"
        assert first("eth2") == "app.find('eth2')"
        assert first("ic-path-003") == "app.find_code('IC-PATH-003')"
        assert first("explain IC-PATH-003") == "app.explain('IC-PATH-003')"
        assert first("report html") == "app.write('html')"
        assert first("rerun") == "app.rerun('')"
        assert first("meas") == "app.show('measure')"
        assert first("zzz") == ""
        shown_names = [choice.name for choice in choices("", CHECKS, report)]
        assert {"save", "record", "theme", "connect"} <= set(shown_names)
        assert not [choice for choice in choices("", CHECKS, report) if "finding above" in choice.help]
        assert argument_of(choices("explain", CHECKS, report)[0], "explain") is None


async def test_a_code_selects_its_finding_below_its_cause_and_a_name_filters(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("2", "colon", *"ic-path-003", "enter")
        await until(pilot, lambda: chosen(pilot) == "IC-PATH-003" and "Seen" in shown(pilot, "finding"))
        await pilot.press("colon", *"rac3", "enter")
        await until(pilot, lambda: "/rac3" in shown(pilot, "upper-rule"))
        assert all("P" not in row.split()[0] or "rac3" in row for row in listed(pilot)[:1])


async def test_explain_asks_for_what_and_shows_the_page(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("colon", *"expl", "enter", *"IC-PATH-003", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReaderScreen))
        assert "IC-PATH-003" in shown(pilot, "page")


@pytest.mark.parametrize("text", ["report nonsense", "explain nonsense", "rerun nonsense"])
async def test_an_unknown_argument_is_named_in_one_sentence(new_console: NewConsole, text: str) -> None:
    async with new_console(lambda: engine(healthy())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("colon", *text, "enter")
        await until(pilot, lambda: "nonsense" in shown(pilot, "lower-rule"))


@pytest.mark.parametrize("action", ["find('rac2')", "find_code('IC-PATH-003')", "record"])
async def test_an_open_question_keeps_what_was_typed(new_console: NewConsole, action: str) -> None:
    app = new_console(lambda: engine(healthy()))
    async with app.run_test() as pilot:
        await concluded(pilot)
        answers: list[Answer] = []
        await ask(app, Question("Override", lambda width: [], (Field("reason"),), "override"), answers.append)
        await pilot.press(*"storage")
        await app.run_action(f"app.{action}")
        await pilot.press(*" team", "enter")
        await until(pilot, lambda: answers == [("storage team",)])
        assert app.current_mode == "checks"
        assert app.state.feed.recording is None
