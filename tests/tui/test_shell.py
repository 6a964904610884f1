"""The common parts of all screens: the keys that change screens, help, the palette, the mouse, and the effect of a
fault in racwire."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.pilot import Pilot

from checks.model.facts import Cluster, UnreadNode
from checks.model.settings import ConsoleSettings, Settings
from checks.run.check_discovery import discover
from checks.sources.nodes.session import Session
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Header, Recording
from checks.traffic.recording_replay import JudgedRecording
from checks.traffic.samples import Event, Gap, NodeSample
from checks.traffic.source_id import SourceId
from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import checks_screen, chosen, concluded, listed, running, shown, until
from tui.console import main_screens
from tui.console.actions import HELP, QUIT, TABS
from tui.console.app import ConsoleApp
from tui.console.app_state import News
from tui.console.past import of_recording
from tui.screens.base import ConsoleScreen
from tui.screens.checks.screen import ChecksScreen
from tui.screens.palette import PaletteScreen

RECORDED = "2026-11-20T14:02:31.000+01:00"


class NumbersScreen(ConsoleScreen):
    """A main screen that counts its updates for samples, and raises an exception when a test requests it."""

    NAME = "traffic"
    ACTIONS = ()
    compose_breaks = False
    draw_breaks = False
    drawn = 0

    def compose_body(self) -> ComposeResult:
        if type(self).compose_breaks:
            raise RuntimeError("cannot be made")
        yield from ()

    def draw(self, news: News | None = None) -> None:
        if type(self).draw_breaks:
            raise RuntimeError("cannot be drawn")
        self.drawn += 1


@pytest.fixture
def new_console(new_console: NewConsole) -> NewConsole:
    """Make every screen in advance, as racwire does."""
    return partial(new_console, all_screens=True)


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> type[NumbersScreen]:
    """A replacement for the Traffic screen."""

    class Fresh(NumbersScreen):
        pass

    monkeypatch.setattr(f"{__name__}.Numbers", Fresh, raising=False)
    monkeypatch.setitem(main_screens.SCREENS, "traffic", f"{__name__}:Numbers")
    return Fresh


def console_of(pilot: Pilot[None]) -> ConsoleApp:
    assert isinstance(pilot.app, ConsoleApp)
    return pilot.app


async def test_digits_change_screens_and_each_keeps_its_position(
    new_console: NewConsole, numbers: type[NumbersScreen]
) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("j")
        selected = chosen(pilot)
        await pilot.press("3")
        await pilot.pause()
        assert isinstance(pilot.app.screen, numbers)
        assert "[3 Traffic]" in shown(pilot, "tabs")
        assert "prodrac" in shown(pilot, "header")
        await pilot.press("1")
        await pilot.pause()
        assert chosen(pilot) == selected


async def test_the_feed_starts_after_the_first_run_on_any_screen(
    new_console: NewConsole, numbers: type[NumbersScreen]
) -> None:
    feed = FakeFeed()
    async with new_console(lambda: engine(healthy()), new_feed=lambda: feed).run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        assert "live 1 s" in shown(pilot, "header")
        assert feed.followed[-1].local_node == "rac1"


async def test_without_events_the_feed_starts_with_the_first_screen_that_shows_it_and_the_header_says_so(
    new_console: NewConsole, numbers: type[NumbersScreen]
) -> None:
    feed = FakeFeed([Gap(SourceId.node("rac1"), 1.0, "rac1 is away.")])
    settings = Settings(console=ConsoleSettings(on_event="off"))
    app = new_console(lambda: engine(healthy()), new_feed=lambda: feed, settings=settings)
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        assert "live" not in shown(pilot, "header")
        await pilot.press("3")
        await pilot.pause()
        await pilot.pause()
        assert "live 1 s" in shown(pilot, "header")
        assert feed.followed[-1].local_node == "rac1"
        assert console_of(pilot).state.timeline.sources() == (SourceId.node("rac1"),)
        await pilot.press("q")
        await pilot.pause()
    assert feed.is_closed


@pytest.mark.parametrize("is_early", [True, False])
async def test_the_feed_samples_the_nodes_that_answered_while_another_one_is_pending(
    new_console: NewConsole, numbers: type[NumbersScreen], is_early: bool
) -> None:
    feed, reached = FakeFeed(), asyncio.Event()
    nodes = healthy().read_nodes()
    pending = UnreadNode("rac3", "rac3 has not been read yet.", is_pending=True)

    async def hang(session: Session, facts: Cluster) -> object:
        session.nodes_so_far((*nodes[:2], pending))
        reached.set()
        return await asyncio.Event().wait()

    def followed() -> bool:
        return bool(feed.followed) and feed.followed[-1].nodes == (*nodes[:2], pending)

    app = new_console(lambda: engine(healthy(), nodes=hang), new_feed=lambda: feed)
    async with app.run_test(size=(80, 24)) as pilot:
        if not is_early:
            await reached.wait()
            await pilot.pause()
        await pilot.press("3")
        await until(pilot, followed)
        assert "rac2" in {port.node for network in feed.followed[-1].networks for port in network.ports}
        await pilot.press("q")


async def test_the_feed_keeps_what_it_watches_during_a_later_run_and_follows_its_facts_at_the_end(
    new_console: NewConsole, numbers: type[NumbersScreen]
) -> None:
    feed, facts = FakeFeed(), healthy()
    nodes = facts.read_nodes()

    async def half_and_all(session: Session, _: Cluster) -> object:
        session.nodes_so_far((nodes[0], UnreadNode("rac2", "rac2 has not been read yet.", is_pending=True)))
        return facts.nodes

    app = new_console(lambda: engine(facts, nodes=half_and_all), new_feed=lambda: feed)
    async with app.run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        before = len(feed.followed)
        await pilot.press("1", "r")
        await concluded(pilot)
        later = feed.followed[before:]
        assert {len(cluster.read_nodes()) for cluster in later} == {len(nodes)}
        assert later[-1] is console_of(pilot).state.cluster


async def test_the_palette_offers_and_runs_the_actions_of_the_screen_and_of_all_screens(
    new_console: NewConsole,
) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("colon")
        await pilot.pause()
        assert "Show only FAIL" in shown(pilot, "choices")
        assert all(
            f"Show the {tab[2:]} screen." in shown(pilot, "choices") for tab in TABS.values() if "Report" not in tab
        )
        assert all(action.help[:30] in shown(pilot, "choices") for action in (HELP, QUIT))
        assert "Select the finding above" not in shown(pilot, "choices")
        await pilot.press(*"only fail")
        await pilot.pause()
        assert len(shown(pilot, "choices").splitlines()) == 1
        await pilot.press("enter")
        await pilot.pause()
        assert checks_screen(pilot)
        assert [line.split()[0] for line in listed(pilot)] == ["F"]


async def test_the_palette_can_be_left_without_an_action(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        before = shown(pilot, "list")
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*"zzz", "enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PaletteScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert shown(pilot, "list") == before


async def test_a_command_of_the_palette_acts_on_the_screen_below_it(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("enter", "colon", *"previous", "enter")
        await pilot.pause()
        assert checks_screen(pilot)


async def test_the_mouse_changes_screens_presses_keys_and_selects_findings(
    new_console: NewConsole, numbers: type[NumbersScreen]
) -> None:
    async with new_console(lambda: engine(black_hole())).run_test() as pilot:
        await concluded(pilot)
        assert await pilot.click("#tabs", offset=(shown(pilot, "tabs").index("3 Traffic"), 0))
        await pilot.pause()
        assert isinstance(pilot.app.screen, numbers)
        await pilot.click("#tabs", offset=(2, 0))
        await pilot.pause()
        await pilot.press("end", "right")
        await pilot.click("#list", offset=(4, shown(pilot, "list").splitlines().index(listed(pilot)[3])))
        await pilot.pause()
        await pilot.pause()
        wanted = listed(pilot)[3].split()[1]
        assert checks_screen(pilot).query_one("#list").chosen.finding.check == wanted  # type: ignore[attr-defined]
        await pilot.click("#keys", offset=(shown(pilot, "keys").index("filter"), 0))
        await pilot.pause()
        assert checks_screen(pilot).query_one("#filter-line").has_class("-open")


async def test_an_error_in_a_key_action_affects_only_that_key_and_is_reported(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(screen: ChecksScreen) -> None:
        raise RuntimeError("the wheels came off")

    monkeypatch.setattr(ChecksScreen, "action_copy", breaks)
    app = new_console(lambda: engine(black_hole()), may_break=True)
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("c")
        await pilot.pause()
        assert re.search("(?:Internal error in racwire|Error): see (/|…)[^ ]*racwire.log", shown(pilot, "lower-rule"))
        assert app.log_path.name == "racwire.log"
        assert "the wheels came off" in caplog.text
        await pilot.press("p")
        assert "problems only" in shown(pilot, "counts")
    assert app.return_code != 1


async def test_an_error_in_drawing_samples_is_logged_once_and_the_rest_continues(
    new_console: NewConsole, numbers: type[NumbersScreen], caplog: pytest.LogCaptureFixture
) -> None:
    numbers.draw_breaks = True
    feed = FakeFeed()
    app = new_console(lambda: engine(healthy()), new_feed=lambda: feed, may_break=True)
    async with app.run_test() as pilot:
        await concluded(pilot)
        await pilot.press("3")
        for at in range(5):
            feed.emit(Gap(SourceId.node("rac1"), float(at), "away"))
            await pilot.pause()
        assert app.faults.count >= 5
        assert caplog.text.count("Traceback") == 1
        numbers.draw_breaks = False
        await pilot.press("1", "3")
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, numbers)
        assert screen.drawn > 0


@pytest.mark.parametrize("what", ["compose", "module", "class"])
async def test_a_screen_that_cannot_be_made_says_so_and_the_others_work(
    what: str,
    new_console: NewConsole,
    numbers: type[NumbersScreen],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if what == "compose":
        numbers.compose_breaks = True
    else:
        place = "tests.no_such:X" if what == "module" else f"{__name__}:NoSuch"
        monkeypatch.setitem(main_screens.SCREENS, "traffic", place)
    async with new_console(lambda: engine(black_hole()), may_break=True).run_test() as pilot:
        await concluded(pilot)
        await pilot.press("3")
        await pilot.pause()
        assert "could not be made" in " ".join(shown(pilot, "broken").split())
        assert "[3 Traffic]" in shown(pilot, "tabs")
        await pilot.press("1")
        await pilot.pause()
        assert chosen(pilot) == "IC-PATH-003"


async def test_quitting_waits_for_a_hanging_run_and_feed_at_the_same_time(
    new_console: NewConsole, numbers: type[NumbersScreen], monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = asyncio.Event()

    class StubbornFeed(FakeFeed):
        async def events(self) -> AsyncGenerator[Event, None]:
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue
            yield Gap(SourceId.node("rac1"), 0.0, "never")

        async def close(self) -> None:
            await let_go.wait()

    async def stubborn(*_: object) -> object:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return healthy().nodes

    app = new_console(lambda: engine(healthy(), nodes=stubborn), new_feed=StubbornFeed)
    async with app.run_test() as pilot:
        await until(pilot, lambda: running(pilot))
        await pilot.press("3")
        await until(pilot, lambda: running(pilot, "feed"))
        stops: list[str] = []
        for part in (app._run, app._live):
            monkeypatch.setattr(part, "stop", _noted(part.stop, stops))
        await app.action_quit()
        let_go.set()
    assert stops[:2] == ["begins", "begins"]


def _noted(stop: Callable[[float], Awaitable[None]], seen: list[str]) -> Callable[[float], Awaitable[None]]:
    """The same engine, which records its start and its end."""

    async def noted(within_s: float) -> None:
        seen.append("begins")
        try:
            await stop(within_s)
        finally:
            seen.append("ends")

    return noted


def test_every_tab_has_its_screen() -> None:
    assert set(main_screens.SCREENS) == set(TABS)
    for place in main_screens.SCREENS.values():
        file = Path(__file__).parents[2] / (place.partition(":")[0].replace(".", "/") + ".py")
        assert f"class {place.partition(':')[2]}(" in file.read_text()


async def test_a_recording_is_shown_instead_of_samples_and_judged_as_far_as_possible(
    new_console: NewConsole, tmp_path: Path
) -> None:
    path = tmp_path / "before.rec"
    header = Header(racwire_version="1", started_at=RECORDED, label="mtu1500", interval_s=1, cluster=healthy())
    recorder = Recorder.create(path, header)
    recorder.write([NodeSample("rac1", at, 1.0) for at in (1000.0, 1001.0)])
    recorder.close()
    recording = Recording.open(path)

    def no_feed() -> FakeFeed:
        raise AssertionError("nothing is sampled")

    app = new_console(
        lambda: JudgedRecording(recording.header, discover(), Settings()),
        new_feed=no_feed,
        past=of_recording(recording),
        first="traffic",
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await concluded(pilot)
        assert "[3 Traffic]" in shown(pilot, "tabs")
        assert "recording mtu1500" in shown(pilot, "header")
        await pilot.press("4", "1", "end", "up", "right")
        await concluded(pilot)
        assert "P interfaces" in "\n".join(listed(pilot))
        assert "no run recorded: facts of 14:02:31" in shown(pilot, "upper-rule")
    recording.close()
