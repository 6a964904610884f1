"""A main screen with tables that are sorted by a column (`s`), and filtered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tui.console.app_state import AppState
from tui.console.messages import PresetChosen
from tui.screens.filtered import FilteredScreen
from tui.widgets.sorting import Sorting


class TableScreen(FilteredScreen):
    """Has tables whose rows can be sorted by a column."""

    SORTED_BY: Sequence[str]
    """The headings of these columns, in the order of the key `s`."""
    ORDER_OF: Literal["nodes", "instances"]
    """The attribute of `Presets` that remembers the order."""

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        remembered: Sorting = getattr(state.presets, self.ORDER_OF)
        self.sorting = remembered if remembered.column in self.SORTED_BY else Sorting()

    def why_not_sorted(self) -> str:
        """Return why there is nothing to sort, in a sentence; empty where there is."""
        return ""

    def action_sort(self) -> None:
        """Sort by the next column."""
        self._sort(self.sorting.by_next(self.SORTED_BY))

    def action_sort_reversed(self) -> None:
        """Reverse the order."""
        self._sort(self.sorting.reversed if self.sorting.is_sorted else self.sorting)

    def _sort(self, sorting: Sorting) -> None:
        if reason := self.why_not_sorted():
            self.notice(reason)
            return
        self.sorting = sorting
        self.post_message(PresetChosen(**{self.ORDER_OF: sorting}))
        self.draw()
        self.notice(sorting.about if sorting.is_sorted else f"{sorting.about} s sorts by {self.SORTED_BY[0]}.")
