"""A main screen whose content can be filtered by a text (`/`)."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.wording import counted
from tui.console.actions import Action, relabelled
from tui.console.app_state import AppState
from tui.screens.base import ConsoleScreen
from tui.screens.zoom import ZOOMED
from tui.widgets.filter_line import FilterLine


def filter_action(what: str, *, label: str = "") -> Action:
    """Return the action that opens the filter of `what`, in the plural."""
    return Action("slash", "filter", "/", f"Filter the {what} by text; Esc shows all again.", label)


CLEAR = Action("escape", "clear", "Esc", "Clear the filter.")


class FilteredScreen(ConsoleScreen):
    """Draws only what contains all words of the filter. `compose_body` has to yield `filter_line`."""

    FILTERED: str
    """What is filtered, in the singular: `node`."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self.filter_line = FilterLine(self.filter_changed)
        self._remaining = ""

    @property
    def filter_text(self) -> str:
        """The words that are searched for; empty where nothing is filtered."""
        return self.filter_line.query_text

    @property
    def filter_note(self) -> str:
        """The filter and how much remains, for a rule: `/rac2  2 of 8 nodes`; empty where nothing is filtered."""
        if not self.filter_text:
            return ""
        return f"{'' if self.filter_line.is_open else f'/{self.filter_text}  '}{self._remaining}".strip()

    def upper_texts(self) -> Sequence[tuple[str, str]]:
        """Return the filter for the upper rule."""
        return [(self.filter_note, "")]

    def note_remaining(self, shown: int, known: int) -> None:
        """Note how many of the known ones match the filter."""
        self._remaining = f"{shown:,} of {counted(known, self.FILTERED)}" if self.filter_text else ""

    def nothing_matches(self) -> str:
        """Return the sentence for a filter that nothing matches."""
        return f"No {self.FILTERED} matches /{self.filter_text}; Esc clears the filter."

    def filter_changed(self) -> None:
        """Draw what matches the filter, and the keys."""
        self.draw()
        self.draw_keys()

    def footer(self) -> Sequence[Action]:
        """Return the commands for the last line: with a filter, Esc in place of the key of the filter."""
        labels = {"filter": "", "clear": "clear filter"} if self.filter_text else {}
        return relabelled(super().footer(), labels)

    async def action_filter(self) -> None:
        """Open the line of the filter, with all that it filters."""
        self.remove_class(ZOOMED)
        await self.filter_line.open()
        self.filter_changed()

    def action_clear(self) -> None:
        """Show everything again."""
        self.filter_line.clear()
