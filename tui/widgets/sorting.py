"""The column that a table is sorted by, and its sign in the heading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from tui.console.actions import Action

T = TypeVar("T")

SIGNS = "▼▲"
"""Before a heading: largest first, smallest first."""

SORT = (
    Action("s", "sort", "s", "Sort by the next column; after the last one: the usual order.", "sort"),
    Action("S", "sort_reversed", "S", "Reverse the order of the sorted column."),
)


class Sorting(msgspec.Struct, frozen=True, omit_defaults=True):
    """The order of the rows."""

    column: str = ""
    """The heading of the column; empty for the usual order."""
    is_ascending: bool = False
    """Whether the smallest figure is first."""

    def by_next(self, columns: Sequence[str]) -> Sorting:
        """Return the order by the next of the columns, largest first; after the last one the usual order."""
        place = columns.index(self.column) + 1 if self.column in columns else 0
        return Sorting(columns[place]) if place < len(columns) else Sorting()

    @property
    def is_sorted(self) -> bool:
        """Whether the rows are sorted by a column."""
        return bool(self.column)

    @property
    def reversed(self) -> Sorting:
        """The opposite order."""
        return msgspec.structs.replace(self, is_ascending=not self.is_ascending)

    @property
    def about(self) -> str:
        """The order for a notice, as a sentence."""
        if not self.is_sorted:
            return "In the usual order."
        return f"Sorted by {self.column}, {'smallest' if self.is_ascending else 'largest'} first."

    def heading(self, text: str) -> str:
        """Return the heading of a column, with a sign before it if the rows are sorted by that column."""
        return f"{SIGNS[self.is_ascending]}{text}" if text == self.column and text else text

    def in_order(self, rows: Iterable[T], figure: Callable[[T], float | None]) -> list[T]:
        """Return the rows by a figure; rows with the same figure keep their order, rows without one are last."""
        rows = list(rows)
        known = [(value, row) for row in rows if (value := figure(row)) is not None]
        known.sort(key=lambda pair: pair[0], reverse=not self.is_ascending)
        return [*(row for _, row in known), *(row for row in rows if figure(row) is None)]
