"""The verdict of a run without an open problem: the first row of Checks after what is gone, and the first sentence of
its pane."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.finding import PROBLEMS, Status
from checks.report.summary import headline
from tui.console.finding_rows import FindingRow, RowMark
from tui.console.run_state import RunState

_GONE = RowMark.GONE


def verdict_of(board: RunState, rows: Sequence[FindingRow]) -> str:
    """Return that no problem was found, with its scope; empty while checks run, or where one of all rows is an open
    problem, or none is of checks that passed."""
    if board.report is None or board.running or has_problem(rows) or not any(map(is_passed, rows)):
        return ""
    return headline(board.report)


def has_problem(rows: Sequence[FindingRow]) -> bool:
    """Return whether one of the rows is an open problem."""
    return any(row.finding.status in PROBLEMS and not row.finding.waived and row.mark is not _GONE for row in rows)


def is_passed(row: FindingRow) -> bool:
    """Return whether a row stands for all checks that passed."""
    return row.is_fold and row.finding.status is Status.PASS


def passed_first(rows: Sequence[FindingRow]) -> list[FindingRow]:
    """Return the rows with the one of all checks that passed, and what it unfolds, before all that is not gone."""
    keys = {row.key for row in rows if is_passed(row)}

    def place(row: FindingRow) -> int:
        return 0 if row.mark is _GONE else 1 if row.key in keys or row.parent in keys else 2

    return sorted(rows, key=place)
