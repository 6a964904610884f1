"""Copied commands: their text, and their way through tmux and GNU screen."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from checks.model.finding import NextStep
from tui.terminal.clipboard import LIMIT, clipboard_sequence, commands_text, save_commands
from tui.text.home_path import with_path
from tui.text.line import plain
from tui.widgets.bars import rule_line

PLAIN = "\x1b]52;c;" + base64.b64encode(b"ip link").decode() + "\x07"


def test_commands_are_listed_below_the_user_who_runs_them() -> None:
    text = commands_text([NextStep("Look.", ("ip link", "ip route"), "root on rac2"), NextStep("Ask.")])
    assert text == "# root on rac2\nip link\nip route"


def test_a_change_is_copied_as_a_comment_so_that_a_paste_changes_nothing() -> None:
    text = commands_text([NextStep("Raise it.", ("ip link set dev eth1 mtu 9000\nreboot",), "root", is_change=True)])
    assert all(line.startswith("#") for line in text.splitlines())
    assert "# ip link set dev eth1 mtu 9000" in text


def test_control_characters_are_not_copied() -> None:
    assert commands_text([NextStep("Look.", ("ip\x1b]0;x\x07 link\r",))]) == "ip\\x1b]0;x\\x07 link"


def test_a_plain_terminal_gets_the_plain_sequence() -> None:
    assert clipboard_sequence("ip link", {"TERM": "xterm-256color"}) == PLAIN


def test_tmux_gets_the_sequence_to_store_and_to_pass_on() -> None:
    sequence = clipboard_sequence("ip link", {"TMUX": "/tmp/tmux-0/default,1,0", "TERM": "screen-256color"})
    assert sequence == PLAIN + "\x1bPtmux;\x1b" + PLAIN + "\x1b\\"


def test_gnu_screen_gets_the_sequence_in_parts_that_it_can_pass_on() -> None:
    sequence = clipboard_sequence("x" * 1000, {"STY": "1.pts-0.rac1", "TERM": "screen"})
    pieces = [piece.removesuffix("\x1b\\") for piece in sequence.split("\x1bP")[1:]]
    assert all(len(piece) <= 240 for piece in pieces)
    assert sequence.startswith("".join(pieces))


def test_a_text_too_long_for_a_clipboard_is_not_sent() -> None:
    assert clipboard_sequence("x" * (LIMIT + 1), {}) == ""


def test_the_file_is_private_and_has_the_last_commands(tmp_path: Path) -> None:
    save_commands("old", tmp_path / "state")
    assert save_commands("new", tmp_path / "state").endswith("state/commands.txt")
    path = tmp_path / "state/commands.txt"
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("letters", range(1, 200, 7))
def test_a_notice_has_the_whole_path_in_80_columns_as_long_as_it_fits(letters: int) -> None:
    path = Path("/" + "n" * letters, "commands.txt")
    notice = with_path(path, "Copied if the terminal allows; also in {}", "Saved: {}", "{}")
    shown = plain([rule_line(80, notice)]).strip("─ ")
    assert shown == notice
    assert notice.endswith("commands.txt")
    assert str(path) in notice or len(str(path)) > 75
    assert notice.startswith("Copied") is (len(str(path)) <= 36)
