"""What the bars and the pane say of the run: counts, how far it is, how it compares with the one before."""

from __future__ import annotations

from collections.abc import Sequence

from tui.console.run_state import FindingRow, RowMark, RunState
from tui.text.finding_lines import role_of
from tui.text.line import Line, sanitize_line


def counts_line(board: RunState, limits: Sequence[str], width: int) -> Line:
    """How many findings ended how, after what limits the list; closer together where there is little room."""
    counts = [(f"{number} {status}", role_of(status)) for status, number in board.counts()]
    counts += [(f"{board.waived} waived", "")] if board.waived else []
    words = [*((sanitize_line(limit), "accent") for limit in limits), *counts]
    gap = "  " if sum(len(text) + 2 for text, _ in words) < width else " "
    return [span for number, word in enumerate(words) for span in ((gap if number else " ", ""), word)]


def state_of(board: RunState) -> str:
    """How far the run is, or how it ended."""
    if board.trouble:
        return sanitize_line(board.trouble)
    if board.running:
        return sanitize_line(board.progress)
    if board.report is None:
        return ""
    new, gone = board.changes()
    compared = f"  {new} new  {gone} gone" if board.compares else ""
    told = f"{sanitize_line(board.report.started_at[11:19])}  {board.report.duration_s:.1f} s"
    if board.report.reruns:
        again = board.report.reruns[-1]
        told = f"{sanitize_line(again.check)} again {sanitize_line(again.started_at[11:19])}  {again.duration_s:.1f} s"
    return told + compared


def note_on(row: FindingRow) -> str:
    """How a finding stands to the run before, where that is worth a word."""
    time = sanitize_line(row.report.found_at(row.finding.check)[11:19])
    return {
        RowMark.GONE: f"Gone: the run of {time} found this, the latest run did not.",
        RowMark.UNSEEN: f"The run of {time} found this; the latest run could not check it, so it may still exist.",
        RowMark.BEFORE: f"From the run of {time}; being checked again.",
        RowMark.NEW: "New: the previous run did not find this.",
        RowMark.NONE: "",
    }[row.mark]
