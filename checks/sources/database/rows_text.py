"""Rows of a result as a small table, for the journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from checks.model.journal import TEXT_LIMIT

_WIDEST = 60
_MOST_ROWS = 2000


def rows_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The rows under their columns' names, as wide as their values, and how many there were where some are left out."""
    return "\n".join(_lines(columns, rows))


def _lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    cells = [[_cell(value) for value in row] for row in rows[:_MOST_ROWS]]
    widths = [max(len(line[place]) for line in ([*columns], *cells)) for place in range(len(columns))]
    shown = 0
    length = 0
    for line in ([*columns], *cells):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        length += len(text) + 1
        if length > TEXT_LIMIT - 100:
            break
        yield text
        shown += 1
    if left := len(rows) - shown + 1:
        yield f"[{left:,} rows more]"
    if not rows:
        yield "(no rows)"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value.isoformat(" ") if isinstance(value, datetime) else str(value)
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
