"""The result of a measurement as lines: what it was, how it ended, and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.measurement import MeasuredPath, Measurement, Result
from checks.report.measured.parts import Grid, Heading, Part, Prose
from checks.report.measured.result_parts import figures_of, parts_of, title_of
from tui.text.line import Line, cell_len, hanging, sanitize_line

_INDENT: Line = [("  ", "")]


def measurement_lines(measurement: Measurement, width: int) -> Iterator[Line]:
    """Yield the lines of a measurement, for `width` columns."""
    yield from hanging([], title_of(measurement), width, "title")
    for part in parts_of(measurement):
        yield from _lines(part, width)


def figure_lines(result: Result, paths: Sequence[MeasuredPath], width: int) -> Iterator[Line]:
    """Yield the lines of the figures alone, also of a measurement that is still running."""
    for part in figures_of(result, paths):
        yield from _lines(part, width)


def _lines(part: Part, width: int) -> Iterator[Line]:
    match part:
        case Heading():
            yield []
            yield from hanging([], part.text, width, "title")
        case Prose():
            yield from hanging([] if part.is_of_all else _INDENT, part.text, width, part.look)
        case Grid():
            yield from hanging(_INDENT, part.title, width)
            yield from _table(part, width)


def _table(grid: Grid, width: int) -> Iterator[Line]:
    """Yield the lines of a table; with less room, its columns stand closer together, and minor ones are left out."""
    rows = [tuple(map(sanitize_line, row)) for row in (grid.table.columns, *grid.table.rows)]
    widths = [max(cell_len(row[place]) for row in rows) for place in range(len(rows[0]))]
    if grid.words == len(widths) and sum(widths) + 2 * len(widths) > width:  # a text, which goes on in further lines
        for number, row in enumerate(rows):
            start = "  ".join(
                f"{cell}{' ' * (room - cell_len(cell))}" for cell, room in zip(row[:-1], widths, strict=False)
            )
            yield from hanging([(f"  {start}  ", "faint")], row[-1], width, "" if number else "faint")
        return
    gap = "  " if sum(widths) + 2 * len(widths) <= width else " "
    for minor in grid.minor:
        if sum(widths) + len(widths) + 1 <= width or minor not in rows[0]:
            continue
        place = rows[0].index(minor)
        rows = [(*row[:place], *row[place + 1 :]) for row in rows]
        del widths[place]
    for number, row in enumerate(rows):
        cells = (
            f"{cell}{' ' * (room - cell_len(cell))}" if place < grid.words else f"{' ' * (room - cell_len(cell))}{cell}"
            for place, (cell, room) in enumerate(zip(row, widths, strict=True))
        )
        yield [(f"  {gap.join(cells)}".rstrip(), "" if number else "faint")]
