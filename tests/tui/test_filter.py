"""The filter of Paths and Database, the order of Database, and the search in pages."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tui.clusters import black_hole, engine, healthy
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, shown, until
from tests.tui.test_database_screen import well
from tui.screens.reader import ReaderScreen
from tui.text.search import Match
from tui.widgets.lines import Lines


async def typed(pilot: Pilot[None], text: str) -> None:
    await pilot.press("slash", *("space" if sign == " " else sign for sign in text), "enter")
    await pilot.pause()


def rows(pilot: Pilot[None], part: str, start: str) -> list[str]:
    return [line.split()[0] for line in shown(pilot, part).splitlines() if line.startswith(f" {start}")]


async def test_paths_shows_the_paths_with_all_words_and_moves_among_them(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(100, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("2")
        whole = shown(pilot, "path-matrix")
        await typed(pilot, "black hole")
        assert "/black hole  4 of 12 paths" in shown(pilot, "upper-rule")
        matrix = shown(pilot, "path-matrix")
        assert "2 of 6 paths pass" in matrix  # the title still counts all paths
        assert "P" not in matrix.replace("MTU", "")
        [cursor] = [line for line in matrix.splitlines() if "[" in line]
        await pilot.press("down")
        assert [line for line in shown(pilot, "path-matrix").splitlines() if "[" in line] != [cursor]
        await pilot.press("right", "right", "right", "up", "G")
        assert shown(pilot, "path-matrix").count("[") == 1
        await pilot.press("p", "enter")
        assert "black hole" in shown(pilot, "page")
        await pilot.press("q")
        await typed(pilot, "zzz")
        assert shown(pilot, "path-matrix").strip() == "No path matches /zzz; Esc clears the filter."
        await pilot.press("down", "enter", "p", "n", "G", "escape")
        await pilot.pause()
        brackets = str.maketrans("[]", "  ")
        assert shown(pilot, "path-matrix").translate(brackets) == whole.translate(brackets)


async def test_database_keeps_rows_with_their_headings_and_cells_of_a_column(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(well(3))).run_test(size=(100, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("4")
        await until(pilot, lambda: "Receive times" in shown(pilot, "database-page"))
        whole = shown(pilot, "database-page")
        await typed(pilot, "prod2")
        page = shown(pilot, "database-page")
        assert " rows" in shown(pilot, "upper-rule")
        instances, _, rest = page.partition("Lost blocks")
        assert [line.split()[0] for line in instances.splitlines() if " prod" in line] == ["prod2"]
        assert "lost/s" in instances
        matrix = rest.partition("Receive times")[0].splitlines()
        received = next(line for line in matrix if line.startswith(" prod1"))
        assert received.count(" of ") == 1  # only from prod2
        await typed(pilot, "nothing at all")
        assert shown(pilot, "database-page").strip() == "No row matches /nothing at all; Esc clears the filter."
        await pilot.press("escape")
        await pilot.pause()
        assert shown(pilot, "database-page") == whole


async def test_database_sorts_the_instances_in_all_tables(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(well(3))).run_test(size=(100, 40)) as pilot:
        await concluded(pilot)
        await pilot.press("4")
        await until(pilot, lambda: "Receive times" in shown(pilot, "database-page"))
        usual = rows(pilot, "database-page", "prod")
        heading = next(line for line in shown(pilot, "database-page").splitlines() if "lost/s" in line)
        await pilot.press("s")
        page = shown(pilot, "database-page")
        assert heading.replace(" lost/s", "▼lost/s") in page  # nothing has moved
        await pilot.press("S")
        assert "▲lost/s" in shown(pilot, "database-page")
        assert sorted(rows(pilot, "database-page", "prod")) == sorted(usual)
        await pilot.press(*"sssss")
        assert rows(pilot, "database-page", "prod") == usual


async def test_a_page_is_searched_and_each_match_comes_into_sight(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(black_hole())).run_test(size=(60, 16)) as pilot:
        await concluded(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReaderScreen))
        screen = pilot.app.screen
        assert isinstance(screen, ReaderScreen)
        page = screen.query_one("#page", Lines)
        text = page.text

        def current() -> Match:
            return screen._matches[screen._match]

        await typed(pilot, "MTU")
        seen = []
        for _ in screen._matches:
            seen.append(current())
            assert page.above <= current()[0].line < page.above + page.size.height
            assert f"match {screen._match + 1} of {len(screen._matches)}" in shown(pilot, "page-rule")
            await pilot.press("n")
        assert len(seen) > 3
        assert current() == seen[0]
        await pilot.press("N")
        assert current() == seen[-1]
        assert page.text == text
        await typed(pilot, "zzz")
        assert "Nothing matches /zzz; Esc ends the search." in shown(pilot, "page-rule")
        await pilot.press("n", "escape")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is not screen)


async def test_help_can_be_searched_and_q_leaves_at_once(new_console: NewConsole) -> None:
    async with new_console(lambda: engine(healthy())).run_test(size=(80, 24)) as pilot:
        await concluded(pilot)
        main = pilot.app.screen
        await pilot.press("question_mark")
        await typed(pilot, "shell")
        assert "match 1 of" in shown(pilot, "page-rule")
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is main)
