"""The list of findings, worst first, and below it the checks that are still running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual.message import Message

from tui.board import PROBLEMS, Mark, Row
from tui.widgets.finding_text import role_of
from tui.widgets.line import Line, clean, fitted
from tui.widgets.lines import Lines

_NAMES = 15
"""Columns for the ids of checks, so that the subjects do not shift when a longer id arrives."""

_NARROW = 60
"""Below that a longer id takes room from its own subject, and not from all of them."""

_LITTLE_ROOM = 14


class FindingList(Lines):
    """Keeps the chosen finding chosen while others arrive; until the operator moves, that is the worst one."""

    class Chosen(Message):
        """The finding to show: another one, or the same one as it is known by now; None where there is none."""

        def __init__(self, row: Row | None) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self._pending: Sequence[str] = ()
        self._index = 0
        self._moved = False

    @property
    def chosen(self) -> Row | None:
        """The finding under the cursor."""
        return self._rows[self._index] if self._rows else None

    def show_rows(self, rows: Sequence[Row], pending: Sequence[str]) -> None:
        """Show these; the cursor stays on its finding, and on its place on the screen where that can be."""
        before, index = self.chosen, self._index
        self._rows, self._pending = rows, pending
        keys = [row.key for row in rows]
        if not self._moved or before is None:
            self._index = 0
        elif before.key in keys:
            self._index = keys.index(before.key)
        else:
            self._index = max(min(index, len(rows) - 1), 0)
        self._draw(self.above + self._index - index)
        self.post_message(self.Chosen(self.chosen))

    def move(self, by: int) -> None:
        """Move the cursor."""
        self._moved = True
        before = self._index
        self._index = max(min(self._index + by, len(self._rows) - 1), 0)
        if self._index != before:
            self._draw(self.above)
            self.post_message(self.Chosen(self.chosen))

    def edge(self, end: bool) -> None:
        """Move the cursor to the first or the last finding."""
        self.move(len(self._rows) if end else -len(self._rows))
        self._moved = end

    def lay_out(self) -> None:
        """Make the rows for the width there is, the cursor in view."""
        self._draw(self.above)

    def _draw(self, top: int) -> None:
        height = max(self.size.height, 1)
        top = min(max(top, self._index - height + 1), self._index)
        self._place(list(self._drawn(self.size.width)), top, self._index if self._rows else -1)

    def _drawn(self, width: int) -> Iterator[Line]:
        own = [min(cell_len(clean(row.finding.check)), width * 2 // 3) for row in self._rows]
        names = _NAMES if width < _NARROW else max([_NAMES, *own])
        for row, needed in zip(self._rows, own, strict=True):
            yield _row_line(row, max(min(names, width * 2 // 3), needed), width)
        if self._rows and self._pending:
            yield []
        for check in self._pending:
            yield [(fitted(f" · {clean(check)}", width), "faint")]


def _row_line(row: Row, names: int, width: int) -> Line:
    finding, old = row.finding, row.mark in (Mark.GONE, Mark.BEFORE, Mark.UNSEEN)
    return [
        (row.mark.sign, "accent"),
        (f"{finding.status.letter} ", "faint" if old else role_of(finding.status)),
        (fitted(clean(finding.check), names) + " ", "faint" if old else ""),
        (_subject(row, max(width - names - 4, 0)), "faint" if old or finding.status not in PROBLEMS else ""),
    ]


def _subject(row: Row, width: int) -> str:
    """What it is about; where there is little room its end, which tells findings of one check apart."""
    subject = clean(row.finding.subject or row.finding.title)
    if width < _LITTLE_ROOM and cell_len(subject) > width:
        return fitted("…" + subject[-(width - 1) :] if width > 1 else "", width)
    return fitted(subject, width)
