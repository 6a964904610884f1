"""The command line `:`: verbs with arguments, names of the cluster, and codes."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from checks.model.report import Report
from tests.support.sampling import sampled
from tests.tui.change_driving import PaperChanges
from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import checks_screen, chosen, concluded, listed, shown, until
from tests.tui.traffic_samples import cluster_events
from tui.console.actions import CHECKS, EVERYWHERE, TABS, Action
from tui.console.command_choices import SYNONYMS, Scope, argument_of, choices, nothing_found, synonyms
from tui.console.main_screens import _class_of
from tui.screens.ask import Answer, AskPage, Field, ask
from tui.screens.change import keys as change_keys
from tui.screens.measure import keys as measure_keys
from tui.screens.palette import PaletteScreen
from tui.screens.ran_page import RanScreen
from tui.screens.reader import HelpScreen, ReaderScreen

ELSEWHERE = tuple((mode, action) for mode in TABS if mode != "checks" for action in _class_of(mode).ACTIONS)


async def report_of(pilot: Pilot[None]) -> Report:
    await concluded(pilot)
    report = checks_screen(pilot).state.run.report
    assert report is not None
    return report


async def test_what_a_text_offers(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        scope = Scope(CHECKS, await report_of(pilot), ELSEWHERE)

        def first(text: str) -> str:
            found = choices(text, scope)
            return found[0].with_argument(argument_of(found[0], text) or "") if found else ""

        assert first("rac2") == "app.find('rac2')"
        assert first("eth2") == "app.find('eth2')"
        assert first("ic-path-003") == "app.find_code('IC-PATH-003')"
        assert first("explain IC-PATH-003") == "app.explain('IC-PATH-003')"
        assert first("report html") == "app.write('html')"
        assert first("rerun") == "app.rerun('')"
        assert first("meas") == "app.show('measure')"
        assert first("zzz") == ""
        shown_names = [choice.name for choice in choices("", scope)]
        assert {"save", "record", "theme", "connect"} <= set(shown_names)
        assert not [choice for choice in choices("", scope) if "finding above" in choice.help]
        assert argument_of(choices("explain", scope)[0], "explain") is None


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
        await ask(app, AskPage("Override", lambda width: [], (Field("reason"),), "override"), answers.append)
        await pilot.press(*"storage")
        await app.run_action(f"app.{action}")
        await pilot.press(*" team", "enter")
        await until(pilot, lambda: answers == [("storage team",)])
        assert app.current_mode == "checks"
        assert app.state.feed.recording is None


# --- synonyms ---------------------------------------------------------------------------------------------------------


def test_each_synonym_is_of_a_command_that_exists() -> None:
    screens = [action for mode in TABS for action in _class_of(mode).ACTIONS]
    bound: list[Action] = [*EVERYWHERE, *screens, *change_keys.ALL, *measure_keys.ALL]
    known = {text for action in bound for text in (action.action, action.action.partition("(")[0])}
    known |= {choice.action for choice in choices("", Scope())}
    assert not [command for command in SYNONYMS if command not in known]
    assert not [c for c in SYNONYMS if len(set(words := synonyms(c)[1:])) != len(words)]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("refresh", "app.rerun({})"),
        ("export", "app.write({})"),
        ("exit", "app.quit"),
        ("help", "app.help"),
        ("keys", "app.help"),
        ("loss", "app.show('traffic')"),
        ("loss", "app.show('database')"),
        ("mtu", "app.show('change')"),
        ("jumbo", "app.show('paths')"),
        ("ping", "app.show('paths')"),
        ("cable", "app.show('events')"),
        ("drops", "app.show('traffic')"),
        ("alarms", "app.show('events')"),
        ("colours", "app.theme"),
        ("journal", "app.ran"),
        ("fullscreen", "zoom"),
        ("search", "filter"),
    ],
)
def test_a_synonym_offers_the_command_among_the_first(text: str, offered: str) -> None:
    assert offered in [choice.action for choice in choices(text, Scope(CHECKS, None, ELSEWHERE))[:4]]


def test_what_explains_comes_after_what_does() -> None:
    scope = Scope(CHECKS, None, ELSEWHERE, {"jumbo": "What jumbo frames change", "CAUSE-05": "A cable is unplugged"})
    assert choices("jumbo", scope)[-1].action == "app.explain('jumbo')"
    assert [choice.action for choice in choices("cause-05", scope)] == ["app.explain('CAUSE-05')"]
    assert "app.explain('CAUSE-05')" in [choice.action for choice in choices("unplugged", scope)]


def test_a_text_that_nothing_matches_has_a_sentence_with_the_nearest_name() -> None:
    scope = Scope(CHECKS, None, ELSEWHERE)
    assert nothing_found("refersh", scope)[0] == "Nothing matches refersh. Did you mean refresh?"
    assert nothing_found("\u96ea", scope)[0] == "Nothing matches \u96ea."


LEADS_TO = {
    "help": lambda pilot: isinstance(pilot.app.screen, HelpScreen),
    "export": lambda pilot: pilot.app.current_mode == "report",
    "loss": lambda pilot: pilot.app.current_mode == "traffic",
    "pause": lambda pilot: pilot.app.current_mode == "traffic" and "paused" in shown(pilot, "upper-rule"),
    "sort": lambda pilot: pilot.app.current_mode == "traffic" and "a shows them" in shown(pilot, "lower-rule"),
    "refresh": lambda pilot: len(pilot.app.state.run.past) == 2,
    "journal": lambda pilot: isinstance(pilot.app.screen, RanScreen),
    "attest": lambda pilot: pilot.app.current_mode == "change" and "a: Attest" in shown(pilot, "lower-rule"),
    "dismiss": lambda pilot: "this is not" in shown(pilot, "lower-rule"),
    "CAUSE-05": lambda pilot: isinstance(pilot.app.screen, ReaderScreen) and "CAUSE-05" in shown(pilot, "page"),
    "IC-GRID-004": lambda pilot: isinstance(pilot.app.screen, ReaderScreen) and "IC-GRID-004" in shown(pilot, "page"),
    "jumbo": lambda pilot: pilot.app.current_mode == "paths",
    "azure": lambda pilot: isinstance(pilot.app.screen, ReaderScreen) and "azure" in shown(pilot, "page"),
}
"""By text, where Enter leads from Checks."""


@pytest.mark.parametrize("text", sampled(LEADS_TO, ("help", "attest", "CAUSE-05")))
async def test_enter_leads_somewhere_useful(new_console: NewConsole, changes: PaperChanges, text: str) -> None:
    feed = FakeFeed(cluster_events(60, 3))
    app = new_console(lambda: engine(healthy()), changes=changes, new_feed=lambda: feed)
    async with app.run_test() as pilot:
        await concluded(pilot)
        if text == "pause":
            await until(pilot, lambda: bool(app.state.timeline.sources()))
        if text == "attest":  # its keys are those of the open change once it is read
            await pilot.press("5")
            await until(pilot, lambda: app.state.changes.change is not None)
            await pilot.press("1")
        await pilot.press("colon", *text, "enter")
        await until(pilot, lambda: bool(LEADS_TO[text](pilot)))


@pytest.mark.parametrize("text", ["zzz", "explain ", "explain"])
async def test_enter_never_does_nothing_in_silence(new_console: NewConsole, text: str) -> None:
    async with new_console(lambda: engine(healthy())).run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        await pilot.press("colon", *text, "enter", "enter")
        await until(pilot, lambda: shown(pilot, "query-rule").strip("─ ") != "")
        assert isinstance(pilot.app.screen, PaletteScreen)
        wanted = "Nothing matches zzz" if text == "zzz" else "explain needs WHAT"
        assert wanted in shown(pilot, "query-rule")
        assert ("Esc goes back" in shown(pilot, "nothing")) is (text == "zzz")
        await pilot.press("backspace")
        await until(pilot, lambda: wanted not in shown(pilot, "query-rule"))
