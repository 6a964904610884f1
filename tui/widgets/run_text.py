"""The texts of bars and panes about a run: counts, progress, and comparison with the previous run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.coverage import coverage_text
from checks.report.folding import alone
from tui.console.finding_rows import FindingRow, RowMark
from tui.console.run_state import RunState
from tui.text.entry_lines import pane_entry_lines
from tui.text.finding_lines import finding_lines, pane_layout, part_lines, role_of
from tui.text.line import Line, cell_len, hanging, sanitize_line


def counts_line(board: RunState, limits: Sequence[str], width: int) -> Line:
    """Return the filters of the list and the number of findings of each status; closer together where room is short,
    and the calm ones left out where it is shorter."""
    causes = len(board.causes())
    counts = [(counted(causes, "cause"), "title")] if causes else []
    counts += [(f"{number} {status}", role_of(status)) for status, number in board.counts()]
    waived = [(f"{board.waived} waived", "")] if board.waived else []
    calm = {role_of(status) for status in CALM_WORDS}
    counts = [*(c for c in counts if c[1] not in calm), *waived, *(c for c in counts if c[1] in calm)]
    parts = [*((sanitize_line(limit), "accent") for limit in limits), *counts]
    while len(parts) > 1 and sum(cell_len(text) + 1 for text, _ in parts) > width:
        parts.pop()  # the calmest count, which is in the list
    gap = "  " if sum(cell_len(text) + 2 for text, _ in parts) < width else " "
    return [span for number, part in enumerate(parts) for span in ((gap if number else " ", ""), part)]


CALM_WORDS = {Status.PASS: "passed", Status.SKIPPED: "skipped"}


def run_labels(report: Report | None, now: datetime, *, is_past: bool) -> Sequence[str]:
    """Return when the checks ran, and how long, the longest text first: `run 14:02:31, 1.9 s`, with the date where that
    is not today's. The shortest text of a recording or a saved state has no date: the header or the playhead has it.
    Empty before the first run."""
    if report is None:
        return ()
    date, time = sanitize_line(report.started_at[:10]), sanitize_line(report.started_at[11:19])
    day = "" if date == now.strftime("%Y-%m-%d") else f"{date} "
    shortest = f"run {time}" if is_past else f"run {day}{time}"
    return f"run {day}{time}, {report.duration_s:.1f} s", shortest


def state_of(board: RunState) -> str:
    """Return the progress of the run, what became of the cause that it verified, or how it compares with the previous
    run."""
    if board.trouble:
        return sanitize_line(board.trouble)
    if board.running:
        verifies = f"verifying by {counted(board.verifying, 'check')}: " if board.verifying else ""
        return sanitize_line(f"{verifies}{board.progress}")
    if board.report is None:
        return ""
    if board.verdict:
        return sanitize_line(board.verdict)
    new, gone = board.changes()
    texts = [f"{new} new  {gone} gone"] if board.compares else []
    if board.report.reruns:
        again = board.report.reruns[-1]
        checks = again.check if again.check and not again.also else counted(len(again.checks or again.judged), "check")
        time = sanitize_line(again.started_at[11:19])
        texts.insert(0, f"{sanitize_line(checks)} again {time}, {again.duration_s:.1f} s")
    return "  ".join(texts)


def row_lines(row: FindingRow, width: int, notes: Sequence[str] = ()) -> list[Line]:
    """Return the cause of a row, its finding with the checks of all findings that the row stands for, or the checks
    that passed or were skipped."""
    if row.is_fold:
        return list(_fold_lines(row, width))
    note = " ".join(filter(None, notes))
    if row.entry:
        return list(pane_entry_lines(row.entry, row.report, width, note))
    lines = list(finding_lines(row.group_of_finding, row.report, width, note))
    if row.group_of_finding.is_not_gathered:
        lines += part_lines("Checks", (", ".join(row.checks),), width, pane_layout(width))
    return lines


def _fold_lines(row: FindingRow, width: int) -> Iterator[Line]:
    """Yield what passed, or was skipped: the check and the sentence of each."""
    yield [(f"{len(row.calm)} {CALM_WORDS[row.finding.status]}", "title")]
    yield []
    for one in row.calm:
        text = one.finding.subject or one.finding.title
        yield from hanging([(f"{sanitize_line(one.finding.check)}  ", "label")], text, width, indent=2)


def whole_lines(row: FindingRow, width: int) -> list[Line]:
    """Return the cause of a row with the findings that show it, or its finding, with everything that the report has
    about them, except the evidence."""
    lines = row_lines(row, width)
    for finding in whole_findings(row)[1:]:
        lines += [[], [], *finding_lines(alone(finding), row.report, width)] if finding else ()
    return lines


def whole_findings(row: FindingRow) -> list[Finding | None]:
    """Return the findings of the whole page in their order; None stands for the cause."""
    return [None, *row.entry.findings] if row.entry else [row.finding]


def amounts_text(row: FindingRow) -> str:
    """Return how much the problem was and is: `28 → 1 blocks`, `FAIL → WARN`; empty where that did not change."""
    now, before = row.finding, row.before
    if before is None:
        return ""
    if before.code != now.code:  # another kind of finding: its numbers have another base
        return f"{before.status} → {now.status}" if before.status is not now.status else ""
    if not_compared := coverage_text(before, now):
        return sanitize_line(not_compared)
    counts = [finding.data.get("lost_blocks") for finding in (before, now)]
    if None not in counts and counts[0] != counts[1]:
        return f"{counts[0]:,} → {counts[1]:,} lost blocks"
    one, other = before.extent, now.extent
    if one and other and one.unit == other.unit and one.value != other.value:
        return f"{_number(one.value)} → {_number(other.value)} {sanitize_line(other.unit)}"
    return f"{before.status} → {now.status}" if before.status is not now.status else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def note_on(row: FindingRow) -> str:
    """Return how a finding compares with the previous run; empty where nothing changed."""
    if row.is_fold:
        return ""
    time = sanitize_line(row.report.found_at(row.checks[0])[11:19])
    missed = sanitize_line(row.missed_at[11:19]) or "the latest one"
    amounts = amounts_text(row)
    changed = f"Since the previous run: {amounts}." if amounts else "It changed since the previous run."
    return {
        RowMark.GONE: f"Gone: the run of {time} found this, that of {missed} did not. d removes it from the list.",
        RowMark.UNSEEN: f"The run of {time} found this; the latest run could not check it, so it may still exist.",
        RowMark.BEFORE: f"From the run of {time}; being checked again.",
        RowMark.NEW: "New: the previous run did not find this.",
        RowMark.WORSE: f"Worse. {changed}",
        RowMark.BETTER: f"Less. {changed}",
        RowMark.NONE: f"Since the previous run: {amounts}." if amounts else "",
    }[row.mark]
