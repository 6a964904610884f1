"""The command line: a verb with its argument, a name of the cluster, or any command found by text.

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

from checks.model.report import Report
from tui.console.actions import Action
from tui.console.command_choices import Choice, argument_of, choices
from tui.screens.styled import StyledScreen
from tui.text.line import Line, cell_len, fitted, sanitize_line
from tui.widgets.bars import rule_line
from tui.widgets.choice_list import ChoiceList
from tui.widgets.lines import Lines

_KEYS = 15


class PaletteScreen(StyledScreen[str | None]):
    """Lets the operator type or choose a command; dismissed with its action, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "take", show=False, priority=True),
        Binding("escape,ctrl+p,ctrl+c,ctrl+q", "leave", show=False, priority=True),
    ]
    AUTO_FOCUS = "#query"

    def __init__(self, actions: Sequence[Action], report: Report | None) -> None:
        super().__init__()
        self._actions = actions
        self._report = report
        self._matching: Sequence[Choice] = ()

    def compose(self) -> ComposeResult:
        """Yield the query, the matching commands, and the keys."""
        yield Lines(lambda width: [[(" Commands", "title")]], classes="bar")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        with Horizontal(id="query-line"):
            yield Lines(lambda width: [[(":", "accent")]], id="query-sign")
            query = Input(id="query", placeholder="command or name", compact=True)
            query.cursor_blink = False
            yield query
        yield ChoiceList(id="choices")
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield Lines(_keys, classes="bar")

    def on_mount(self) -> None:
        """Show all commands."""
        self.search()

    @property
    def _text(self) -> str:
        return self.query_one(Input).value

    @on(Input.Changed)
    def search(self) -> None:
        """Narrow the list with each letter."""
        matching = choices(self._text, self._actions, self._report)
        if matching != self._matching:
            self._matching = matching
            self.query_one(ChoiceList).show_choices([partial(_line, choice) for choice in matching])

    @on(ChoiceList.Taken)
    def action_take(self) -> None:
        """Run the selected command of those that match the text; write its name where an argument is missing."""
        self.search()
        if not self._matching:
            return
        choice = self._matching[self.query_one(ChoiceList).chosen]
        argument = argument_of(choice, self._text)
        if argument is None:
            query = self.query_one(Input)
            query.value = f"{choice.name} "
            query.cursor_position = len(query.value)
        else:
            self.dismiss(choice.with_argument(argument))

    def action_move(self, by: int) -> None:
        """Select another command."""
        self.query_one(ChoiceList).move(by)

    def action_leave(self) -> None:
        """Close the palette without running a command."""
        self.dismiss(None)


def _line(choice: Choice, width: int) -> Line:
    name = sanitize_line(f"{choice.name} {choice.argument}".rstrip())
    name = fitted(name, max(_KEYS, cell_len(name)))
    return [(f" {name} ", "accent"), (fitted(sanitize_line(choice.help), max(width - cell_len(name) - 2, 0)), "")]


def _keys(width: int) -> list[Line]:
    keys = (("Enter", "run"), ("↑ ↓", "select"), ("Esc", "back"))
    return [[span for key, word in keys for span in ((f" {key}", "accent"), (f" {word} ", ""))]]
