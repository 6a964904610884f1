"""The rows of the Database screen that match a filter, with the headings that they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tui.screens.database.lines import DatabaseSection
from tui.text.line import Line, Span, cell_len, has_words, plain, width_of

_HEADING, _NOTE = "label", "faint"
_CELL = 3
"""The spans of a cell in a row of a table: the gap, the figure with its letter, and the room for a letter."""


class Narrowed(NamedTuple):
    """The sections with rows that match."""

    sections: list[DatabaseSection]
    shown: int
    known: int
    """The number of rows without the filter."""


def narrowed(sections: Sequence[DatabaseSection], query: str, width: int) -> Narrowed:
    """Return what has all words of the query. A row is searched with the title of its section; in a matrix, a cell is
    searched with the name of its row and of its column. A paragraph of several lines is one row."""
    found: list[DatabaseSection] = []
    shown = known = 0
    for section in sections:
        lines: list[Line] = []
        drawn: Line = []  # the heading above the last row
        for heading, row in _rows(section, width):
            known += 1
            matching = _matching(section.title, heading, row[0], query) if heading else None
            if matching is not None:
                lines += [] if heading is drawn else [heading]
                lines.append(matching)
                drawn = heading
            elif not heading and has_words(f"{section.title} {plain(row)}", query):
                lines += row
                drawn = []
            else:
                continue
            shown += 1
        if lines:
            found.append(replace(section, lines=lines))
    return Narrowed(found, shown, known)


def _rows(section: DatabaseSection, width: int) -> Iterator[tuple[Line, list[Line]]]:
    """Yield the rows of tables, each with the heading of its table, and the paragraphs, without a heading."""
    heading: Line = []
    paragraph: list[Line] = []
    for line in section.lines:
        role = next((role for text, role in line if text.strip()), None)
        is_text = role not in (None, _HEADING, _NOTE)
        goes_on = is_text and not heading and paragraph and _is_continued(paragraph[-1], line, width)
        if paragraph and not goes_on:
            yield [], paragraph
            paragraph = []
        if role == _HEADING:
            heading = line
        elif role is None:
            heading = []
        elif is_text and heading:
            yield heading, [line]
        elif is_text:
            paragraph.append(line)
    if paragraph:
        yield [], paragraph


def _is_continued(line: Line, following: Line, width: int) -> bool:
    """Return whether a line was broken because the first word of the following one had no room."""
    first = (plain([following]).split() or [""])[0]
    return width_of(line) + 1 + cell_len(first) > width - 1


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
