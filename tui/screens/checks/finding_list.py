"""The list of findings in groups, worst first, then the running checks and the waivers that are not in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from textual import on
from textual.message import Message

from checks.model.finding import PROBLEMS
from checks.model.report import WaiverStanding
from checks.model.wording import counted, few
from checks.report.causes import ReportEntry, shortened
from tui.console.run_state import FindingRow, RowMark
from tui.text.finding_lines import role_of
from tui.text.line import Line, fitted, sanitize_line
from tui.widgets.lines import Lines

_NAMES = 15
"""Columns for the ids of checks: the subjects do not shift when a longer id arrives."""

_NARROW = 60
"""Width below which a longer id takes room from its own subject only."""

_LITTLE_ROOM = 14


class FindingList(Lines):
    """Keeps the cursor on its finding while others arrive; until the operator moves it, on the worst finding."""

    class Chosen(Message):
        """The finding under the cursor changed, or is another one; None where there is none."""

        def __init__(self, row: FindingRow | None) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows: Sequence[FindingRow] = ()
        self._pending: Sequence[str] = ()
        self._ended: Sequence[WaiverStanding] = ()
        self._index = 0
        self._moved = False
        self._lines_of: Sequence[int] = ()
        """The line of each row, below the headings before it."""

    @property
    def chosen(self) -> FindingRow | None:
        """The finding under the cursor."""
        return self._rows[self._index] if self._rows else None

    def show_rows(
        self, rows: Sequence[FindingRow], pending: Sequence[str], ended: Sequence[WaiverStanding] = ()
    ) -> None:
        """Show these rows; the cursor stays on its finding, and on its line of the screen if possible."""
        before, index = self.chosen, self._index
        self._rows, self._pending, self._ended = rows, pending, ended
        same = _place_of(before, rows) if before else None
        if not self._moved or before is None:
            self._index = 0
        elif same is not None:
            self._index = same
        else:
            self._index = max(min(index, len(rows) - 1), 0)
        self._draw(self.above + self._index - index)
        self.post_message(self.Chosen(self.chosen))

    def stay(self) -> None:
        """Keep the cursor on its finding, even when a worse one arrives."""
        self._moved = True

    def wheel(self, lines: int) -> None:
        """Move the cursor with the mouse wheel, as the arrow keys do."""
        self.move(1 if lines > 0 else -1)

    @on(Lines.Clicked)
    def choose_clicked(self, message: Lines.Clicked) -> None:
        """Move the cursor to the clicked finding."""
        message.stop()
        if message.line in self._lines_of:
            self.move(self._lines_of.index(message.line) - self._index)

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
        """Draw the rows for the present width, with the cursor in view."""
        self._draw(self.above)

    def _draw(self, top: int) -> None:
        lines, self._lines_of = self._drawn(self.size.width)
        cursor = self._lines_of[self._index] if self._rows else -1
        height = max(self.size.height, 1)
        first = cursor - 1 if self._index == 0 and cursor == 1 else cursor  # the first group's heading with its row
        last = len(lines) - 1 if self._index == len(self._rows) - 1 else cursor  # the lines below with the last row
        self._place(lines, min(max(top, last - height + 1), max(first, 0)), cursor)

    def _drawn(self, width: int) -> tuple[list[Line], list[int]]:
        """Return the lines, and the line number of each row."""
        own = [0 if row.entry else min(cell_len(_name(row)), width * 2 // 3) for row in self._rows]
        names = _NAMES if width < _NARROW else max([_NAMES, *own])
        groups = [row.group for row in self._rows]
        headed = bool(len({*groups, *(["pending"] if self._pending else [])}) > 1 or "Waived" in groups or self._ended)
        lines: list[Line] = []
        places: list[int] = []
        for number, (row, needed) in enumerate(zip(self._rows, own, strict=True)):
            if headed and (number == 0 or groups[number - 1] != row.group):
                lines.append([(fitted(f" {row.group}", width), "faint")])
            places.append(len(lines))
            lines.append(_row_line(row, max(min(names, width * 2 // 3), needed), width))
        if self._pending and headed:
            lines.append([(fitted(" Running", width), "faint")])
        lines += [[(fitted(f" · {sanitize_line(check)}", width), "faint")] for check in self._pending]
        if self._ended:
            lines.append([(fitted(" Waivers not in force", width), "faint")])
        for waiver in self._ended:
            text = sanitize_line(f"{waiver.standing}: {waiver.code} {waiver.subject}")
            lines.append([(fitted(f"   {text}", width), "")])
        return lines, places


def _place_of(row: FindingRow, rows: Sequence[FindingRow]) -> int | None:
    """Return the place of a row in a new list: its own, else that of the row which now stands for it."""
    exact = (n for n, other in enumerate(rows) if other.key == row.key)
    return next(exact, next((n for n, other in enumerate(rows) if other.has(row.key)), None))


def _cause_line(row: FindingRow, entry: ReportEntry, width: int) -> Line:
    """Return the row of a cause: status, fold, and its sentence as far as it fits."""
    old = row.mark is RowMark.BEFORE
    return [
        (row.mark.sign, "accent"),
        (f"{entry.status.letter} ", "faint" if old else role_of(entry.status)),
        ("▾ " if row.is_open else "▸ ", "accent"),
        (fitted(shortened(sanitize_line(entry.headline), width - 5), width - 5), "faint" if old else "title"),
    ]


def _row_line(row: FindingRow, names: int, width: int) -> Line:
    if row.entry:
        return _cause_line(row, row.entry, width)
    if row.cause:
        first, *rest = _row_line(replace(row, cause=None), names, width - 2)
        return [first, ("  ", ""), *rest]
    finding = row.finding
    old = row.mark in (RowMark.GONE, RowMark.BEFORE, RowMark.UNSEEN) or bool(finding.waived)
    sign = "w" if finding.waived and row.mark is RowMark.NONE else row.mark.sign
    return [
        (sign, "accent"),
        (f"{finding.status.letter} ", "faint" if old else role_of(finding.status)),
        (fitted(_name(row), names) + " ", "faint" if old else ""),
        (_subject(row, max(width - names - 4, 0)), "faint" if old or finding.status not in PROBLEMS else ""),
    ]


def _name(row: FindingRow) -> str:
    """Return the check of a finding, or the number of checks that are UNKNOWN for one reason."""
    checks = row.checks
    return sanitize_line(checks[0]) if len(checks) == 1 else counted(len(checks), "check")


def _subject(row: FindingRow, width: int) -> str:
    """Return the subject of a finding, or the reason of several; where room is short the end of a subject, which
    distinguishes findings of one check."""
    if row.keys:
        return fitted(sanitize_line(_reason(row)), width)
    subject = sanitize_line(row.finding.subject or row.finding.title)
    if width < _LITTLE_ROOM and cell_len(subject) > width:
        return fitted("…" + subject[-(width - 1) :] if width > 1 else "", width)
    return fitted(subject, width)


def _reason(row: FindingRow) -> str:
    """Return the reason of several findings in few words: their common subject, else what was seen."""
    finding = row.finding
    if not row.likewise:  # checks whose facts could not be gathered: their title has the reason
        return finding.title.partition(": ")[2] or finding.title
    subjects = {one.subject for one in (finding, *row.likewise)}
    if len(subjects) == 1 and finding.subject:
        return finding.subject
    where = f"{few(finding.nodes)}: " if finding.nodes else ""
    return where + (" ".join(finding.seen) or finding.title)
