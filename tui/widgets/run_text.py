"""The texts of bars and panes about a run: counts, progress, and comparison with the previous run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.folding import alone
from checks.report.standing_text import Clock, brief_standing, outcome_text, said_text
from tui.console.check_list import CheckList
from tui.console.finding_rows import UNSETTLED, FindingRow, RowMark, Section
from tui.console.run_state import RunState
from tui.text.entry_lines import pane_entry_lines
from tui.text.finding_lines import finding_lines, pane_layout, part_lines, role_of
from tui.text.line import Line, cell_len, hanging, sanitize_line


def counts_line(listed: CheckList | None, limits: Sequence[str], width: int) -> Line:
    """Return the filters of the list and the number of findings of each status that hold; closer together where room is
    short, and the calm ones left out where it is shorter."""
    counts: list[tuple[str, str]] = []
    if listed is not None:
        causes = sum(row.section is Section.CAUSES for row in listed.causes())
        planned = listed.of_section(Section.PLANNED)
        new, waived = listed.of_section(Section.NEW), listed.of_section(Section.WAIVED)
        counts += [(f"{new} new", "title")] if new else []
        counts += [(counted(causes, "cause"), "title")] if causes else []
        each = [(f"{number} {status}", role_of(status)) for status, number in listed.counts()]
        calm = {role_of(status) for status in CALM_WORDS}
        counts += [count for count in each if count[1] not in calm]
        counts += [(f"{number} {word}", role) for number, word, role in (
            (listed.not_known, "not known", "unknown"), (planned, "planned", ""), (waived, "waived", "")
        ) if number]  # fmt: skip
        counts += [count for count in each if count[1] in calm]
    parts = [*((sanitize_line(limit), "accent") for limit in limits), *counts]
    while len(parts) > 1 and sum(cell_len(text) + 1 for text, _ in parts) > width:
        parts.pop()  # the calmest count, which is in the list
    gap = "  " if sum(cell_len(text) + 2 for text, _ in parts) < width else " "
    return [span for number, part in enumerate(parts) for span in ((gap if number else " ", ""), part)]


CALM_WORDS = {Status.PASS: "passed", Status.SKIPPED: "skipped"}


def fold_text(row: FindingRow, clock: Clock) -> str:
    """Return what a folded row stands for: `33 passed`; `5 passed, not known since 20:21:04`."""
    number = f"{len(row.calm)} {'passed' if row.said else CALM_WORDS[row.finding.status]}"
    if row.said is None:
        return number
    return f"{number}, {sanitize_line(brief_standing(row.said, clock))}"


def run_labels(
    report: Report | None, now: datetime, *, is_past: bool, without_runs: str = "", moment: str = ""
) -> Sequence[str]:
    """Return when the checks ran, and how long, the longest text first: `run 14:02:31, 1.9 s`, with the date where that
    is not today's. The shortest text of a recording or a saved state has no date: the header or the playhead has it.
    Empty before the first run.

    `without_runs` says that a recording has none, `moment` at which of its moments the screen is."""
    if report is None:
        return (moment,) if moment else ()
    date, time = sanitize_line(report.started_at[:10]), sanitize_line(report.started_at[11:19])
    day = "" if date == now.strftime("%Y-%m-%d") else f"{date} "
    shortest = f"run {time}" if is_past else f"run {day}{time}"
    texts = [f"run {day}{time}, {report.duration_s:.1f} s", shortest]
    if without_runs:
        texts = [f"{without_runs}: facts of {time}", without_runs]
    return tuple(f"{text}  {moment}".rstrip() for text in texts)


def state_of(board: RunState, listed: CheckList | None = None, clock: Clock | None = None) -> str:
    """Return the progress of the run; after it, how what it verified stands, or how it compares with the run before."""
    if board.trouble:
        return sanitize_line(board.trouble)
    if board.running:
        verifies = f"verifying by {counted(board.verifying, 'check')}: " if board.verifying else ""
        return sanitize_line(f"{verifies}{board.progress}")
    if board.report is None or listed is None or clock is None:
        return ""
    if board.verified is not None:
        row = listed.of_key(board.verified)
        return outcome_text(row.said if row else None, clock)
    new, over = listed.new_and_over
    texts = [f"{new} new  {over} over"] if listed.is_compared else []
    if board.report.reruns:
        again = board.report.reruns[-1]
        checks = again.check if again.check and not again.also else counted(len(again.checks or again.judged), "check")
        time = sanitize_line(again.started_at[11:19])
        texts.insert(0, f"{sanitize_line(checks)} again {time}, {again.duration_s:.1f} s")
    return "  ".join(texts)


def row_lines(row: FindingRow, width: int, clock: Clock, *, is_whole: bool = False) -> list[Line]:
    """Return the cause of a row, its finding with the checks of all findings that the row stands for, or the checks
    that passed or were skipped; first how it stands, where it does not simply hold. `is_whole`: with all columns of a
    table."""
    if row.is_fold:
        return list(_fold_lines(row, width, clock))
    note = note_on(row, clock)
    first = list(hanging([], note, width, "accent")) if row.section in UNSETTLED else []
    note = "" if first else note
    if row.entry:
        return [*first, *pane_entry_lines(row.entry, row.report, width, note, row.next)]
    alike = row.group_of_finding
    lines = [*first, *finding_lines(alike, row.report, width, note, is_whole=is_whole, steps=row.next)]
    if row.group_of_finding.is_not_gathered:
        lines += part_lines("Checks", (", ".join(row.checks),), width, pane_layout(width))
    return lines


def _fold_lines(row: FindingRow, width: int, clock: Clock) -> Iterator[Line]:
    """Yield what passed, was skipped, or is not known any longer: the check and the sentence of each."""
    yield from hanging([], fold_text(row, clock), width, "title")
    yield []
    for one in row.calm:
        text = one.finding.subject or one.finding.title
        yield from hanging([(f"{sanitize_line(one.finding.check)}  ", "label")], text, width, indent=2)


def whole_lines(row: FindingRow, width: int, clock: Clock) -> list[Line]:
    """Return the cause of a row with the findings that show it, or its finding, with everything that the report has
    about them, except the evidence."""
    lines = row_lines(row, width, clock, is_whole=True)
    for finding in whole_findings(row)[1:]:
        if finding is None:
            continue
        own = alone(finding)
        lines += [[], [], *finding_lines(own, row.report, width, is_whole=True, steps=row.steps_of(own))]
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
    from checks.report.coverage import coverage_text  # late: there is nothing to compare before the first screen

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


def note_on(row: FindingRow, clock: Clock) -> str:
    """Return how a row stands, and how one that holds compares with the run before; empty for a fold."""
    if row.is_fold or row.said is None:
        return ""
    said = said_text(row.said, clock, row.status)
    said = f"{said[:1].upper()}{said[1:]}."
    if row.section in UNSETTLED:
        return said
    amounts = amounts_text(row)
    changed = {
        RowMark.NEW: "New: the run before did not find this.",
        RowMark.WORSE: f"Worse since the run before: {amounts}." if amounts else "Worse than in the run before.",
        RowMark.BETTER: f"Less since the run before: {amounts}." if amounts else "Less than in the run before.",
        RowMark.NONE: f"Since the run before: {amounts}." if amounts else "",
    }[row.mark]
    return f"{said} {changed}".strip()
