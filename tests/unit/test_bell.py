"""The bell of the terminal."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from checks.run.settings_file import parse_settings
from tui.terminal.bell import ring


@pytest.mark.parametrize(("driver", "rung"), [({}, 1), ({"is_lent": False}, 1), ({"is_lent": True}, 0)])
def test_the_bell_is_silent_while_a_shell_has_the_terminal(driver: dict[str, bool], rung: int) -> None:
    heard: list[int] = []
    app: Any = SimpleNamespace(_driver=SimpleNamespace(**driver), bell=lambda: heard.append(1))
    ring(app)
    assert len(heard) == rung


def test_the_bell_is_off_unless_the_settings_want_it() -> None:
    assert not parse_settings("", "none").console.bell
    assert parse_settings("[console]\nbell = true", "file").console.bell
