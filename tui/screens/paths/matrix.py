"""The path matrix of a network as lines: with figures where they fit, down to a letter per path for sixteen nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from checks.model.wording import counted
from checks.rules.path_matrix import OWN, Cell, PathMatrix
from tui.text.line import Line, Span, fitted, sanitize_line
from tui.text.node_names import at_right, fitted_names, headings

_CORNER = "from \\ to"
_LEAST = 3
"""Fewest columns of a path: its letter, and a cursor character on each side."""
_MOST = 14
"""Most columns of a heading over a path; longer names are shortened."""

Place = tuple[str, str]
"""The path under the cursor: from-node, to-node."""


@dataclass(frozen=True)
class _Layout:
    label: int
    cell: int
    """Columns of the content of a cell, without the cursor character on each side."""
    heads: Sequence[str]
    rows: Sequence[str]
    columns: range
    """The columns that fit."""


def matrix_lines(grid: PathMatrix, width: int, cursor: Place | None) -> list[Line]:
    """Return the headings of the columns, and a line for each node; the path under the cursor is in brackets."""
    contents, layout = _fitted(grid, width, cursor)
    rows = fitted_names(layout.rows, layout.label)
    lines: list[Line] = [_head(layout)]
    for row, a in enumerate(grid.nodes):
        line: list[Span] = [(f" {fitted(rows[row], layout.label)}", "label")]
        for column in layout.columns:
            b = grid.nodes[column]
            if (a, b) in grid.cells:
                line += _spans(grid.cells[a, b], at_right(contents[a, b], layout.cell), (a, b) == cursor)
            else:
                line.append((" " * (layout.cell + 2), ""))
        lines.append(line)
    if left := len(layout.heads) - len(layout.columns):
        lines.append([(fitted(f" Left, Right: {counted(left, 'more column')}", width), "faint")])
    return lines


def narrowed(grid: PathMatrix, ways: Collection[Place]) -> PathMatrix:
    """Return the matrix with only these paths: without the others, and without the nodes of no path that is left."""
    left = {node for way in ways for node in way}
    nodes = tuple(node for node in grid.nodes if node in left)
    cells = {way: cell for way, cell in grid.cells.items() if way in ways or (way[0] == way[1] and way[0] in left)}
    return replace(grid, nodes=nodes, cells=cells)


def place_at(grid: PathMatrix, width: int, cursor: Place | None, line: int, column: int) -> Place | None:
    """Return the path at a line and column of the lines of `matrix_lines`; None where there is none."""
    layout = _fitted(grid, width, cursor)[1]
    row, number = line - 1, (column - 1 - layout.label) // (layout.cell + 2)
    if not 0 <= row < len(grid.nodes) or not 0 <= number < len(layout.columns):
        return None
    way = grid.nodes[row], grid.nodes[layout.columns[number]]
    return way if way in grid.cells else None


def _fitted(grid: PathMatrix, width: int, cursor: Place | None) -> tuple[dict[Place, str], _Layout]:
    """Return the contents of the cells and the layout, with as many figures as fit."""
    contents = {way: _full_content(cell) for way, cell in grid.cells.items()}
    layout = _layout(grid, width, max(map(cell_len, contents.values()), default=1))
    if layout is None:
        contents = {way: cell.figure + cell.letter for way, cell in grid.cells.items()}
        layout = _layout(grid, width, max(map(cell_len, contents.values()), default=1))
    if layout is None:
        contents = {way: cell.letter for way, cell in grid.cells.items()}
        layout = _tight(grid, width, _column(grid, cursor))
    return contents, layout


def _full_content(cell: Cell) -> str:
    return f"{cell.figure} {cell.letter}" if cell.figure else cell.letter


def _spans(cell: Cell, content: str, chosen: bool) -> list[Span]:
    left, right = ("[", "]") if chosen else (" ", " ")
    role = "faint" if cell.letter == OWN and not chosen else cell.role
    return [(left, "accent"), (content, role), (right, "accent")]


def _head(layout: _Layout) -> Line:
    more = "…" if len(layout.columns) < len(layout.heads) else ""
    line: list[Span] = [(f" {fitted(_CORNER if layout.label >= len(_CORNER) else more, layout.label)}", "label")]
    return [*line, *((f"{at_right(layout.heads[c], layout.cell + 1)} ", "label") for c in layout.columns)]


def _column(grid: PathMatrix, cursor: Place | None) -> int:
    return grid.nodes.index(cursor[1]) if cursor and cursor[1] in grid.nodes else 0


def _layout(grid: PathMatrix, width: int, content: int) -> _Layout | None:
    """Return a layout of all columns for contents of that width; None where it does not fit."""
    names = [sanitize_line(node) for node in grid.nodes]
    for room in (min(max([content, *map(cell_len, names)]), _MOST), content):
        heads, numbered = headings(names, room)
        rows = _labels(names, numbered)
        longest = max(map(cell_len, rows), default=1)
        for label in (max(longest, len(_CORNER)), min(longest, max(width // 4, len(_CORNER)))):
            if 1 + label + len(names) * (room + 2) <= width:
                return _Layout(label, room, heads, rows, range(len(names)))
    return None


def _tight(grid: PathMatrix, width: int, cursor: int) -> _Layout:
    """Return a layout with a letter per path; where not all nodes fit, with the columns around the cursor."""
    names = [sanitize_line(node) for node in grid.nodes]
    count = max(len(names), 1)
    longest = max(map(cell_len, names), default=1)
    cell = max(min((width - 1 - min(longest, width // 4)) // count - 2, _LEAST), 1)
    heads, numbered = headings(names, cell + 1)
    rows = _labels(names, numbered)
    spare = width - 1 - count * (cell + 2)
    label = min(max(map(cell_len, rows), default=1), max(spare, min(longest, width // 4), 1))
    fit = max((width - 1 - label) // (cell + 2), 1)
    first = min(max(cursor - fit // 2, 0), max(len(names) - fit, 0))
    return _Layout(label, cell, heads, rows, range(first, min(first + fit, len(names))))


def _labels(names: Sequence[str], numbered: bool) -> list[str]:
    if not numbered:
        return list(names)
    digits = len(str(len(names)))
    return [f"{number:>{digits}} {name}" for number, name in enumerate(names, 1)]
