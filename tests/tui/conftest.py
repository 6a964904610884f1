"""Consoles on made-up clusters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checks.engine import Engine
from checks.settings import Settings
from checks.traffic.feed import Feed
from tui.app import ConsoleApp

NewConsole = Callable[..., ConsoleApp]


@pytest.fixture
def new_console(tmp_path: Path) -> NewConsole:
    """Makes a console that takes one engine after the other, the last one again and again."""

    def make(*engines: Callable[[], Engine], **options: object) -> ConsoleApp:
        left = list(engines)

        def next_engine() -> Engine:
            return (left.pop(0) if len(left) > 1 else left[0])()

        options.setdefault("new_feed", lambda: Feed(Settings()))
        return ConsoleApp(next_engine, state_directory=tmp_path / "state", **options)  # type: ignore[arg-type]

    return make
