"""The texts of bars and panes about a run: counts, progress, and comparison with the previous run."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.wording import counted
from tui.console.run_state import FindingRow, RowMark, RunState
from tui.text.entry_lines import pane_entry_lines
from tui.text.finding_lines import PANE, finding_lines, part_lines, role_of
from tui.text.line import Line, sanitize_line


def counts_line(board: RunState, limits: Sequence[str], width: int) -> Line:
    """Return the filters of the list and the number of findings of each status; closer together where room is short."""
    causes = len(board.causes())
    counts = [(counted(causes, "cause"), "title")] if causes else []
    counts += [(f"{number} {status}", role_of(status)) for status, number in board.counts()]
    counts += [(f"{board.waived} waived", "")] if board.waived else []
    parts = [*((sanitize_line(limit), "accent") for limit in limits), *counts]
    gap = "  " if sum(len(text) + 2 for text, _ in parts) < width else " "
    return [span for number, part in enumerate(parts) for span in ((gap if number else " ", ""), part)]


def state_of(board: RunState) -> str:
    """Return the progress of the run, or how it ended."""
    if board.trouble:
        return sanitize_line(board.trouble)
    if board.running:
        return sanitize_line(board.progress)
    if board.report is None:
        return ""
    new, gone = board.changes()
    compared = f"  {new} new  {gone} gone" if board.compares else ""
    text = f"{sanitize_line(board.report.started_at[11:19])}  {board.report.duration_s:.1f} s"
    if board.report.reruns:
        again = board.report.reruns[-1]
        text = f"{sanitize_line(again.check)} again {sanitize_line(again.started_at[11:19])}  {again.duration_s:.1f} s"
    return text + compared


def row_lines(row: FindingRow, width: int, note: str = "") -> list[Line]:
    """Return the cause of a row, or its finding with the checks of all findings that the row stands for."""
    if row.entry:
        return list(pane_entry_lines(row.entry, row.report, width, note))
    lines = list(finding_lines(row.finding, row.report, width, note, likewise=row.likewise))
    if len(row.checks) > 1 and not row.likewise:
        lines += part_lines("Checks", (", ".join(row.checks),), width, PANE)
    return lines


def whole_lines(row: FindingRow, width: int) -> list[Line]:
    """Return the cause or the finding of a row with everything that the report has about it, except the evidence."""
    lines = row_lines(row, width)
    for finding in row.entry.all_findings if row.entry else ():
        lines += [[], [], *finding_lines(finding, row.report, width)]
    return lines


def note_on(row: FindingRow) -> str:
    """Return how a finding compares with the previous run; empty where nothing changed."""
    time = sanitize_line(row.report.found_at(row.checks[0])[11:19])
    return {
        RowMark.GONE: f"Gone: the run of {time} found this, the latest run did not.",
        RowMark.UNSEEN: f"The run of {time} found this; the latest run could not check it, so it may still exist.",
        RowMark.BEFORE: f"From the run of {time}; being checked again.",
        RowMark.NEW: "New: the previous run did not find this.",
        RowMark.NONE: "",
    }[row.mark]
