"""The measured values and their limits, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_COLUMNS = ("measurement", "limit", "measured", "ratio", "verdict")


@dataclass(frozen=True)
class Row:
    """One measurement, or the reason why it was not possible."""

    title: str
    unit: str = ""
    """The unit of both figures: `x`, `B/s`, `%`, `% of a core`, `ms`, `MB`."""
    measured: float | None = None
    """The measured value; None when it could not be measured."""
    budget: float | None = None
    """The limit: the most, or with `is_least` the least; None for a figure that is only for comparison."""
    why_not: str = ""
    """Why it was not measured, or has no budget."""
    notes: tuple[str, ...] = ()
    """Further notes, a line each."""
    is_least: bool = False
    """Whether the limit is the least that is wanted."""
    doubt: str = ""
    """Why a limit that is not met shows nothing: this machine was too noisy."""

    @property
    def ratio(self) -> float | None:
        """The share of the budget; None when it is not a number."""
        return self.measured / self.budget if self.measured is not None and self.budget else None

    @property
    def verdict(self) -> str:
        """The verdict as text: met or not met, or why there is none."""
        if self.measured is None:
            return f"not measured: {self.why_not}"
        if self.budget is None:
            return self.why_not or "for comparison"
        if self.measured >= self.budget if self.is_least else self.measured <= self.budget:
            return "met"
        return f"could not tell: {self.doubt}" if self.doubt else "not met"


def not_measured(title: str, why: str) -> Row:
    """Return the row of a value that could not be measured."""
    return Row(title, why_not=why)


def table(rows: Sequence[Row]) -> str:
    """Return all rows as a table, with their notes below."""
    cells = [_COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_COLUMNS) - 1)]
    lines = [_line(_COLUMNS, widths), "  ".join("─" * width for width in (*widths, len("not measured")))]
    for row, line in zip(rows, cells[1:], strict=True):
        lines.append(_line(line, widths))
        lines += [f"    {note}" for note in row.notes]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    budget = "" if row.budget is None else f"{'≥' if row.is_least else '≤'} {figure(row.budget)} {row.unit}"
    measured = "" if row.measured is None else f"{figure(row.measured)} {row.unit}"
    return row.title, budget, measured, "" if row.ratio is None else f"{row.ratio:.2f}", row.verdict


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    title, *figures = cells[:-1]
    aligned = [title.ljust(widths[0]), *(f.rjust(width) for f, width in zip(figures, widths[1:], strict=True))]
    return "  ".join([*aligned, cells[-1]])


def figure(value: float) -> str:
    """Return a number with three significant digits, and with all digits before the point; a count as it is."""
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0:
        return "0"
    digits = 0
    while digits < 3 and abs(value) * 10**digits < 100:
        digits += 1
    return f"{value:,.{digits}f}"
