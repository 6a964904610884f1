"""The verdict where nothing is a problem now, and all is known: the first row of Checks, and the first sentence of its
pane."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.finding import Status
from tui.console.check_list import CheckList
from tui.console.finding_rows import FindingRow, Section
from tui.console.run_state import RunState


def verdict_of(board: RunState, listed: CheckList | None, rows: Sequence[FindingRow]) -> str:
    """Return that no problem was found, with its scope; empty while the first checks run, and where one of all rows is
    a problem or is not known any more, or none is of checks that passed."""
    is_first = board.running and not board.is_whole
    if listed is None or is_first or has_problem(rows) or not any(map(is_passed, rows)):
        return ""
    from checks.report.summary import headline  # late: no first screen has a verdict

    return headline(listed.report)


def has_problem(rows: Sequence[FindingRow]) -> bool:
    """Return whether one of the rows is a problem, or is not known: also where a plan stopped what it asks."""
    return any(
        row.section <= Section.NOT_KNOWN or (row.section is Section.PLANNED and row.finding.status is Status.UNKNOWN)
        for row in rows
    )


def is_passed(row: FindingRow) -> bool:
    """Return whether a row stands for all checks that passed."""
    return row.is_fold and row.finding.status is Status.PASS and row.section is Section.CALM


def passed_first(rows: Sequence[FindingRow]) -> list[FindingRow]:
    """Return the rows with the one of all checks that passed, and what it unfolds, before all that is no problem."""
    keys = {row.key for row in rows if is_passed(row)}
    return sorted(rows, key=lambda row: not (row.key in keys or row.parent in keys))
