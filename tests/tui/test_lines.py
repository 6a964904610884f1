"""Lines on the screen: only changed cells are sent to the terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.screen import Screen

from tui.terminal.cells import CellCompositor, CellUpdate, can_move, changed, pushed
from tui.text.line import Line, fitted
from tui.widgets.lines import BROKEN, Lines

SIGNS = st.text(st.sampled_from("ab 漢é▁█\u0301"), max_size=12)
LINES = st.lists(st.tuples(SIGNS, st.sampled_from(["", "fail"])), max_size=4)
MOVED = re.compile(r"\x1b\[(\d+);(\d+)H")
STYLED = re.compile(r"\x1b\[[\d;]*m")


def test_only_columns_that_differ_are_changed() -> None:
    assert changed([("rate 812 Mb/s", "")], [("rate 817 Mb/s", "")], 20) == [(7, 8)]


def test_close_changes_are_one_range_and_distant_changes_are_two() -> None:
    assert changed([("1 2" + " " * 20 + "3", "")], [("4 5" + " " * 20 + "6", "")], 30) == [(0, 3), (23, 24)]


def test_another_role_is_a_change() -> None:
    assert changed([("drops ", ""), ("12/s", "")], [("drops ", ""), ("12/s", "fail")], 20) == [(6, 10)]


def test_a_longer_line_changes_at_its_end() -> None:
    assert changed([("abc", "")], [("abcdef", "")], 10) == [(3, 6)]
    assert changed([("abcdef", "")], [("abc", "")], 10) == [(3, 6)]


def test_a_wide_character_changes_in_both_of_its_columns() -> None:
    assert changed([("漢x", "")], [("abx", "")], 5) == [(0, 2)]
    assert changed([("ab漢", "")], [("ab字", "")], 5) == [(2, 4)]


@given(LINES, LINES, st.integers(0, 40))
def test_writing_the_changed_ranges_over_the_old_line_gives_the_new_one(old: Line, new: Line, width: int) -> None:
    def columns(line: Line) -> list[object]:
        cells: list[object] = []
        for text, role in line:
            for sign in text:
                if cell_len(sign):
                    cells += [(sign, role, part) for part in range(cell_len(sign))]
                elif cells:
                    cells[-1] = (cells[-1], sign)
        return (cells + [(" ", "", 0)] * width)[:width]

    written = columns(old)
    for start, end in changed(old, new, width):
        assert 0 <= start < end <= width
        written[start:end] = columns(new)[start:end]
    assert written == columns(new)


class CellScreen(Screen[None]):
    """A screen with lines, which records their updates in the form for the terminal."""

    CSS = "Lines { height: 1fr; } #foot { height: 1; }"

    def __init__(self, lines: Sequence[Line], *, can_move: bool) -> None:
        super().__init__()
        self._compositor = CellCompositor(can_move=can_move)
        self.lines = lines

    def compose(self) -> ComposeResult:
        yield Lines(lambda width: self.lines, id="body")
        yield Lines(lambda width: [[(fitted("foot", width), "")]], id="foot")


class LinesApp(App[None]):
    def __init__(self, lines: Sequence[Line], *, can_move: bool = True) -> None:
        super().__init__()
        self.shown = CellScreen(lines, can_move=can_move)
        self.updates: list[str] = []
        self.received: list[tuple[str, int, int]] = []

    def on_mount(self) -> None:
        self.push_screen(self.shown)

    def _display(self, screen: Screen[object], renderable: object) -> None:
        if isinstance(renderable, CellUpdate):
            console = Console(file=io.StringIO(), color_system="truecolor", force_terminal=True)
            self.updates.append(renderable.render_segments(console))

    @on(Lines.Clicked)
    def hear(self, message: Lines.Clicked) -> None:
        self.received.append((message.lines.id or "", message.line, message.column))

    def body(self) -> Lines:
        return self.screen.query_one("#body", Lines)


@pytest.fixture(autouse=True)
def _style_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.style import Style

    styles = {"fail": Style(color="red", bold=True), "accent": Style(color="blue")}
    monkeypatch.setattr(Lines, "_style", lambda lines, role: styles.get(role, Style.null()))


async def update_from(before: Sequence[Line], after: Sequence[Line], *, can_move: bool = True) -> str:
    """Return the bytes written to the terminal when lines change."""
    app = LinesApp(before, can_move=can_move)
    async with app.run_test(size=(80, 6)) as pilot:
        await pilot.pause()
        app.updates.clear()
        app.body().show(lambda width: after)
        await pilot.pause()
        return "".join(app.updates)


async def test_a_changed_digit_at_the_right_writes_only_that_digit() -> None:
    start = [("x" * 60 + " ", ""), ("812 Mb/s", "")]
    sent = await update_from([start], [[*start[:1], ("817 Mb/s", "")]])
    assert STYLED.sub("", MOVED.sub("", sent)) == "7"
    assert MOVED.findall(sent) == [("1", "64")]


async def test_the_texts_of_one_style_are_written_together() -> None:
    before = [[("a" * 20, "accent"), ("b" * 20, ""), ("c" * 20, "accent")] for _ in range(3)]
    after = [[(text.upper(), role) for text, role in line] for line in before]
    sent = await update_from(before, after)
    assert len(STYLED.findall(sent)) == 3, "the accent, the plain text, the reset at the end"
    assert MOVED.findall(sent) == [("1", "1"), ("2", "1"), ("3", "1"), ("1", "21"), ("2", "21"), ("3", "21")]
    assert sent.count("\x1b[20C") == 3, "from one text with the accent to the other of its line"


async def test_a_widget_makes_the_cells_that_textual_would_render() -> None:
    lines: list[Line] = [
        [("plain ", ""), ("failed", "fail"), (" ▁▃█ ", "accent")],
        [("漢字 wide", "fail"), (" and more", "")],
        [("cafe\u0301 " * 12, "accent")],
        [],
    ]
    app = LinesApp(lines)
    async with app.run_test(size=(80, 6)) as pilot:
        await pilot.pause()
        body, filters = app.body(), app.get_line_filters()
        _, background = body.background_colors
        for y, strip in enumerate(body.render_lines(Region(0, 0, 80, 5))):
            for start, end in ((0, 80), (0, 1), (3, 9), (6, 12), (7, 80), (40, 41)):
                usual = [*strip.crop(start, end)]
                for line_filter in filters:
                    usual = line_filter.apply(usual, background)
                assert _signs(body.cells(y, start, end, filters)) == _signs(usual)


def _signs(segments: Iterable[Segment]) -> list[tuple[str, Style | None]]:
    return [(sign, style) for text, style, _ in segments for sign in text]


async def test_bold_ends_where_it_ends() -> None:
    sent = await update_from([[("aaaabbbb", "")]], [[("AAAA", "fail"), ("BBBB", "")]])
    bold, _, after = sent.partition("AAAA")
    assert re.search(r"\x1b\[(0;)?1;", bold)
    assert after.startswith("\x1b[0"), "only a reset takes bold away"


async def test_unchanged_lines_send_nothing() -> None:
    assert await update_from([[("same", "")]], [[("same", "")]]) == ""


async def test_wide_characters_keep_their_columns() -> None:
    sent = await update_from([[("漢字 1", "")]], [[("漢字 2", "")]])
    assert MOVED.findall(sent) == [("1", "6")]
    assert "漢" not in sent


async def test_lines_that_cannot_be_drawn_show_an_error_which_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    app = LinesApp([])
    async with app.run_test(size=(80, 6)) as pilot:

        def broken(width: int) -> list[Line]:
            raise ValueError("no such thing")

        for _ in range(3):
            app.body().show(broken)
        await pilot.pause()
        assert app.body().text == BROKEN
        assert len([record for record in caplog.records if record.exc_info]) == 1
        app.body().show(lambda width: [[("well again", "")]])
        assert app.body().text == "well again"


async def test_a_click_reports_line_and_column() -> None:
    app = LinesApp([[(str(number), "")] for number in range(20)])
    async with app.run_test(size=(80, 6)) as pilot:
        await pilot.pause()
        await pilot.click("#body", offset=(7, 2))
        app.body().scroll_by(4)
        await pilot.click("#body", offset=(1, 0))
        await pilot.pause()
        assert app.received == [("body", 2, 7), ("body", 4, 1)]


async def test_the_wheel_scrolls() -> None:
    app = LinesApp([[(str(number), "")] for number in range(20)])
    async with app.run_test(size=(80, 6)) as pilot:
        await pilot.pause()
        body = app.body()
        for kind in (events.MouseScrollDown, events.MouseScrollDown, events.MouseScrollUp):
            body.post_message(kind(body, 1, 1, 0, 0, 0, False, False, False))
        await pilot.pause()
        assert body.above == 3


# --- scrolling graphs -------------------------------------------------------------------------------------------------


GRAPH = "▁▃▅▇█▂▄▆█▁▃▅▇▂▄▆▁█▃▅▂▇▄▆▁▃█▅"
COMMAND = re.compile(r"\x1b\[([\d;]*)([A-Za-z@])|(.)")


def after(rows: Sequence[str], sent: str) -> list[str]:
    """Return the rows that a terminal displays after it has received this text.

    It knows only the sequences used here.
    """
    screen = [list(row) for row in rows]
    x = y = 0
    for numbers, command, sign in COMMAND.findall(sent):
        if sign:
            screen[y][x] = sign
            x += 1
        elif command == "H":
            y, x = (int(number) - 1 for number in numbers.split(";"))
        elif command == "C":
            x += int(numbers)
        elif command == "P":
            screen[y] = [*screen[y][:x], *screen[y][x + 1 :], " "]
        elif command == "@":
            screen[y] = [*screen[y][:x], " ", *screen[y][x:-1]]
        else:
            assert command == "m", command
    return ["".join(row) for row in screen]


def row(name: str, figure: str, drawn: str, peak: str) -> Line:
    return [(name, ""), (figure, "warn"), (" ", ""), (drawn, "accent"), (peak, "")]


async def test_a_scrolling_graph_is_moved_and_only_its_newest_character_written() -> None:
    before = row("eth1 ", " 812 Mb/s", GRAPH, "  1.4 Gb/s")
    now = row("eth1 ", " 813 Mb/s", GRAPH[1:] + "▆", "  1.4 Gb/s")
    sent = await update_from([before], [now])
    shown = [fitted("".join(text for text, _ in line), 80) for line in (before, now)]
    assert after(shown[:1], sent) == shown[1:]
    assert COMMAND.sub(lambda found: found[3], sent) == "3▆"


async def test_a_new_blank_has_the_background_of_the_theme() -> None:
    """Cells that the terminal inserts have its own background, which would stay and move with the graph."""
    drawn = " ▁▂▄▁▄▅▄▃▁▂▄▅▅▁▃▁▅▂▅     "
    before, now = row("eth1 ", "1", drawn, "9"), row("eth1 ", "1", drawn[1:] + " ", "9")
    sent = await update_from([before], [now])
    assert "\x1b[P" in sent
    assert re.search(r"\x1b\[[\d;]*48;2;[\d;]*m ", sent), "a blank with a background"
    shown = [fitted("".join(text for text, _ in line), 80) for line in (before, now)]
    assert after(shown[:1], sent) == shown[1:]


async def test_a_terminal_that_cannot_move_characters_gets_them_written() -> None:
    before, now = row("eth1 ", "1", GRAPH, "9"), row("eth1 ", "1", GRAPH[1:] + "▆", "9")
    sent = await update_from([before], [now], can_move=False)
    assert {command for _, command, _ in COMMAND.findall(sent)} <= {"H", "m", ""}
    shown = [fitted("".join(text for text, _ in line), 80) for line in (before, now)]
    assert after(shown[:1], sent) == shown[1:]


@pytest.mark.parametrize(
    ("term", "can"),
    [
        *((term, True) for term in ("xterm", "xterm-256color", "screen.xterm-256color", "tmux-256color", "linux")),
        *((term, True) for term in ("putty", "vt220", "vt420", "rxvt-unicode", "st-256color", "foot", "konsole")),
        *((term, False) for term in ("vt100", "vt102", "vt52", "ansi", "pcansi", "sun", "wy50", "strange", "")),
    ],
)
def test_only_terminals_known_to_support_moving_receive_the_sequence(term: str, can: bool) -> None:
    assert can_move({"TERM": term}) is can


async def test_lines_that_change_before_the_last_drawing_are_written_in_full() -> None:
    lines = [row("eth1 ", " 812 Mb/s", GRAPH[begin:] + "▆" * begin, "  1.4 Gb/s") for begin in range(3)]
    shown = [fitted("".join(text for text, _ in line), 80) for line in lines]
    app = LinesApp(lines[:1])
    async with app.run_test(size=(80, 6)) as pilot:
        await pilot.pause()
        app.updates.clear()
        with app.batch_update():  # nothing is drawn in between
            for line in lines[1:]:
                app.body().show(lambda width, line=line: [line])  # type: ignore[misc]
        await pilot.pause()
        assert after(shown[:1], "".join(app.updates)) == shown[2:]


@given(
    st.text(st.sampled_from("▁▂█ "), min_size=20, max_size=30),
    st.sampled_from("▁▂█ "),
    st.text(st.sampled_from("ab 9"), min_size=4, max_size=4),
    st.sampled_from(["accent", "fail"]),
    st.integers(10, 60),
)
def test_moving_characters_and_writing_the_rest_gives_the_new_line(
    drawn: str, newest: str, figure: str, role: str, width: int
) -> None:
    old = row("eth1 ", "1234", drawn, " 9 ")
    new: Line = [("eth1 ", ""), (figure, "warn"), (" ", ""), (drawn[1:] + newest, role), (" 9 ", "")]
    parts, moved = pushed(old, new, width)
    cells = [[(sign, role) for text, role in line for sign in text] for line in (old, new)]
    written, wanted = ((line + [(" ", "")] * width)[:width] for line in cells)
    for start, end in parts:
        written[start:end] = [*written[start + 1 : end], (" ", "of the terminal")]
    for start, end in changed(moved, new, width):
        written[start:end] = wanted[start:end]
    assert written == wanted
