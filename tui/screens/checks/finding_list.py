"""The list of findings in groups, worst first, then the running checks and the waivers that are not in force."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual import on
from textual.message import Message

from checks.model.finding import Key
from checks.model.report import WaiverStanding
from checks.report.standing_text import Clock
from tui.console.eye import Eye
from tui.console.finding_rows import FindingRow, nearest_row
from tui.screens.checks.list_rows import fold_line, name_of_row, rows_of_list
from tui.screens.checks.verdict import is_passed
from tui.text.line import Line, fitted, sanitize_line
from tui.widgets.lines import Lines

_NAMES = 15
"""Columns for the ids of checks: the subjects do not shift when a longer id arrives. A subject that is too long for its
column starts next to its id."""
_NARROW = 60
"""Width below which a longer id takes room from its own subject only."""


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
        self.eye: Eye[Key] = Eye()
        self.way_back: FindingRow | None = None
        """The row that was selected before a new problem was; None where there is none."""
        self._has_verdict = False
        self._clock: Clock = str
        self._lines_of: Sequence[int] = ()
        """The first line of each row, below the headings before it."""
        self._heights: Sequence[int] = ()

    @property
    def chosen(self) -> FindingRow | None:
        """The finding under the cursor."""
        return self._rows[self._index] if self._rows else None

    def show_rows(
        self,
        rows: Sequence[FindingRow],
        pending: Sequence[str],
        ended: Sequence[WaiverStanding] = (),
        *,
        clock: Clock,
        new: FindingRow | None = None,
        has_verdict: bool = False,
    ) -> None:
        """Show these rows; the cursor stays on its finding, and the first rows are in view if both fit. `new`: the
        problem that takes the cursor; `has_verdict`: the row of what passed says that no problem was found."""
        before, index = self.chosen, self._index
        self._clock = clock
        self._rows, self._pending, self._ended, self._has_verdict = rows, pending, ended, has_verdict
        same = nearest_row(before, rows) if before else None
        if not self._moved or before is None:
            self._index = 0
        elif same is not None:
            self._index = same
        else:
            self._index = max(min(index, len(rows) - 1), 0)
        if new is not None:
            place = nearest_row(new, rows) or 0
            self.way_back = before if same != place else self.way_back
            self._moved, self._index = True, place
        self._draw(0)  # as far up as the cursor allows: what is new and bad is at the top, and must be in sight
        self.post_message(self.Chosen(self.chosen))

    def select(self, wanted: Callable[[FindingRow], bool]) -> bool:
        """Move the cursor to the first row that is wanted; return False where there is none."""
        place = next((number for number, row in enumerate(self._rows) if wanted(row)), None)
        if place is None:
            return False
        self._moved, self._index = True, place
        self._draw(self.above)
        self.post_message(self.Chosen(self.chosen))
        return True

    def go_back(self) -> bool:
        """Move the cursor to where it was before a new problem took it; return False where there is no way back."""
        place = nearest_row(self.way_back, self._rows) if self.way_back else None
        self.way_back = None
        if place is not None:
            self.move(place - self._index)
        return place is not None

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
        for number, (line, height) in enumerate(zip(self._lines_of, self._heights, strict=True)):
            if line <= message.line < line + height:
                self.move(number - self._index)

    def move(self, by: int) -> None:
        """Move the cursor."""
        self._moved = True
        self.eye.moved()
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
        lines, self._lines_of, self._heights = self._drawn(self.size.width)
        cursor = self._lines_of[self._index] if self._rows else -1
        tall = self._heights[self._index] if self._rows else 1
        height = max(self.size.height, 1)
        first = cursor - 1 if self._index == 0 and cursor == 1 else cursor  # the first group's heading with its row
        last = len(lines) - 1 if self._index == len(self._rows) - 1 else cursor + tall - 1  # with the lines below it
        self._place(lines, min(max(top, last - height + 1), max(first, 0)), cursor, tall)

    def _drawn(self, width: int) -> tuple[list[Line], list[int], list[int]]:
        """Return the lines, and for each row the number of its first line and of its lines."""
        own = [0 if row.entry or row.episode else min(cell_len(name_of_row(row)), width * 2 // 3) for row in self._rows]
        names = _NAMES if width < _NARROW else max([_NAMES, *own])
        groups = [row.section.heading for row in self._rows]
        headed = bool(len({*groups, *(["pending"] if self._pending else [])} - {""}) > 1)
        headed = headed or self._has_verdict or not {"Waived", "Over"}.isdisjoint(groups) or bool(self._ended)
        lines: list[Line] = []
        places: list[int] = []
        heights: list[int] = []
        for number, (row, needed) in enumerate(zip(self._rows, own, strict=True)):
            if headed and groups[number] and (number == 0 or groups[number - 1] != groups[number]):
                lines.append([(fitted(f" {groups[number]}", width), "faint")])
            places.append(len(lines))
            if self._has_verdict and is_passed(row):
                lines.append(fold_line(row, width, self._clock, "No problem was found"))
            else:
                lines += rows_of_list(row, max(min(names, width * 2 // 3), needed), width, self._clock)
            heights.append(len(lines) - places[-1])
        if self._pending and headed:
            lines.append([(fitted(" Running", width), "faint")])
        lines += [[(fitted(f" · {sanitize_line(check)}", width), "faint")] for check in self._pending]
        if self._ended:
            lines.append([(fitted(" Waivers not in force", width), "faint")])
        for waiver in self._ended:
            text = sanitize_line(f"{waiver.standing}: {waiver.code} {waiver.subject}")
            lines.append([(fitted(f"   {text}", width), "")])
        return lines, places, heights
