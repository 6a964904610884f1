"""A finding as lines: what was seen, what was expected, why it matters, what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from checks.model.finding import Finding, NextStep, Status, Table
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.causes import ReportEntry, cause_entries, causes_of
from checks.report.folding import Alike
from checks.rules.waivers import ended_text, lifted_for, waived_text
from tui.text.line import LINK, Line, Span, cell_len, command_lines, flowing, hanging, sanitize_line
from tui.text.sanitize import sanitize_lines


class FindingLayout(NamedTuple):
    """The layout of a finding."""

    margin: int
    """Columns before the parts."""
    label: int
    """Columns of the labels of the parts."""
    is_pane: bool
    """In a pane everything is folded into the width, with empty lines between the parts. In a text for a stream, tables
    and commands stay whole, so that they can be copied and piped."""
    flows: bool = False
    """Whether the text of a part goes on below its label, as in a narrow pane, and not next to it."""


PANE = FindingLayout(margin=0, label=9, is_pane=True)
NARROW = FindingLayout(margin=0, label=0, is_pane=True, flows=True)
STREAM = FindingLayout(margin=2, label=10, is_pane=False)

_NUMBER = 3
"""Columns of `1. `."""
_ROOM_FOR_LABELS = 50
"""Columns from which a pane has a column for its labels."""
_LEAST_NAME, _LEAST_CELL = 10, 9
"""Columns of a table that is not folded: equal in all findings of a report."""


def pane_layout(width: int) -> FindingLayout:
    """Return the layout of a pane of that width."""
    return PANE if width >= _ROOM_FOR_LABELS else NARROW


def role_of(status: Status) -> str:
    """Return the role of a status."""
    return status.value.lower()


def status_word(status: Status) -> Span:
    """Return the status as the first word of a line."""
    return f"{status:<8}", role_of(status)


def finding_head(finding: Finding, found_by: Sequence[str] = ()) -> Line:
    """Return status, code and check on a line: the head of a finding in a text for a stream. `found_by` are the checks
    to name, where they are several."""
    checks = sanitize_line(", ".join(found_by) or finding.check)
    return [status_word(finding.status), (f"{sanitize_line(finding.code)}  {checks}", "title")]


def finding_lines(
    alike: Alike,
    report: Report,
    width: int,
    note: str = "",
    layout: FindingLayout | None = None,
    *,
    is_whole: bool = False,
    steps: Sequence[NextStep] | None = None,
) -> Iterator[Line]:
    """Yield a finding in lines of that width, with the others that are UNKNOWN for the same reason; `note` is a remark
    below its sentence, such as that the finding is gone. Without a layout it is that of a pane. `is_whole`: with all
    columns of its table; `steps`: other next steps than its own."""
    finding, steps = alike.finding, alike.next if steps is None else steps
    layout = layout or pane_layout(width)
    title = hanging(_margin(layout), alike.title, width, "title")
    if layout.is_pane:
        yield from title
        yield [(finding.status, role_of(finding.status)), (f"  {sanitize_line(finding.code)}", "")]
    else:
        yield finding_head(finding, alike.found_by)
        yield from title
    if note:
        yield from hanging(_margin(layout), note, width, "accent")
    if finding.waived:
        yield from part_lines("Waived", (waived_text(finding.waived),), width, layout, "accent")
    elif ended := lifted_for(finding, report.waivers):
        yield from part_lines("Waiver", (ended_text(ended),), width, layout, "warn")
    if layout.is_pane:  # the first step is in sight also where much was seen
        yield from remedy_lines("Next", steps[:1], width, layout)
    yield from part_lines("Seen", finding.seen, width, layout)
    names = ", ".join(f"{other.check} ({other.code})" for other in alike.likewise)
    yield from part_lines("Likewise", (f"unknown for {names}",) if names else (), width, layout)
    if finding.table:
        yield from value_table(finding.table, width, layout, is_whole=is_whole)
    if layout.is_pane:
        links = links_of(finding, report)
        yield from link_lines("Cause", (entry.standing for entry in links.causes), width, layout)
    else:
        yield from part_lines("Cause", ("; ".join(causes_of(finding, report)),), width, layout)
    yield from part_lines("Expected", finding.expected, width, layout)
    if layout.is_pane:
        yield from remedy_lines("Then", steps[1:], width, layout, first=2)
    else:
        yield from remedy_lines("Next", steps, width, layout)
    yield from part_lines("Why", (finding.why,), width, layout)
    if layout.is_pane:
        yield from link_lines("Joined", (f"{f.check}: {f.title}" for f in links.joined), width, layout)
    else:
        joined = dict.fromkeys(f"{f.check} ({f.code})" for f in report.joined_with(finding) if f.code != finding.code)
        yield from part_lines("Joined", (f"with {', '.join(joined)}",) if joined else (), width, layout)
    sources = finding.sources if layout.is_pane else ("; ".join(finding.sources),)
    yield from part_lines("Sources", sources, width, layout, "faint")


class FindingLinks(NamedTuple):
    """What belongs to a finding, and can be opened from its page."""

    causes: tuple[ReportEntry, ...]
    """The causes that were found and that it belongs to."""
    joined: tuple[Finding, ...]
    """The other problems of the same cause; without a cause, those without one on the same network or nodes."""


def links_of(finding: Finding, report: Report) -> FindingLinks:
    """Return what belongs to a finding; nothing for an event that is worded as one."""
    if not finding.code:
        return FindingLinks((), ())
    entries = cause_entries(report)
    own = [entry for entry in entries if any(f is finding for f in entry.all_findings)]
    if own:
        others = {id(f): f for entry in own for f in entry.all_findings if f is not finding}
        return FindingLinks(tuple(own), tuple(others.values()))
    explained = {id(f) for entry in entries for f in entry.all_findings}
    return FindingLinks((), tuple(f for f in report.joined_with(finding) if id(f) not in explained))


def link_lines(label: str, texts: Iterable[str], width: int, layout: FindingLayout) -> Iterator[Line]:
    """Yield a part of a pane whose paragraphs can be opened."""
    for number, text in enumerate(texts):
        if number == 0:
            yield []
        yield from beside([_label("" if number else label, layout), ("→ ", LINK)], text, width, layout)


def _margin(layout: FindingLayout) -> Line:
    return [(" " * layout.margin, "")] if layout.margin else []


def part_lines(
    label: str, paragraphs: Iterable[str], width: int, layout: FindingLayout, role: str = ""
) -> Iterator[Line]:
    """Yield the paragraphs of a part, after its label; nothing where there are none."""
    for number, paragraph in enumerate(filter(None, paragraphs)):
        if number == 0 and layout.is_pane:
            yield []
        yield from beside([_label("" if number else label, layout)], paragraph, width, layout, role)


def beside(start: Line, text: str, width: int, layout: FindingLayout, role: str = "") -> Iterator[Line]:
    """Yield a paragraph next to its label; where the layout flows, it goes on below the label."""
    yield from flowing(start, text, width, role) if layout.flows else hanging(start, text, width, role)


def _label(label: str, layout: FindingLayout) -> Span:
    if layout.flows:
        return f"{label} " if label else "  ", "label"
    return " " * layout.margin + f"{label:<{layout.label}}", "label"


def remedy_lines(
    label: str, remedies: Sequence[NextStep], width: int, layout: FindingLayout, first: int = 1
) -> Iterator[Line]:
    """Yield the next steps, numbered from `first`, each with its commands; a step that changes something is marked
    CHANGE."""
    indent = layout.margin + layout.label + _NUMBER
    for number, remedy in enumerate(remedies, first):
        if number == first and layout.is_pane:
            yield []
        start: list[Span] = [_label(label if number == first else "", layout), (f"{number}. ", "")]
        if remedy.is_change and (layout.flows or not layout.is_pane):
            start.append(("CHANGE ", "change"))
        elif remedy.is_change:
            yield [*start, ("CHANGE", "change")]
            start = [(" " * indent, "")]
        text = f"{remedy.advice} ({remedy.where})" if remedy.where else remedy.advice
        yield from flowing(start, text, width) if layout.flows else hanging(start, text, width, indent=indent)
        for command in remedy.commands:
            if layout.is_pane:
                yield from command_lines(command, indent if width >= 60 else _NUMBER, width)
            else:
                yield from ([(" " * (indent + 2) + sanitize_lines(line), "command")] for line in command.split("\n"))


def value_table(table: Table, width: int, layout: FindingLayout, *, is_whole: bool = True) -> Iterator[Line]:
    """Yield the table. In a pane that is too narrow for it, it is split into blocks of whole columns, each with the
    names of the rows; unless `is_whole`, there is one block with the columns that tell most."""
    grid = [[sanitize_line(cell) for cell in row] for row in (table.columns, *table.rows)]
    columns = max(len(row) for row in grid)
    if not columns:
        return
    if layout.is_pane:
        yield []
    grid = [[*row, *[""] * (columns - len(row))] for row in grid]
    name, *cells = [max(cell_len(row[column]) for row in grid) for column in range(columns)]
    wide = [cell + 2 if layout.is_pane else max(cell + 2, _LEAST_CELL) for cell in cells]
    indent = layout.margin + layout.label
    blocks = [list(range(len(wide)))]
    label = ""
    if layout.is_pane:
        indent = indent if indent + name + sum(wide) <= width else 0
        blocks = list(_blocks(wide, width - indent - name))
        if not is_whole and len(blocks) > 1:
            blocks = [_telling(grid, wide, width - indent - name)]
        label = "label"
    else:
        name = max(name, _LEAST_NAME)
    for block in blocks:
        for number, row in enumerate(grid):
            text = "".join(" " * (wide[c] - cell_len(row[c + 1])) + row[c + 1] for c in block)
            start = " " * indent + row[0] + " " * (name - cell_len(row[0]))
            yield [(start, label), (text, "" if number else label)]
    if left := len(wide) - sum(map(len, blocks)):
        yield [(" " * indent, ""), (f"Enter: {counted(left, 'more column')}", "faint")]
    if table.legend:
        yield from hanging([(" " * indent, "faint")] if indent else [], table.legend, width, "faint")


def _telling(grid: Sequence[Sequence[str]], wide: Sequence[int], room: int) -> list[int]:
    """Return the numbers of the columns with the rarest contents that fit, in their order, at least one. A column
    without a heading goes with the one before it."""
    head, *rows = grid
    common = Counter(cell for row in rows for cell in row[1:])
    groups: list[list[int]] = []
    for column in range(len(wide)):
        if head[column + 1] or not groups:
            groups.append([])
        groups[-1].append(column)
    weight = {group[0]: sum(1 / common[row[c + 1]] for row in rows for c in group) / len(group) for group in groups}
    chosen: list[int] = []
    for group in sorted(groups, key=lambda group: -weight[group[0]]):
        if not chosen or sum(wide[c] for c in (*chosen, *group)) <= room:
            chosen += group
    return sorted(chosen)


def _blocks(wide: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield the numbers of the columns of each block: as many as fit, at least one."""
    block: list[int] = []
    used = 0
    for column, cells in enumerate(wide):
        if block and used + cells > room:
            yield block
            block, used = [], 0
        block.append(column)
        used += cells
    yield block
