"""What racwire ran in this console, the newest first; Enter shows what an entry returned."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from checks.model.journal import Entry
from tui.console.actions import READER, Action
from tui.screens.reader import ReaderScreen
from tui.text.journal_lines import output_lines, ran_lines
from tui.text.line import Line, sanitize_line

_KEYS = (
    Action("up,k", "scroll(-1)", "↑ k", "Select the entry above, which is newer."),
    Action("down,j", "scroll(1)", "↓ j", "Select the entry below."),
    Action("enter", "output", "Enter", "Show the whole command, file, query or probe, and what it returned.", "output"),
)


class RanScreen(ReaderScreen):
    """The list, of which one entry is selected: the one with the current match of a search, too."""

    NAME = "What racwire ran"
    ACTIONS = (*_KEYS, *(action for action in READER if action.name != "scroll"))

    def __init__(self, entries: Sequence[Entry]) -> None:
        super().__init__(f"What racwire ran  {len(entries):,} commands, files, queries and probes", self._lines)
        self._entries = entries
        self._selected = 0
        self._places: Sequence[int] = ()
        """The line of each entry."""

    def on_mount(self) -> None:
        """Mark the newest entry."""
        self.call_after_refresh(self._mark)

    def on_resize(self, event: events.Resize) -> None:
        """Mark the entry again, whose line may be another one."""
        self.call_after_refresh(self._mark)

    def _lines(self, width: int) -> list[Line]:
        lines, self._places = ran_lines(self._entries, width)
        return lines

    def _mark(self) -> None:
        if self._places:
            self._page.mark(self._places[self._selected])

    def _select(self, entry: int) -> None:
        self._selected = max(min(entry, len(self._entries) - 1), 0)
        if self._places:
            place = self._places[self._selected]
            self._page.bring_into_sight(place - (self._selected == 0), place)
        self._mark()

    def _go_to_match(self, number: int) -> None:
        super()._go_to_match(number)
        if number >= 0:
            line = self._matches[number][0].line
            self._selected = max((at for at, place in enumerate(self._places) if place <= line), default=0)
        self._mark()

    def action_scroll(self, lines: int) -> None:
        """Select another entry."""
        self._select(self._selected + lines)

    def action_page(self, pages: int) -> None:
        """Select the entry one screen away."""
        self._select(self._selected + pages * max(self._page.size.height - 1, 1))

    def action_edge(self, end: bool) -> None:
        """Select the oldest or the newest entry."""
        self._select(len(self._entries) if end else 0)

    def action_output(self) -> None:
        """Show the selected entry with what it returned."""
        if self._entries:
            entry = self._entries[self._selected]
            title = f"Output  {sanitize_line(entry.node)}  {sanitize_line(entry.topic)}"
            self.app.push_screen(ReaderScreen(title, lambda width: output_lines(entry, width)))
