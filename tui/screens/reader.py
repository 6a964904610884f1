"""Screens with a text to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from tui.console.actions import HELP, READER, Action, bindings
from tui.screens.styled import StyledScreen
from tui.widgets.bars import keys_line, lines_below, rule_line
from tui.widgets.help_text import Legend, help_lines
from tui.widgets.lines import Build, Lines, MarkedLines


class ReaderScreen(StyledScreen[None]):
    """A title, a text, and how many lines lie below."""

    NAME = "Reading"
    ACTIONS: ClassVar[tuple[Action, ...]] = READER
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(READER)]

    def __init__(self, title: str, build: Build) -> None:
        super().__init__()
        self._heading = title
        self._title = Lines(lambda width: [[(f" {self._heading}", "title")]], classes="bar")
        self._page = MarkedLines(build, id="page")
        self._rule = Lines(lambda width: [rule_line(width)], classes="bar")

    def compose(self) -> ComposeResult:
        """Yield the title, the text, a rule, and the keys."""
        yield self._title
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield self._page
        yield self._rule
        yield Lines(lambda width: [keys_line((*self.ACTIONS, HELP), width)], classes="bar")

    def entitle(self, title: str) -> None:
        """Display another title."""
        self._heading = title
        self._title.show(lambda width: [[(f" {title}", "title")]])

    @on(Lines.Scrolled, "#page")
    def show_lines_below(self) -> None:
        """Display how many lines lie below."""
        left = lines_below(self._page.below)
        self._rule.show(lambda width: [rule_line(width, right=left)])

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._page.scroll_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by screenfuls."""
        self._page.scroll_pages(pages)

    def action_edge(self, end: bool) -> None:
        """Go to the start or the end."""
        self._page.scroll_by(1_000_000 if end else -1_000_000)

    def action_back(self) -> None:
        """Go back to the previous screen."""
        self.dismiss()


class HelpScreen(ReaderScreen):
    """The keys of a screen, those that work everywhere, and the signs."""

    def __init__(self, name: str, actions: Sequence[Action], signs: Iterable[Legend]) -> None:
        super().__init__("Help", lambda width: list(help_lines(name, actions, signs, width)))
