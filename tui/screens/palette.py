"""The palette: search the commands of the current screen and of every screen by text, and run one.

Textual's own palette dims the screen behind it and animates its search: on a slow line each letter would cause a wait.
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
    """Lets the operator choose a command; dismissed with it, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "take", show=False, priority=True),
        Binding("escape,ctrl+p,ctrl+c,ctrl+q", "leave", show=False, priority=True),
    ]
    AUTO_FOCUS = "#query"

    def __init__(self, actions: Sequence[Action]) -> None:
        super().__init__()
        self._actions = actions
        self._matching = actions

    def compose(self) -> ComposeResult:
        """Yield the query, the matching commands, and the keys."""
        yield Lines(lambda width: [[(" Commands", "title")]], classes="bar")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        with Horizontal(id="query-line"):
            yield Lines(lambda width: [[(":", "accent")]], id="query-sign")
            query = Input(id="query", placeholder="text to search for", compact=True)
            query.cursor_blink = False
            yield query
        yield ChoiceList(id="choices")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield Lines(_keys, classes="bar")

    def on_mount(self) -> None:
        """Show all commands."""
        self._show(self._actions)

    def _show(self, actions: Sequence[Action]) -> None:
        self._matching = actions
        self.query_one(ChoiceList).show_choices([partial(_line, action) for action in actions])

    @on(Input.Changed)
    def search(self) -> None:
        """Narrow the list with each letter."""
        words = self.query_one(Input).value.casefold().split()
        matching = [a for a in self._actions if all(w in f"{a.label} {a.help} {a.key}".casefold() for w in words)]
        if matching != self._matching:
            self._show(matching)

    @on(ChoiceList.Taken)
    def action_take(self) -> None:
        """Run the selected command of those that match the query."""
        self.search()
        if self._matching:
            self.dismiss(self._matching[self.query_one(ChoiceList).chosen])

    def action_move(self, by: int) -> None:
        """Select another command."""
        self.query_one(ChoiceList).move(by)

    def action_leave(self) -> None:
        """Close the palette without running a command."""
        self.dismiss(None)


def _line(action: Action, width: int) -> Line:
    return [(f" {action.key:<{_KEYS}}", "accent"), (fitted(action.help, max(width - _KEYS - 1, 0)), "")]


def _keys(width: int) -> list[Line]:
    keys = (("Enter", "run"), ("↑ ↓", "select"), ("Esc", "back"))
    return [[span for key, word in keys for span in ((f" {key}", "accent"), (f" {word} ", ""))]]
