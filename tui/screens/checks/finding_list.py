"""The list of findings in groups, worst first, then the running checks and the waivers that are not in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace
from rich.cells import cell_len
from textual import on
from textual.message import Message

from checks.model.facts import Unknown
from checks.model.finding import PROBLEMS
from checks.model.report import WaiverStanding
from checks.model.wording import counted, few, first_and_rest
from checks.report.causes import ReportEntry
from tui.console.finding_rows import FindingRow, RowMark, nearest_row
from tui.screens.checks.verdict import is_passed
from tui.text.abridged import abridged
from tui.text.finding_lines import role_of
from tui.text.line import Line, clipped, fitted, padded, sanitize_line
from tui.widgets.lines import Lines
from tui.widgets.run_text import amounts_text, fold_text

_NAMES = 15
"""Columns for the ids of checks: the subjects do not shift when a longer id arrives. A subject that is too long for its
column starts next to its id."""
_BEFORE_SUBJECT = 4
"""Columns of the marks before the id of a check, and of the gap after it."""

_NARROW = 60
"""Width below which a longer id takes room from its own subject only."""

_BEFORE_CAUSE = 5
"""Columns before the sentence of a cause, and before the second line of a row."""
_CAUSE_LINES = 2
"""The most lines of a cause; one more where the list is narrower than `_CAUSE_WIDTH`."""
_CAUSE_WIDTH = 36


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
        self._has_verdict = False
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
        has_verdict: bool = False,
    ) -> None:
        """Show these rows; the cursor stays on its finding, and the first rows are in view if both fit. `has_verdict`:
        the row of what passed says that no problem was found."""
        before, index = self.chosen, self._index
        self._rows, self._pending, self._ended, self._has_verdict = rows, pending, ended, has_verdict
        same = nearest_row(before, rows) if before else None
        if not self._moved or before is None:
            self._index = 0
        elif same is not None:
            self._index = same
        else:
            self._index = max(min(index, len(rows) - 1), 0)
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
        own = [0 if row.entry else min(cell_len(_name(row)), width * 2 // 3) for row in self._rows]
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
                lines.append(_fold_line(row, width, "No problem was found"))
            else:
                lines += rows_of_list(row, max(min(names, width * 2 // 3), needed), width)
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


def rows_of_list(row: FindingRow, names: int, width: int) -> list[Line]:
    """Return the lines of a row: one or more of a cause, and one of a finding."""
    if row.entry:
        return list(_cause_lines(row, row.entry, width))
    if row.keys and not row.is_fold and not row.parent:
        return list(_group_lines(row, width))
    return [_fold_line(row, width) if row.is_fold else _row_line(row, names, width)]


def _cause_lines(row: FindingRow, entry: ReportEntry, width: int) -> Iterator[Line]:
    """Yield the row of a cause: status, fold, and its sentence in as many lines as show where it is."""
    old = row.is_faint
    room = max(width - _BEFORE_CAUSE, 1)
    most = _CAUSE_LINES if width >= _CAUSE_WIDTH else _CAUSE_LINES + 1
    first, *rest = abridged(entry.headline, room, _place(row), most=most)
    role = "faint" if old else "title"
    yield [
        (row.sign, "accent"),
        (f"{entry.status.letter} ", "faint" if old else role_of(entry.status)),
        ("▾ " if row.is_open else "▸ ", "accent"),
        (padded(first, room), role),
    ]
    yield from ([(" " * _BEFORE_CAUSE, ""), (padded(part, room), role)] for part in rest)


def _group_lines(row: FindingRow, width: int) -> Iterator[Line]:
    """Yield the row of several checks that are UNKNOWN for one reason: their number and the reason, in two lines."""
    old = row.is_faint
    room = max(width - _BEFORE_CAUSE, 1)
    role = "faint" if old else ""
    first, *rest = abridged(f"{_name(row)} {_reason(row)}", room, _place(row), most=_CAUSE_LINES)
    letter = (f"{row.finding.status.letter} ", "faint" if old else role_of(row.finding.status))
    yield [(row.sign, "accent"), letter, (padded(first, room), role)]
    yield from ([(" " * _BEFORE_CAUSE, ""), (padded(part, room), role)] for part in rest)


def _fold_line(row: FindingRow, width: int, verdict: str = "") -> Line:
    """Return the row of all checks that passed, or of all that were skipped: `▸ · 33 passed`, after a verdict."""
    text = fold_text(row)
    room = max(width - 3 - cell_len(verdict), 0)
    start: Line = [(" ", ""), ("▾ " if row.is_open else "▸ ", "accent"), (verdict, "pass")]
    return [*start, (fitted(f" · {text}" if verdict else f"· {text}", room), "faint")]


def _row_line(row: FindingRow, names: int, width: int) -> Line:
    if row.parent:
        first, *rest = _row_line(replace(row, parent=None), names, width - 2)
        return [first, ("  ", ""), *rest]
    finding = row.finding
    old = row.is_faint
    subject, own = sanitize_line(_subject(row)), cell_len(_name(row))
    if cell_len(subject) > width - names - _BEFORE_SUBJECT:
        names = min(own, names)
    room = max(width - names - _BEFORE_SUBJECT, 0)
    return [
        (row.sign, "accent"),
        (f"{finding.status.letter} ", "faint" if old else role_of(finding.status)),
        (clipped(_name(row), names) + " ", "faint" if old else ""),
        (
            fitted(abridged(subject, room, _place(row))[0], room),
            "faint" if old or finding.status not in PROBLEMS else "",
        ),
    ]


def _name(row: FindingRow) -> str:
    """Return the check of a finding, or the number of checks that are UNKNOWN for one reason."""
    checks = row.checks
    return sanitize_line(checks[0]) if len(checks) == 1 else counted(len(checks), "check")


def _subject(row: FindingRow) -> str:
    """Return the subject of a finding, how its amount changed, or the reason of several."""
    if row.keys:
        return _reason(row)
    amounts = amounts_text(row) if row.mark in (RowMark.WORSE, RowMark.BETTER) else ""
    return amounts or row.finding.subject or row.finding.title


def _place(row: FindingRow) -> tuple[str, ...]:
    """Return the names of the nodes, private networks and NICs of a row."""
    causes = row.entry.causes[:1] if row.entry else ()
    own = {row.finding.network, *(name for cause in causes for name in cause.networks)} - {""}
    known = row.report.cluster.networks
    nics = [] if isinstance(known, Unknown) else [each.interface for each in known if each.name in own]
    nodes = (*(node for cause in causes for node in cause.nodes), *row.finding.nodes)
    return (*nodes, *nics, *sorted(own))


def _reason(row: FindingRow) -> str:
    """Return the reason of several findings in few words: their common subject, else what was seen."""
    finding = row.finding
    if row.group_of_finding.is_not_gathered and finding.lacks:
        return first_and_rest(finding.lacks[0].reason)[0]
    subjects = {one.subject for one in (finding, *row.likewise)}
    if len(subjects) == 1 and finding.subject:
        return finding.subject
    where = f"{few(finding.nodes)}: " if finding.nodes else ""
    return where + (" ".join(finding.seen) or finding.title)
