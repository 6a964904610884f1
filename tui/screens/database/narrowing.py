"""The rows of the Database screen that match a filter, with the headings that they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tui.screens.database.lines import DatabaseSection
from tui.text.line import Line, Span, has_words, plain

_HEADING, _NOTE = "label", "faint"
_CELL = 3
"""The spans of a cell in a row of a table: the gap, the figure with its letter, and the room for a letter."""


class Narrowed(NamedTuple):
    """The sections with rows that match."""

    sections: list[DatabaseSection]
    shown: int
    known: int
    """The number of rows without the filter."""


def narrowed(sections: Sequence[DatabaseSection], query: str) -> Narrowed:
    """Return what has all words of the query. A row is searched with the title of its section; in a matrix, a cell is
    searched with the name of its row and of its column."""
    found: list[DatabaseSection] = []
    shown = known = 0
    for section in sections:
        lines: list[Line] = []
        heading: Line = []
        is_new = False
        for line in section.lines:
            role = next((role for text, role in line if text.strip()), None)
            if role == _HEADING:
                heading, is_new = line, True
                continue
            if role is None or role == _NOTE:  # an empty line, or a note about a table
                heading = heading if role else []
                continue
            known += 1
            row = _matching(section.title, heading, line, query)
            if row is None:
                continue
            shown += 1
            lines += [heading] if heading and is_new else []
            lines.append(row)
            is_new = False
        if lines:
            found.append(replace(section, lines=lines))
    return Narrowed(found, shown, known)


def _matching(title: str, heading: Line, line: Line, query: str) -> Line | None:
    """Return the line if it matches, or with only those cells that match together with their headings; otherwise
    None."""
    text = plain([line])
    if has_words(f"{title} {text}", query):
        return line
    cells = list(_cells(heading, line))
    matching = [has_words(f"{title} {line[0][0]} {head} {text}", query) for head, text in cells]
    if not any(matching):
        return None
    spans: list[Span] = [line[0]]
    for number, match in enumerate(matching):
        own = line[1 + number * _CELL : 1 + (number + 1) * _CELL]
        spans += own if match else [(" " * len(text), "") for text, _ in own]
    return spans


def _cells(heading: Line, line: Line) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each cell of a row; nothing of a line that is no row below a heading."""
    names = "".join(text for text, _ in heading)
    if not names or len(line) % _CELL != 1 or len(line) == 1:
        return
    at = len(line[0][0])
    for first in range(1, len(line), _CELL):
        text = "".join(text for text, _ in line[first : first + _CELL])
        yield names[at : at + len(text)], text
        at += len(text)
