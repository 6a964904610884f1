"""Screens with a text to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult

from tui.console.actions import HELP, READER, Action, relabelled
from tui.screens.styled import StyledScreen
from tui.text.line import Line, fitted
from tui.text.search import Match, matches_in, with_matches
from tui.widgets.bars import keys_line, lines_below, rule_line
from tui.widgets.filter_line import FilterLine
from tui.widgets.help_text import Legend, help_lines
from tui.widgets.lines import Build, Lines, MarkedLines


class ReaderScreen(StyledScreen[None]):
    """A title, a text, and how many lines lie below."""

    NAME = "Reading"
    ACTIONS: ClassVar[tuple[Action, ...]] = READER

    def __init__(self, title: str, build: Build) -> None:
        super().__init__()
        self._heading = title
        self._title = Lines(lambda width: [[(fitted(f" {self._heading}", width), "title")]], classes="bar")
        self._text = build
        self._page = MarkedLines(self._with_matches, id="page")
        self._rule = Lines(lambda width: [rule_line(width)], id="page-rule", classes="bar")
        self._search = FilterLine(self.search_again)
        self._matches: Sequence[Match] = ()
        self._match = -1
        """The number of the current match; -1 where there is none."""
        self._searched_from = 0
        """The first line in view at the start of the search."""

    def compose(self) -> ComposeResult:
        """Yield the title, the text, a rule, and the keys."""
        yield self._title
        yield Lines(lambda width: [rule_line(width)], classes="bar")
        yield self._page
        yield self._search
        yield self._rule
        yield Lines(self._keys, id="page-keys", classes="bar")

    def show_text(self, build: Build, top: int) -> None:
        """Display another text, from that line on."""
        self._text = build
        self._page.show(self._with_matches, top=top)

    def entitle(self, title: str) -> None:
        """Display another title."""
        self._heading = title
        self._title.lay_out()

    @on(Lines.Scrolled, "#page")
    def show_lines_below(self) -> None:
        """Display how many lines lie below."""
        note, left = self._search_note(), lines_below(self._page.below)
        if self._search.query_text and not self._matches:
            left = ""  # the sentence needs the room
        self._rule.show(lambda width: [rule_line(width, note, left)])

    # --- the search ---------------------------------------------------------------------------------------------------

    def _with_matches(self, width: int) -> Sequence[Line]:
        lines = self._text(width)
        self._matches = matches_in(lines, self._search.query_text)
        self._match = min(self._match, len(self._matches) - 1)
        return with_matches(lines, self._matches, self._match) if self._matches else lines

    def _keys(self, width: int) -> list[Line]:
        labels = {"match(1)": "next match", "search": ""} if self._matches else {}
        return [keys_line((*relabelled(self.ACTIONS, labels), HELP), width)]

    def _search_note(self) -> str:
        query = self._search.query_text
        if not query:
            return ""
        if not self._matches:
            return f"Nothing matches /{query}; Esc ends the search."
        name = "" if self._search.is_open else f"/{query}  "
        return f"{name}match {self._match + 1} of {len(self._matches)}"

    async def action_search(self) -> None:
        """Let the operator type what to search for."""
        self._searched_from = self._page.above
        await self._search.open()

    def search_again(self) -> None:
        """Go to the first match below the top line at the start of the search, else to the first of all."""
        kept = self._match if not self._search.is_open else -1
        self._page.lay_out()
        later = (n for n, match in enumerate(self._matches) if match[0].line >= self._searched_from)
        self._go_to_match(kept if kept >= 0 else next(later, 0 if self._matches else -1))

    def action_match(self, by: int) -> None:
        """Go to the next or the previous match; after the last comes the first."""
        if self._matches:
            self._go_to_match((self._match + by) % len(self._matches))

    def _go_to_match(self, number: int) -> None:
        self._match = number
        self._page.lay_out()
        if 0 <= number < len(self._matches):
            lines = [part.line for part in self._matches[number]]
            self._page.bring_into_sight(lines[0], lines[-1])
        self.show_lines_below()
        self.query_one("#page-keys", Lines).lay_out()

    def action_end(self) -> None:
        """End the search; without one, go back."""
        if not self._search.clear():
            self.action_back()

    # --- keys ---------------------------------------------------------------------------------------------------------

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
