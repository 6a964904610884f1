"""Tables of instances and of pairs of instances, split into blocks of columns that fit the width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from tui.screens.database.figures import UNKNOWN, Value
from tui.text.line import Line, Span, fitted, hanging, sanitize_line
from tui.text.node_names import at_right, fitted_names, short_names
from tui.widgets.sorting import SIGNS

_GAP = 2
_OWN = Value("·", role="faint")

Pair = tuple[int, int]


class Head(NamedTuple):
    """The heading of a column."""

    text: str
    is_text: bool = False
    """Whether the column has text, which is aligned at the left; figures are aligned at the right."""


class TableRow(NamedTuple):
    """The row of an instance: its figures, or why there are none."""

    name: str
    values: Sequence[Value] = ()
    reason: str = ""


class _Column(NamedTuple):
    head: Head
    figures: int
    """Width of the figures, or of the heading where that is wider."""
    signs: int
    """Width of the letters after the figures; 0 where there are none."""
    values: Sequence[Value]

    @property
    def width(self) -> int:
        return _GAP + self.figures + self.signs

    def placed(self, text: str) -> str:
        return fitted(text, self.figures) if self.head.is_text else at_right(text, self.figures)

    def title(self) -> str:
        if self.head.text.startswith(tuple(SIGNS)):  # which stands in the gap: the column is no wider when it is sorted
            return " " * (_GAP - 1) + at_right(self.head.text, self.figures + 1) + " " * self.signs
        return " " * _GAP + self.placed(self.head.text) + " " * self.signs

    def spans(self, row: int) -> list[Span]:
        value = self.values[row]
        sign = f" {value.sign}" if value.sign else ""
        gap = (" " * _GAP, "")
        return [gap, (self.placed(value.text) + sign, value.drawn), (" " * (self.signs - len(sign)), "")]


def table_lines(corner: str, heads: Sequence[Head], rows: Sequence[TableRow], width: int) -> Iterator[Line]:
    """Yield the table; each block of columns starts with the names of the rows."""
    names = [sanitize_line(row.name) for row in rows]
    label = min(max([cell_len(corner), *map(cell_len, names)]), max(width // 3, 4))
    names = fitted_names(names, label)
    known = [row for row in rows if row.values]
    columns = [_column(head, [row.values[c] for row in known], width - 1 - label) for c, head in enumerate(heads)]
    for number, block in enumerate(_blocks(columns, width - 1 - label) if known else [[]]):
        if number:
            yield []
        if block:
            yield [(f" {fitted(corner, label)}" + "".join(column.title() for column in block), "label")]
        at = -1
        for name, row in zip(names, rows, strict=True):
            start: list[Span] = [(f" {fitted(name, label)}", "")]
            if row.values:
                at += 1
                yield [*start, *(span for column in block for span in column.spans(at))]
            elif not number:
                yield from hanging([*start, ("  ? ", "unknown")], row.reason, width)


def _column(head: Head, values: Sequence[Value], room: int) -> _Column:
    values = [value._replace(text=sanitize_line(value.text)) for value in values]
    signs = 2 if any(value.status for value in values) else 0
    figures = max([cell_len(head.text.lstrip(SIGNS)), *(cell_len(value.text) for value in values)])
    return _Column(head, max(min(figures, room - _GAP - signs), 1), signs, values)


def _blocks(columns: Sequence[_Column], room: int) -> list[list[_Column]]:
    """Return blocks with as many columns as fit, at least one."""
    blocks: list[list[_Column]] = []
    used = room + 1
    for column in columns:
        if used + column.width > room:
            blocks.append([])
            used = 0
        blocks[-1].append(column)
        used += column.width
    return blocks


class Cells(NamedTuple):
    """The contents of the cells by pair, in one format."""

    values: Mapping[Pair, Value]
    note: str = ""
    """What the reader has to know about the format."""


def pairs_lines(
    ends: tuple[str, str], names: Mapping[int, str], formats: Sequence[Cells], width: int
) -> Iterator[Line]:
    """Yield a matrix with a row for the first and a column for the second instance of each pair, in the order of
    `names`.

    The cells have the first of the formats that fits; where none fits, the last one in several blocks of columns. An
    unknown value of a pair is `?`."""
    numbers = list(names)
    full = [sanitize_line(names[number]) for number in numbers]
    corner = " \\ ".join(ends)
    room = width - 1 - max([len(corner), *map(cell_len, full)])
    for cells in formats:
        rows = _pair_rows(numbers, full, cells.values)
        for heads in (full, short_names(full)):
            columns = [_column(Head(head), [row.values[c] for row in rows], width) for c, head in enumerate(heads)]
            if sum(column.width for column in columns) <= room or (cells is formats[-1] and heads is not full):
                if cells.note:
                    yield from hanging([(" ", "")], cells.note, width, "faint")
                yield from table_lines(corner, [Head(head) for head in heads], rows, width)
                return


def _pair_rows(numbers: Sequence[int], names: Sequence[str], values: Mapping[Pair, Value]) -> list[TableRow]:
    return [
        TableRow(name, [_OWN if a == b else values.get((a, b), Value(UNKNOWN, role="unknown")) for b in numbers])
        for a, name in zip(numbers, names, strict=True)
    ]
