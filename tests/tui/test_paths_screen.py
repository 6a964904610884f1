"""The Paths screen, driven by keys."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from textual.pilot import Pilot

from checks.model.facts import Cluster, NotGathered, Unknown
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.sources.nodes.session import Session
from checks.traffic.recording import Header
from checks.traffic.recording_replay import JudgedRecording
from tests.fixtures.clusters import cluster
from tests.tui.clusters import black_hole, engine, healthy, node_unread, without_database
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.test_checks_screen import Gate
from tui.screens.paths.screen import PathsScreen
from tui.screens.reader import ReaderScreen
from tui.widgets.lines import Lines


async def paths_of(pilot: Pilot[None]) -> None:
    """Show the screen after the run is complete."""
    await concluded(pilot)
    await pilot.press("2")
    await pilot.pause()
    assert isinstance(pilot.app.screen, PathsScreen)


def cursor_line(pilot: Pilot[None]) -> str:
    """Return the description of the path under the cursor."""
    return shown(pilot, "path-foot").splitlines()[0].strip()


def header_of(facts: Cluster) -> Header:
    """Return the first events of a recording on that cluster."""
    return Header(
        racwire_version="1", started_at="2026-11-20T14:02:31.000+01:00", label="", interval_s=1, cluster=facts
    )


def view(pilot: Pilot[None]) -> list[str]:
    """Return the visible lines of the matrix."""
    squares = pilot.app.screen.query_one("#path-matrix", Lines)
    return shown(pilot, "path-matrix").splitlines()[squares.above :][: squares.size.height]


async def test_the_cursor_is_on_the_first_problem_and_describes_it(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        assert cursor_line(pilot).startswith("rac1→rac3: 84 bytes 20/20 0.08 ms · 9000 bytes 0/20 · largest 1500")
        assert "[1500 B]" in shown(pilot, "path-matrix")
        assert "B black hole" in shown(pilot, "path-foot")


async def test_arrows_and_letters_move_the_cursor_and_continue_into_the_next_matrix(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        assert cursor_line(pilot).startswith("rac1→rac2")
        for key, way in (
            ("down", "rac2 itself"),
            ("l", "rac2→rac3"),
            ("right", "rac2→rac3"),
            ("j", "rac3 itself"),
            ("h", "rac3→rac2"),
            ("left", "rac3→rac1"),
            ("g", "rac1 itself"),
            ("k", "rac1 itself"),
            ("G", "rac3→rac1"),
            ("down", "rac1 itself"),
            ("up", "rac3→rac1"),
        ):
            await pilot.press(key)
            assert cursor_line(pilot).startswith(way), key
        await pilot.press("n")
        assert cursor_line(pilot).startswith("rac3→rac1")
        assert "[9000 P]" in shown(pilot, "path-matrix").split("eth2")[1]


async def test_p_moves_from_problem_to_problem_and_wraps_around(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        ways = []
        for _ in range(4):
            await pilot.press("p")
            ways.append(cursor_line(pilot).split(":")[0])
        assert ways == ["rac2→rac3", "rac3→rac1", "rac3→rac2", "rac1→rac3"]


async def test_without_problems_p_says_so(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test() as pilot:
        await paths_of(pilot)
        await pilot.press("p")
        assert "Every path passes." in shown(pilot, "lower-rule")


async def test_enter_shows_the_path_in_both_directions_with_its_journal(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ReaderScreen)
        text = shown(pilot, "page")
        assert "rac1 → rac3  B black hole" in text
        assert "rac3 → rac1  B black hole" in text
        assert "DF ping -s 8972 192.168.11.3" in text
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, PathsScreen)
        await pilot.press("g", "h", "h", "enter")
        assert isinstance(pilot.app.screen, PathsScreen)
        assert "nothing to itself" in shown(pilot, "lower-rule")


async def test_a_click_selects_a_path_and_a_second_click_opens_it(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        lines = shown(pilot, "path-matrix").splitlines()
        for row, way in ((len(lines) - 1, "rac3→rac2"), (3, "rac2→rac1")):  # in the square of eth2, then of eth1
            at = lines[row].rindex("1500 B") if row > 3 else lines[row].index("9000 P")
            await pilot.click("#path-matrix", offset=(at, row))
            await pilot.pause()
            assert cursor_line(pilot).startswith(way)
        await pilot.click("#path-matrix", offset=(2, row))
        await pilot.click("#path-matrix", offset=(at, 0))
        await pilot.pause()
        assert cursor_line(pilot).startswith("rac2→rac1")
        await pilot.click("#path-matrix", offset=(at, row))
        await pilot.pause()
        assert "rac2 → rac1  P passes" in shown(pilot, "page")


@pytest.mark.parametrize(
    ("paths", "message"),
    [(NotGathered(), "A recording contains only samples"), (Unknown("No ping."), "No ping.")],
    ids=["not gathered", "unknown"],
)
async def test_without_probes_the_screen_shows_the_reason(
    new_console: NewConsole, paths: Unknown | NotGathered, message: str
) -> None:
    facts = msgspec.structs.replace(healthy(), paths=paths)
    async with new_console(lambda: JudgedRecording(header_of(facts), discover(), Settings())).run_test() as pilot:
        await paths_of(pilot)
        assert "not probed" in shown(pilot, "path-matrix")
        assert "0 of" not in shown(pilot, "path-matrix")
        assert message in " ".join(shown(pilot, "path-foot").split())


async def test_sixteen_nodes_fit_24_lines_one_network_at_a_time(new_console: NewConsole) -> None:
    facts = without_database(cluster(16))
    async with new_console(lambda: engine(facts)).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        assert "eth1 192.168.10.0/24" in shown(pilot, "upper-rule")
        assert "network 1 of 2" in shown(pilot, "upper-rule")
        lines = view(pilot)
        assert len(lines) == 17
        assert sum(line.count("P") for line in lines) == 240
        await pilot.press("n")
        assert "eth2 192.168.11.0/24" in shown(pilot, "upper-rule")
        assert cursor_line(pilot) == "rac1→rac2: 84 bytes 20/20 0.08 ms · 9000 bytes 20/20 0.21 ms · largest 9000"


async def test_the_cursor_stays_visible_on_a_low_screen(new_console: NewConsole) -> None:
    facts = without_database(cluster(16))
    async with new_console(lambda: engine(facts)).run_test(size=(80, 14)) as pilot:
        await paths_of(pilot)
        for _ in range(15):
            await pilot.press("down")
            assert any("[" in line for line in view(pilot))
        assert cursor_line(pilot).startswith("rac16→rac2")
        for _ in range(15):
            await pilot.press("up")
            assert any("[" in line for line in view(pilot))


@pytest.mark.parametrize("nodes", [2, 16])
async def test_the_screen_works_at_any_size(new_console: NewConsole, nodes: int) -> None:
    facts = without_database(cluster(nodes))
    async with new_console(lambda: engine(facts)).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        for size in ((60, 24), (120, 40), (40, 10), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert any("[" in line for line in view(pilot))
            assert cursor_line(pilot).startswith("rac1→rac2")


async def test_a_node_that_could_not_be_read_is_listed_with_its_reason(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(node_unread())).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        assert cursor_line(pilot) == "rac1→rac3: rac3 could not be read: ssh asked for a password."
        assert "? not known" in shown(pilot, "path-foot")


async def test_the_matrix_fills_in_as_probes_finish_and_the_probes_of_a_path_are_below(new_console: NewConsole) -> None:
    facts = black_hole()
    assert not isinstance(facts.paths, Unknown)
    some = tuple(path for path in facts.paths if path.from_node == "rac1")
    release = asyncio.Event()

    async def probe(session: Session, known: Cluster) -> object:
        session.paths_so_far(some)
        await release.wait()
        return facts.paths

    async with new_console(lambda: engine(facts, paths=probe)).run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "2 of 6 paths probed" in shown(pilot, "path-matrix"))
        assert "[1500 B]" in shown(pilot, "path-matrix")
        assert "… being probed" in shown(pilot, "path-foot")
        assert any(line.split()[:3] == ["8,972", "9,000", "0/20"] for line in shown(pilot, "path-foot").splitlines())
        await pilot.press("p")
        assert cursor_line(pilot).startswith("rac1→rac3"), "a path that is still being probed is no problem"
        release.set()
        await until(pilot, lambda: "6 paths pass" in shown(pilot, "path-matrix"))
        assert "…" not in shown(pilot, "path-matrix")


async def test_without_private_networks_the_reason_and_the_remedy_are_shown(new_console: NewConsole) -> None:
    unknown = Unknown("oifcfg could not be run.")
    facts = msgspec.structs.replace(healthy(), networks=unknown, paths=unknown)
    async with new_console(lambda: engine(facts)).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        text = " ".join(shown(pilot, "path-matrix").split())
        assert text.startswith("? The private networks are not known. oifcfg could not be run.")
        assert "r runs the checks again" in text
        for key in ("down", "right", "enter", "n", "p", "g", "G"):
            await pilot.press(key)
        assert isinstance(pilot.app.screen, PathsScreen)


async def test_during_the_first_run_the_screen_shows_what_it_waits_for(new_console: NewConsole) -> None:
    facts = healthy()
    gate = Gate(facts, "paths")
    async with new_console(lambda: engine(facts, paths=gate)).run_test(size=(80, 24)) as pilot:
        await gate.reached.wait()
        await pilot.press("2")
        await pilot.pause()
        assert "The paths are not known yet: the checks are running" in " ".join(shown(pilot, "path-matrix").split())
        gate.open.set()
        await concluded(pilot)
        assert cursor_line(pilot).startswith("rac1→rac2")


async def test_during_the_next_run_the_last_matrices_stay(new_console: NewConsole) -> None:
    current: Cluster = healthy()
    gate = Gate(current, "paths")
    first, second = lambda: engine(black_hole()), lambda: engine(current, paths=gate)
    async with new_console(first, second).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        await pilot.press("p", "r")
        await gate.reached.wait()
        await pilot.pause()
        assert "1500 B" in shown(pilot, "path-matrix")
        before = cursor_line(pilot)
        assert before.startswith("rac2→rac3")
        gate.open.set()
        await concluded(pilot)
        assert "1500 B" not in shown(pilot, "path-matrix")
        assert cursor_line(pilot).split(":")[0] == before.split(":")[0]


async def test_help_explains_its_keys_and_letters(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test(size=(80, 24)) as pilot:
        await paths_of(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        text = shown(pilot, "page")
        assert "Select the next private network." in text
        assert "black hole" in text
