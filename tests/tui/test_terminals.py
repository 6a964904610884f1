"""Real terminals: their keys, colours and characters, and a mouse if they have one."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tui.terminal import MADE_UP, Terminal, other_user

Start = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a console on a made-up cluster, with some changes of the environment; wait until it is drawn."""
    started: list[Terminal] = []

    def start(*arguments: str, **otherwise: str) -> Terminal:
        command = [sys.executable, "-c", MADE_UP, *arguments]
        terminal = Terminal({**other_user(tmp_path), **otherwise}, command)
        started.append(terminal)
        terminal.read_until(b"more lines")
        terminal.seen += terminal.read_until_quiet(0.4)
        return terminal

    yield start
    for terminal in started:
        terminal.close()


@pytest.mark.parametrize(
    ("environment", "most"),
    [
        ({"TERM": "xterm"}, 16),
        pytest.param({"TERM": "vt100"}, 16, marks=pytest.mark.beyond_sample),
        pytest.param({"TERM": "xterm-256color"}, 256, marks=pytest.mark.beyond_sample),
        ({"TERM": "screen-256color", "STY": "1.pts-0", "COLORTERM": "truecolor"}, 256),
        pytest.param({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, 1 << 24, marks=pytest.mark.beyond_sample),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, 0),
    ],
)
def test_a_terminal_gets_no_more_colours_than_it_has(start: Start, environment: dict[str, str], most: int) -> None:
    seen = start(**environment).seen
    codes = [code.split(b";") for code in re.findall(rb"\x1b\[([\d;]+)m", seen)]
    assert codes
    assert most >= 1 << 24 or not any(b"2" in code[1:2] for code in codes if code[0] in (b"38", b"48"))
    assert most >= 256 or not any(code[:2] in ([b"38", b"5"], [b"48", b"5"]) for code in codes)
    assert most or not re.search(rb"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7])m", seen)


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("iso8859-1", marks=pytest.mark.beyond_sample)])
def test_a_terminal_that_is_not_unicode_never_gets_unreadable_characters(start: Start, encoding: str) -> None:
    terminal = start(LANG="", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    terminal.send(b"?")
    seen = terminal.seen + terminal.read_until_quiet()
    assert b"----------" in seen
    assert b"\\u" not in seen
    assert max(re.sub(rb"\x1b\[[^a-zA-Z]*[a-zA-Z]", b"", seen)) < 0x80


@pytest.mark.parametrize(
    "environment",
    [{"LANG": "C"}, *(pytest.param({"TERM": t}, marks=pytest.mark.beyond_sample) for t in ("vt100", "linux"))],
)
def test_every_screen_is_in_ascii_where_locale_or_terminal_is_not_unicode(
    start: Start, environment: dict[str, str]
) -> None:
    """Also where Python would write UTF-8, as it does under LANG=C."""
    terminal = start(**environment)
    for key, tab in zip(b"234567", ("Paths", "Traffic", "Database", "Change", "Report", "Measure"), strict=True):
        terminal.send(bytes([key]))
        terminal.read_until(f"[{chr(key)} {tab}]".encode())
        terminal.seen += terminal.read_until_quiet(0.2)
    terminal.send(b"1?")
    seen = terminal.seen + terminal.read_until_quiet()
    assert b"----------" in seen
    assert seen.isascii()


def test_a_setting_draws_lines_in_the_c_locale(start: Start, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[console]\nascii = false\n")
    assert "─".encode() in start(LANG="C", RACWIRE_SETTINGS=str(tmp_path / "settings.toml")).seen


def test_keys_of_different_terminals_are_recognized(start: Start) -> None:
    """The keys of PuTTY, of xterm, and of an application keypad; after each, `g` returns to the first finding."""
    terminal = start()
    for keys, then in (
        (b"\x1b[4~", b"eth1 192.168.10.0/24"),
        (b"\x1b[F", b"eth1 192.168.10.0/24"),
        (b"\x1bOB", b"could not be read"),
        (b"\x1b[B", b"could not be read"),
        (b"G\x1b[1~", b"CAUSE-12"),
        (b"G\x1b[H", b"CAUSE-12"),
        (b"G\x1bOA\x1bOA", b"CAUSE-12"),
        (b"\x1b[6~", b"examined"),
        (b"\x1b[11~", b"Filter the findings by text"),
        (b"q\x1bOP", b"Filter the findings by text"),
    ):
        terminal.seen = b""
        terminal.send(keys)
        terminal.read_until(then, 5)
        terminal.send(b"g")
        terminal.read_until_quiet(0.1)


@pytest.mark.parametrize("opens", [b"/", pytest.param(b":", marks=pytest.mark.beyond_sample)])
def test_a_paste_together_with_the_key_that_opens_an_input_is_text(start: Start, opens: bytes) -> None:
    terminal = start()
    terminal.send(opens + b"q9qxr/:1")
    terminal.read_until(b"No finding matches" if opens == b"/" else b"q9qxr/:1")
    terminal.read_until_quiet()
    assert terminal.process.poll() is None


@pytest.mark.parametrize(
    ("typed", "then"),
    [
        (b"/zzz\x7f\x7f\x7fblack\r4", b"[4 Database]"),
        pytest.param(b":paths\r", b"[2 Paths]", marks=pytest.mark.beyond_sample),
        pytest.param(b"?\x1b2", b"[2 Paths]", marks=pytest.mark.beyond_sample),
        (b"/abc\x1b4", b"[4 Database]"),
        pytest.param(b"j\x1b[6", b"[6 Report]", marks=pytest.mark.beyond_sample),
    ],
)
def test_keys_that_arrive_in_a_burst_are_handled_in_their_order(start: Start, typed: bytes, then: bytes) -> None:
    """As on a slow connection: Esc and the next key are two keys, even if the terminal waits long for the rest of a
    key."""
    terminal = start(SSH_CONNECTION="192.0.2.1 40000 192.0.2.2 22")
    terminal.send(typed)
    terminal.read_until(then)
    terminal.read_until_quiet(0.2)
    assert terminal.process.poll() is None


def test_the_mouse_clicks_and_a_mouse_movement_sends_nothing(start: Start) -> None:
    terminal = start()
    assert b"\x1b[?1000h" in terminal.seen
    assert b"\x1b[?1003h" not in terminal.seen
    for column in range(2, 60, 3):
        terminal.send(b"\x1b[<35;%d;%dM" % (column, 2 + column // 4))
    assert terminal.read_until_quiet() == b""
    terminal.seen = b""
    terminal.send(b"\x1b[<0;12;6M\x1b[<0;12;6m")
    terminal.send(b"\x1b[<0;12;9M\x1b[<0;12;9m")
    terminal.read_until(b"could not be read", 5)


def test_without_the_option_the_terminal_keeps_its_mouse(start: Start) -> None:
    assert b"\x1b[?1000h" not in start("nomouse").seen
