"""Keys that are typed faster than the console draws keep their order."""

from __future__ import annotations

import re

import pytest
from textual import events
from textual.widgets import Input

from tests.tui.clusters import black_hole, engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded, until
from tui.console.app import ConsoleApp


@pytest.mark.parametrize("opens", ["/", ":"])
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("abx<backspace>c", "abc"),
        ("ab<left><left>x<right>y", "xayb"),
        pytest.param("b<home>a<end>c<left><delete>", "ab", marks=pytest.mark.beyond_sample),
        pytest.param("q9", "q9", marks=pytest.mark.beyond_sample),
    ],
)
async def test_keys_typed_in_a_burst_into_an_input_keep_their_order(
    new_console: NewConsole, opens: str, keys: str, words: str
) -> None:
    app = new_console(lambda: engine(black_hole()))
    async with app.run_test() as pilot:
        await concluded(pilot)
        type_at_once(app, opens + keys)
        await until(pilot, lambda: isinstance(app.focused, Input) and app.focused.value == words)


async def test_keys_typed_before_the_first_paint_are_handled_after_it(
    new_console: NewConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = ConsoleApp.on_mount

    def type_and_begin(app: ConsoleApp) -> None:
        type_at_once(app, "/eth1x<backspace>")
        begin(app)

    monkeypatch.setattr(ConsoleApp, "on_mount", type_and_begin)
    app = new_console(lambda: engine(black_hole()))
    async with app.run_test() as pilot:
        await concluded(pilot)
        assert isinstance(app.focused, Input)
        assert app.focused.value == "eth1"


def type_at_once(app: ConsoleApp, keys: str) -> None:
    """Send several keys at once: letters, and names in angle brackets."""
    for key in re.findall(r"<\w+>|.", keys):
        name = {"/": "slash", ":": "colon"}.get(key, key.strip("<>"))
        app.post_message(events.Key(name, key if len(key) == 1 else None))
