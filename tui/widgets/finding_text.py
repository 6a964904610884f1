"""A finding in plain words: what was seen, what was expected, why it matters, what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from checks.model.finding import Finding, Remedy, Status, Table
from checks.model.report import Report
from checks.rules.waivers import ended_text, lifted_for, waived_text
from tui.widgets.line import Line, clean, command_lines, hanging, wrapped

_LABEL = 9


def finding_lines(finding: Finding, report: Report, width: int, note: str = "") -> Iterator[Line]:
    """The finding in lines of that width; `note` says what stands before it, such as that it is gone."""
    yield [(clean(finding.code), "title"), ("  ", ""), (finding.status, role_of(finding.status))]
    if note:
        for text in wrapped(note, width):
            yield [(text, "accent")]
    for text in wrapped(finding.title, width):
        yield [(text, "title")]
    if finding.waived:
        yield from _part("Waived", (waived_text(finding.waived),), width, "accent")
    elif ended := lifted_for(finding, report.waivers):
        yield from _part("Waiver", (ended_text(ended),), width, "warn")
    yield from _part("Seen", finding.seen, width)
    if finding.table:
        yield []
        yield from _table(finding.table, width)
    yield from _part("Expected", finding.expected, width)
    yield from _part("Why", (finding.why,), width)
    yield from _next(finding.next, width)
    joined = dict.fromkeys(f"{f.check} ({f.code})" for f in report.joined_with(finding) if f.code != finding.code)
    yield from _part("Joined", (f"with {', '.join(joined)}",) if joined else (), width)
    yield from _part("Sources", finding.sources, width, "faint")


def role_of(status: Status) -> str:
    """The role that a status is drawn in."""
    return status.value.lower()


def _part(label: str, paragraphs: tuple[str, ...], width: int, role: str = "") -> Iterator[Line]:
    for number, paragraph in enumerate(filter(None, paragraphs)):
        if number == 0:
            yield []
        yield from hanging([(f"{'' if number else label:<{_LABEL}}", "label")], paragraph, width, role)


def _next(remedies: tuple[Remedy, ...], width: int) -> Iterator[Line]:
    for number, remedy in enumerate(remedies, 1):
        if number == 1:
            yield []
        text = f"{remedy.text} ({remedy.where})" if remedy.where else remedy.text
        start: Line = [(f"{'Next' if number == 1 else '':<{_LABEL}}", "label"), (f"{number}. ", "")]
        if remedy.is_change:
            yield [*start, ("CHANGE", "change")]
            start = [(" " * (_LABEL + 3), "")]
        yield from hanging(start, text, width)
        for command in remedy.commands:
            yield from command_lines(command, _LABEL + 3 if width >= 60 else 3, width)


def _table(table: Table, width: int) -> Iterator[Line]:
    """The table, in as many blocks of columns as its width asks for; each row starts with its name."""
    grid = [[clean(cell) for cell in row] for row in (table.columns, *table.rows)]
    columns = max(len(row) for row in grid)
    grid = [[*row, *[""] * (columns - len(row))] for row in grid]
    name, *wide = [max(cell_len(row[column]) for row in grid) for column in range(columns)]
    indent = _LABEL if _LABEL + name + sum(w + 2 for w in wide) <= width else 0
    for block in _blocks(wide, width - indent - name):
        for number, row in enumerate(grid):
            cells = "".join("  " + " " * (wide[c] - cell_len(row[c + 1])) + row[c + 1] for c in block)
            start = " " * indent + row[0] + " " * (name - cell_len(row[0]))
            yield [(start, "label"), (cells, "" if number else "label")]
    for text in wrapped(table.legend, width - indent) if table.legend else ():
        yield [(" " * indent + text, "faint")]


def _blocks(wide: list[int], room: int) -> Iterator[list[int]]:
    block: list[int] = []
    used = 0
    for column, cells in enumerate(wide):
        if block and used + cells + 2 > room:
            yield block
            block, used = [], 0
        block.append(column)
        used += cells + 2
    if block:
        yield block
