"""Commands by their words: what can be done on the screen one comes from, and everywhere.

Textual's own palette dims the screen behind it and turns a wheel while it searches: over a slow line each letter would
be waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from tui.console.actions import Action
from tui.screens.styled import StyledScreen
from tui.text.line import Line, fitted
from tui.widgets.bars import rule_line
from tui.widgets.choice_list import ChoiceList
from tui.widgets.lines import Lines

_KEYS = 12


class PaletteScreen(StyledScreen[Action | None]):
    """Asks for one of the actions; dismissed with it, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "take", show=False, priority=True),
        Binding("escape,ctrl+p,ctrl+c,ctrl+q", "leave", show=False, priority=True),
    ]
    AUTO_FOCUS = "#words"

    def __init__(self, actions: Sequence[Action]) -> None:
        super().__init__()
        self._actions = actions
        self._matching = actions

    def compose(self) -> ComposeResult:
        """What is looked for, what there is, and how to leave."""
        yield Lines(lambda width: [[(" Commands", "title")]], classes="bar")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        with Horizontal(id="words-line"):
            yield Lines(lambda width: [[(":", "accent")]], id="words-sign")
            words = Input(id="words", placeholder="text to search for", compact=True)
            words.cursor_blink = False
            yield words
        yield ChoiceList(id="choices")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield Lines(_keys, classes="bar")

    def on_mount(self) -> None:
        """All there is."""
        self._show(self._actions)

    def _show(self, actions: Sequence[Action]) -> None:
        self._matching = actions
        self.query_one(ChoiceList).show_choices([partial(_line, action) for action in actions])

    @on(Input.Changed)
    def look(self) -> None:
        """Narrow the list with each letter."""
        words = self.query_one(Input).value.casefold().split()
        matching = [a for a in self._actions if all(w in f"{a.label} {a.help} {a.key}".casefold() for w in words)]
        if matching != self._matching:
            self._show(matching)

    @on(ChoiceList.Taken)
    def action_take(self) -> None:
        """Do the chosen one, of those that match what has been typed by now."""
        self.look()
        if self._matching:
            self.dismiss(self._matching[self.query_one(ChoiceList).chosen])

    def action_move(self, by: int) -> None:
        """Choose another one."""
        self.query_one(ChoiceList).move(by)

    def action_leave(self) -> None:
        """Do nothing."""
        self.dismiss(None)


def _line(action: Action, width: int) -> Line:
    return [(f" {action.key:<{_KEYS}}", "accent"), (fitted(action.help, max(width - _KEYS - 1, 0)), "")]


def _keys(width: int) -> list[Line]:
    keys = (("Enter", "run"), ("↑ ↓", "select"), ("Esc", "back"))
    return [[span for key, word in keys for span in ((f" {key}", "accent"), (f" {word} ", ""))]]
