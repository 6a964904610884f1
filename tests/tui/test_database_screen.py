"""The Database screen, driven by keys and by samples."""

from __future__ import annotations

import msgspec
import pytest
from textual.pilot import Pilot

from checks.model.facts import Cluster, NotAsked
from checks.traffic.samples import Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from tests.fixtures.databases import asked, history, losing, past_loss
from tests.tui.clusters import engine, healthy
from tests.tui.conftest import FakeFeed, NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.test_checks_screen import Gate
from tui.screens.database.screen import DatabaseScreen
from tui.widgets.lines import Lines

NOON = 1_763_640_000.0


def sample(number: int, at: float = NOON, lost: int = 0) -> InstanceSample:
    statistics = {"gc blocks lost": lost, "gc cr blocks received": 300, "gc current blocks received": 100}
    return InstanceSample(f"prod{number}", number, f"rac{number}", at, 1.0, statistics)


def well(nodes: int = 2, **groups: object) -> Cluster:
    """Return a healthy cluster with its database."""
    return asked(nodes, **groups)


async def database_of(pilot: Pilot[None]) -> None:
    """Show the screen after the run is complete."""
    await concluded(pilot)
    await pilot.press("4")
    await pilot.pause()
    assert isinstance(pilot.app.screen, DatabaseScreen)


def text(pilot: Pilot[None]) -> str:
    return shown(pilot, "database-page")


def row(pilot: Pilot[None], name: str) -> list[str]:
    """Return the first row of that instance."""
    return next(line.split() for line in text(pilot).splitlines() if line.startswith(f" {name}"))


def top(pilot: Pilot[None]) -> str:
    """Return the first visible line."""
    page = pilot.app.screen.query_one("#database-page", Lines)
    return text(pilot).splitlines()[page.above].strip()


async def shows(pilot: Pilot[None], words: str) -> None:
    """Wait until the screen contains this text; the live feed continues, so its work never ends."""
    await until(pilot, lambda: words in text(pilot))


async def settled(pilot: Pilot[None]) -> None:
    """Wait until the received samples are drawn."""
    screen = pilot.app.screen
    assert isinstance(screen, DatabaseScreen)
    await pilot.pause()
    await until(pilot, lambda: screen.is_settled)


async def test_all_sections_are_on_one_scrollable_page(new_console: NewConsole) -> None:
    facts = well(activity=losing(2, 37, {1: 37}), history=history(2, [past_loss(2)]))
    async with new_console(lambda: engine(facts)).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        heads = (
            "Instances",
            "Lost blocks",
            "Receive times",
            "Pings between instances",
            "Caches and serving",
            "History",
        )
        places = [text(pilot).index(f" {head}") for head in heads]
        assert places == sorted(places)
        assert row(pilot, "prod2")[3:5] == ["1.23", "F"]
        assert "PgDn: " in shown(pilot, "lower-rule")


async def test_keys_scroll_and_jump_between_sections(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(well(16))).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        assert top(pilot).startswith("Instances")
        for key, head in (
            ("n", "Lost blocks"),
            ("tab", "Receive times"),
            ("N", "Lost blocks"),
            ("shift+tab", "Instances"),
            ("N", "Instances"),
        ):
            await pilot.press(key)
            assert top(pilot).startswith(head), key
        await pilot.press("j")
        assert top(pilot).startswith("PROD")
        await pilot.press("k", "pagedown", "space", "pageup", "b")
        assert top(pilot).startswith("Instances")
        await pilot.press("G")
        assert "PgDn" not in shown(pilot, "lower-rule")
        await pilot.press("n", "home")
        assert top(pilot).startswith("Instances")


async def test_live_samples_replace_the_figures_of_the_run(new_console: NewConsole) -> None:
    feed = FakeFeed([sample(1), sample(2, lost=3)])
    async with new_console(lambda: engine(well()), new_feed=lambda: feed).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        await settled(pilot)
        assert "Instances  live, 1 s to " in text(pilot)
        assert row(pilot, "prod2")[1:5] == ["400", "?", "3.00", "F"]
        feed.emit(sample(2, NOON + 1), Gap(SourceId.instance("prod1"), NOON + 1, "prod1 does not answer."))
        await settled(pilot)
        assert row(pilot, "prod2")[3] == "0"
        assert " ".join(row(pilot, "prod1")) == "prod1 ? rac1: prod1 does not answer."


async def test_the_scroll_position_stays_when_samples_arrive(new_console: NewConsole) -> None:
    feed = FakeFeed()
    async with new_console(lambda: engine(well(16)), new_feed=lambda: feed).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        await pilot.press("n", "n")
        before = top(pilot)
        feed.emit(*(sample(n) for n in range(1, 17)))
        await settled(pilot)
        assert row(pilot, "prod7")[1] == "400"
        assert top(pilot) == before


async def test_samples_of_nodes_do_not_redraw_the_screen(new_console: NewConsole) -> None:
    feed = FakeFeed()
    async with new_console(lambda: engine(well()), new_feed=lambda: feed).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DatabaseScreen)
        feed.emit(NodeSample("rac1", NOON, 1.0))
        await until(pilot, lambda: SourceId.node("rac1") in screen.state.timeline.sources())
        assert screen.is_settled


async def test_without_a_database_the_reason_and_the_command_are_shown(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        assert "No database connection is set; prod1 runs here." in text(pilot)
        assert "racwire check --connect HOST:1521/SERVICE" in text(pilot)
        for key in ("n", "N", "G", "g", "j"):
            await pilot.press(key)


async def test_history_that_was_not_requested_says_how_to_enable_it(new_console: NewConsole) -> None:
    facts = well(history=NotAsked("AWR was not opted in to.", ("racwire check --awr",)))
    async with new_console(lambda: engine(facts)).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        assert "racwire check --awr" in text(pilot)
        assert "0 of 12,400" in text(pilot)


async def test_while_the_instances_are_read_the_earlier_run_stays_visible(
    new_console: NewConsole,
) -> None:
    facts = well()
    gate, again = Gate(facts, "activity"), Gate(facts, "activity")
    engines = (lambda: engine(facts, activity=gate), lambda: engine(facts, activity=again))
    async with new_console(*engines).run_test(size=(80, 24)) as pilot:
        await gate.reached.wait()
        await pilot.press("4")
        await pilot.pause()
        await shows(pilot, "Being read")
        gate.open.set()
        await shows(pilot, "0 of 12,400")
        await pilot.press("r")
        await again.reached.wait()
        await pilot.pause()
        assert pilot.app.state.run.running  # type: ignore[attr-defined]
        assert "0 of 12,400" in text(pilot)
        again.open.set()
        await concluded(pilot)
        await shows(pilot, "0 of 12,400")


@pytest.mark.parametrize("instances", [2, 16])
async def test_the_screen_works_at_any_size(new_console: NewConsole, instances: int) -> None:
    facts = msgspec.structs.replace(well(instances))
    async with new_console(lambda: engine(facts)).run_test(size=(80, 24)) as pilot:
        await database_of(pilot)
        for size in ((60, 24), (120, 40), (40, 10), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert all(len(line) <= size[0] for line in text(pilot).splitlines())
            assert row(pilot, f"prod{instances}")[1] == "413"
