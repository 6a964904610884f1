"""Keys on slow lines: how far apart the bytes of one key may arrive, and how close two keys."""

from __future__ import annotations

import pytest
from textual import _parser, constants, events

from tui.console.start import LONGEST_GAP_MS, prepare
from tui.terminal.driver import _key_parser


class Line:
    """A line with a clock of its own: the parser's thread looks at the clock every 0.1 s, as in Textual's driver."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._now = 0.0
        monkeypatch.setattr(_parser, "get_time", lambda: self._now)
        monkeypatch.setattr(constants, "ESCAPE_DELAY", LONGEST_GAP_MS / 1000)
        self._parser = _key_parser()()
        self.keys: list[str] = []

    def send(self, data: str) -> None:
        self._collect(self._parser.feed(data))

    def wait(self, seconds: float) -> None:
        end = self._now + seconds
        while self._now < end:
            self._now = min(self._now + 0.1, end)
            if self._now < end:
                self._collect(self._parser.tick())

    def _collect(self, messages: object) -> None:
        self.keys += [message.key for message in messages if isinstance(message, events.Key)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("gap_s", [0, 0.02, 0.1, 0.25, 0.3, 0.35, 0.5, 1])
@pytest.mark.parametrize(("typed", "key"), [("2", "2"), ("j", "j"), ("\r", "enter"), ("[", "left_square_bracket")])
def test_esc_and_another_key_are_two_keys_at_any_tempo(
    monkeypatch: pytest.MonkeyPatch, gap_s: float, typed: str, key: str
) -> None:
    line = Line(monkeypatch)
    line.send("\x1b")
    line.wait(gap_s)
    line.send(typed)
    line.wait(1)
    assert line.keys == ["escape", key]


@pytest.mark.parametrize("gap_s", [0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize(
    ("data", "key"), [("\x1b[A", "up"), ("\x1bOB", "down"), ("\x1b[6~", "pagedown"), ("\x1b[1;5C", "ctrl+right")]
)
def test_the_bytes_of_a_key_may_arrive_apart(
    monkeypatch: pytest.MonkeyPatch, gap_s: float, data: str, key: str
) -> None:
    line = Line(monkeypatch)
    for sign in data:
        line.send(sign)
        line.wait(gap_s)
    line.wait(1)
    assert line.keys == [key]


def test_esc_twice_is_esc_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line(monkeypatch)
    line.send("\x1b")
    line.wait(0.1)
    line.send("\x1b")
    line.wait(1)
    assert line.keys == ["escape", "escape"]


@pytest.mark.parametrize(
    ("environment", "waits"),
    [
        ({"TERM": "xterm", "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22", "DISPLAY": "localhost:10"}, True),
        ({"TERM": "xterm-256color"}, True),  # after `su - oracle`
        ({"TERM": "xterm-256color", "DISPLAY": ":0"}, False),
        ({"TERM": "linux"}, False),
    ],
)
def test_only_a_local_terminal_is_surely_quick(environment: dict[str, str], waits: bool) -> None:
    prepare(environment)
    assert environment.get("ESCDELAY") == (str(LONGEST_GAP_MS) if waits else None)
