"""The command line: a verb with its argument, a name of the cluster, or any command found by text.

Textual's own palette dims the screen behind it and animates its search: on a slow line each letter would cause a wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from tui.console.command_choices import Choice, Scope, argument_of, choices, nothing_found
from tui.screens.styled import StyledScreen
from tui.text.line import Line, cell_len, fitted, sanitize_line, wrapped
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

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope
        self._matching: Sequence[Choice] = ()
        self._says, self._says_of = "", ""
        """A sentence about the last Enter, and the text that it is about."""
        self._is_listing = False
        """Whether the pages that explain are listed, or being listed."""

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
        yield Lines(self._nothing, id="nothing")
        yield Lines(lambda width: [rule_line(width, self._says)], id="query-rule", classes="bar")
        yield Lines(_keys, classes="bar")

    def on_mount(self) -> None:
        """Show all commands."""
        self.search()

    @property
    def _text(self) -> str:
        return self.query_one(Input).value

    @on(Input.Changed)
    def search_again(self) -> None:
        """Narrow the list with each letter. What can be explained is listed in a thread: its modules take a while."""
        if self._text and not self._is_listing:
            self._is_listing = True
            self.run_worker(self._list_pages(), exit_on_error=False)
        if self._text != self._says_of:  # of keys in a burst, the changes arrive after the Enter
            self._say("")
        self.search()

    async def _list_pages(self) -> None:
        self._know(await asyncio.to_thread(_pages))
        self.search()

    def _know(self, pages: Mapping[str, str]) -> None:
        self._scope = replace(self._scope, pages=pages)

    def search(self) -> None:
        """Show what the text offers."""
        matching = choices(self._text, self._scope)
        listed, nothing = self.query_one(ChoiceList), self.query_one("#nothing", Lines)
        listed.display, nothing.display = bool(matching), not matching
        nothing.show(self._nothing)
        if matching != self._matching:
            self._matching = matching
            listed.show_choices([partial(_line, choice) for choice in matching])

    def _nothing(self, width: int) -> list[Line]:
        if self._matching:
            return []
        first, *more = nothing_found(self._text, self._scope)
        lines: list[Line] = [[(f" {line}", "warn")] for line in wrapped(first, width - 1)]
        return [*lines, *([(f" {line}", "")] for text in more for line in wrapped(text, width - 1))]

    def _say(self, text: str) -> None:
        self._says, self._says_of = text, self._text
        self.query_one("#query-rule", Lines).lay_out()

    @on(ChoiceList.Taken)
    def action_take(self) -> None:
        """Run the selected command of those that match the text; write its name where an argument is missing."""
        self.search()
        if not self._matching and not self._scope.pages:
            self._know(_pages())  # typed faster than they were listed
            self.search()
        if not self._matching:
            self._say(f"Nothing matches {sanitize_line(self._text)}: change the text, or Esc goes back.")
            return
        choice = self._matching[self.query_one(ChoiceList).chosen]
        argument = argument_of(choice, self._text)
        if argument is None:
            query, asked = self.query_one(Input), f"{choice.name} "
            if query.value == asked:
                self._say(f"{choice.name} needs {choice.argument}. {choice.help}")
            query.value = asked
            query.cursor_position = len(query.value)
        else:
            self.dismiss(choice.with_argument(argument))

    def action_move(self, by: int) -> None:
        """Select another command."""
        self.query_one(ChoiceList).move(by)

    def action_leave(self) -> None:
        """Close the palette without running a command."""
        self.dismiss(None)


def _pages() -> Mapping[str, str]:
    """Return what can be explained; nothing where a file of the settings has a mistake."""
    from tui.cli.errors import UsageError
    from tui.cli.explain import explainable

    try:
        return explainable()
    except UsageError:
        return {}


def _line(choice: Choice, width: int) -> Line:
    name = sanitize_line(f"{choice.name} {choice.argument}".rstrip())
    name = fitted(name, max(_KEYS, cell_len(name)))
    return [(f" {name} ", "accent"), (fitted(sanitize_line(choice.help), max(width - cell_len(name) - 2, 0)), "")]


def _keys(width: int) -> list[Line]:
    keys = (("Enter", "run"), ("↑ ↓", "select"), ("Esc", "back"))
    return [[span for key, word in keys for span in ((f" {key}", "accent"), (f" {word} ", ""))]]
