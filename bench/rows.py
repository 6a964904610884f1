"""What was measured, beside what is allowed, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_COLUMNS = ("what", "budget", "measured", "ratio", "verdict")


@dataclass(frozen=True)
class Row:
    """One thing that was measured, or could not be."""

    what: str
    unit: str = ""
    """Of both figures: `x`, `B/s`, `% of a core`, `ms`, `MB`."""
    measured: float | None = None
    """None where it could not be measured."""
    budget: float | None = None
    """The most that it may be; None for a figure that stands beside the others for comparison."""
    why_not: str = ""
    """Why it was not measured, or has no budget to be held against."""
    notes: tuple[str, ...] = ()
    """What else there is to know of it, a line each."""

    @property
    def ratio(self) -> float | None:
        """How much of the budget it takes; None where that is no number."""
        return self.measured / self.budget if self.measured is not None and self.budget else None

    @property
    def verdict(self) -> str:
        """In words: within or over the budget, or why neither can be said."""
        if self.measured is None:
            return f"not measured: {self.why_not}"
        if self.budget is None:
            return self.why_not or "for comparison"
        return "within" if self.measured <= self.budget else "over"


def not_measured(what: str, why: str) -> Row:
    """The row of what could not be measured."""
    return Row(what, why_not=why)


def table(rows: Sequence[Row]) -> str:
    """All rows, their notes below them."""
    cells = [_COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_COLUMNS) - 1)]
    lines = [_line(_COLUMNS, widths), "  ".join("─" * width for width in (*widths, len("not measured")))]
    for row, line in zip(rows, cells[1:], strict=True):
        lines.append(_line(line, widths))
        lines += [f"    {note}" for note in row.notes]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    budget = "" if row.budget is None else f"≤ {figure(row.budget)} {row.unit}"
    measured = "" if row.measured is None else f"{figure(row.measured)} {row.unit}"
    return row.what, budget, measured, "" if row.ratio is None else f"{row.ratio:.2f}", row.verdict


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    what, *figures = cells[:-1]
    aligned = [what.ljust(widths[0]), *(f.rjust(width) for f, width in zip(figures, widths[1:], strict=True))]
    return "  ".join([*aligned, cells[-1]])


def figure(value: float) -> str:
    """A number with three significant digits, and all that stand before the point."""
    if value == 0:
        return "0"
    digits = 0
    while digits < 3 and abs(value) * 10**digits < 100:
        digits += 1
    return f"{value:,.{digits}f}"
