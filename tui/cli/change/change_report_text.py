"""The report of a change as text, to read or to mail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.board.board_page import (
    Block,
    DoneStep,
    DoneSteps,
    Facts,
    Figures,
    Paragraph,
    Point,
    Points,
    Signatures,
    ToCopy,
    page_of,
)
from checks.change.board.change_report import ChangeReport
from tui.text.line import Line, cell_len, command_lines, hanging, sanitize_line

_ROLES = {"danger": "fail", "warn": "change"}
"""The role of a point, by its tone."""


def report_lines(report: ChangeReport, width: int) -> Iterator[Line]:
    """The lines of the whole report, wrapped at `width` except for tables."""
    page = page_of(report)
    yield from hanging([("# ", "title")], page.title, width, "title")
    for section in page.sections:
        yield []
        yield [(f"## {section.title}", "title")]
        for block in section.blocks:
            yield []
            yield from _lines(block, width)


def _lines(block: Block, width: int) -> Iterator[Line]:
    match block:
        case Facts(rows=rows):
            room = max(len(label) for label, _ in rows) + 1
            for label, text in rows:
                yield from hanging([(f"- {label + ':':<{room}} ", "")], text, width)
        case Points(points=points, is_numbered=is_numbered):
            for number, point in enumerate(points, 1):
                yield from _point(f"{number:>3}. " if is_numbered else "- ", point, width)
        case Figures(columns=columns, rows=rows):
            yield from _table(columns, rows)
        case Paragraph(text=text):
            yield from hanging([], text, width)
        case ToCopy(lines=lines):
            for line in lines:
                yield from command_lines(line, 4, width)
        case DoneSteps(steps=steps):
            for step in steps:
                yield from _step(step, width)
        case Signatures(roles=roles):
            room = max(map(len, roles))
            for number, role in enumerate(roles):
                if number:
                    yield []
                yield [(f"{role:<{room}}  name {'_' * 16}  date {'_' * 10}  signature {'_' * 16}", "")]


def _point(start: str, point: Point, width: int) -> Iterator[Line]:
    role = _ROLES.get(point.tone, "")
    yield from hanging([(start, "")], point.text, width, role)
    for text in point.below:
        yield from hanging([("    - ", "")], text, width)


def _step(step: DoneStep, width: int) -> Iterator[Line]:
    yield [(f"- {step.sign} {step.number}. {sanitize_line(step.title)} ({step.standing})", "title")]
    for text in step.who:
        yield from hanging([("    - ", "")], text, width)
    for text in step.seen:
        yield from hanging([("        - ", "")], text, width)


def _table(head: tuple[str, str, str], rows: Sequence[tuple[str, str, str]]) -> Iterator[Line]:
    grid = [tuple(sanitize_line(cell).replace("|", "/") for cell in row) for row in (head, *rows)]
    wide = [max(cell_len(row[column]) for row in grid) for column in range(3)]
    for number, row in enumerate(grid):
        yield [(f"| {row[0]:<{wide[0]}} | {row[1]:>{wide[1]}} | {row[2]:>{wide[2]}} |", "")]
        if not number:
            yield [(f"|{'-' * (wide[0] + 2)}|{'-' * (wide[1] + 1)}:|{'-' * (wide[2] + 1)}:|", "")]
