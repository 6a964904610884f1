"""The rows of the list of findings as lines: each says how it stands, where that is not simply so."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from rich.cells import cell_len

from checks.model.facts import Unknown
from checks.model.finding import PROBLEMS
from checks.model.wording import counted, few, first_and_rest
from checks.report.standing_text import Clock, brief_standing
from tui.console.finding_rows import UNSETTLED, FindingRow, RowMark, Section
from tui.text.abridged import abridged
from tui.text.finding_lines import role_of
from tui.text.line import Line, clipped, fitted, padded, sanitize_line, width_of
from tui.widgets.run_text import amounts_text, fold_text

_BEFORE_SUBJECT = 4
"""Columns of the marks before the id of a check, and of the gap after it."""
_BEFORE_CAUSE = 5
"""Columns before the sentence of a cause, and before the second line of a row."""
_CAUSE_LINES = 2
"""The most lines of a cause; one more where the list is narrower than `_CAUSE_WIDTH`."""
_CAUSE_WIDTH = 36


def rows_of_list(row: FindingRow, names: int, width: int, clock: Clock) -> list[Line]:
    """Return the lines of a row: one or more of a sentence, one of a finding, and how it stands, in a line of its own
    where the last one has no room for it. `names` are the columns for the ids of checks."""
    if row.is_fold:
        return [fold_line(row, width, clock)]
    if row.entry or row.episode or (row.keys and not row.parent):
        lines = list(_sentence_lines(row, width))
    else:
        lines = [_row_line(row, names, width)]
    return _with_standing(lines, row, width, clock)


def _with_standing(lines: list[Line], row: FindingRow, width: int, clock: Clock) -> list[Line]:
    standing = brief_standing(row.said, clock) if row.said and row.section in UNSETTLED else ""
    if not standing:
        return lines
    text, role = sanitize_line(standing), "unknown" if row.section is Section.NOT_KNOWN else "faint"
    *start, (words, own) = lines[-1]
    words = words.rstrip()
    room = width - width_of(start) - cell_len(words) - 2
    if cell_len(text) <= room:
        return [*lines[:-1], [*start, (f"{words}  ", own), (padded(text, room), role)]]
    return [*lines, [(" " * _BEFORE_CAUSE, ""), (fitted(text, max(width - _BEFORE_CAUSE, 1)), role)]]


def _sentence_lines(row: FindingRow, width: int) -> Iterator[Line]:
    """Yield a cause, an event, or several checks that are UNKNOWN for one reason: a sentence in as many lines as show
    where it is."""
    old = row.is_faint
    start = [(row.sign, "accent"), (f"{row.status.letter} ", "faint" if old else role_of(row.status))]
    text, role, most = f"{name_of_row(row)} {_reason(row)}", "", _CAUSE_LINES
    if row.entry:
        start.append(("▾ " if row.is_open else "▸ ", "accent"))
        text, role, most = row.entry.headline, "title", _CAUSE_LINES + (width < _CAUSE_WIDTH)
    elif row.episode:
        from checks.report.event_text import brief  # late: the first screen has no event

        text, role = brief(row.episode.event), "title"
    if old:
        role = "faint"
    first, *rest = abridged(text, max(width - _BEFORE_CAUSE, 1), _place(row), most=most)
    yield [*start, (padded(first, width - width_of(start)), role)]
    yield from ([(" " * _BEFORE_CAUSE, ""), (padded(part, width - _BEFORE_CAUSE), role)] for part in rest)


def fold_line(row: FindingRow, width: int, clock: Clock, verdict: str = "") -> Line:
    """Return the row of all checks that passed, or of all that were skipped: `▸ · 33 passed`, after a verdict."""
    text = fold_text(row, clock)
    room = max(width - 3 - cell_len(verdict), 0)
    start: Line = [(" ", ""), ("▾ " if row.is_open else "▸ ", "accent"), (verdict, "pass")]
    return [*start, (fitted(f" · {text}" if verdict else f"· {text}", room), "faint")]


def _row_line(row: FindingRow, names: int, width: int) -> Line:
    if row.parent:
        first, *rest = _row_line(replace(row, parent=None), names, width - 2)
        return [first, ("  ", ""), *rest]
    finding = row.finding
    old = row.is_faint
    subject, own = sanitize_line(_subject(row)), cell_len(name_of_row(row))
    if cell_len(subject) > width - names - _BEFORE_SUBJECT:
        names = min(own, names)
    room = max(width - names - _BEFORE_SUBJECT, 0)
    return [
        (row.sign, "accent"),
        (f"{finding.status.letter} ", "faint" if old else role_of(finding.status)),
        (clipped(name_of_row(row), names) + " ", "faint" if old else ""),
        (
            fitted(abridged(subject, room, _place(row))[0], room),
            "faint" if old or finding.status not in PROBLEMS else "",
        ),
    ]


def name_of_row(row: FindingRow) -> str:
    """Return the check of a finding, or the number of checks that are UNKNOWN for one reason."""
    checks = row.checks
    return sanitize_line(checks[0]) if len(checks) == 1 else counted(len(checks), "check")


def _subject(row: FindingRow) -> str:
    """Return the subject of a finding, how its amount changed, or the reason of several."""
    if row.keys:
        return _reason(row)
    is_compared = row.mark in (RowMark.WORSE, RowMark.BETTER) and row.section not in UNSETTLED
    amounts = amounts_text(row) if is_compared else ""
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
