"""The report of a change as Markdown, for a ticket or a wiki. Text of unknown origin is escaped."""

from __future__ import annotations

from collections.abc import Iterator

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
from checks.model.finding import Table
from checks.report.markdown import fence, inline, table

_CELL = 200
"""Most characters of a cell."""


def to_markdown(report: ChangeReport) -> bytes:
    """Return the whole report in UTF-8, with a final newline."""
    page = page_of(report)
    lines = [f"# {inline(page.title)}"]
    for section in page.sections:
        lines += ["", f"## {inline(section.title)}"]
        for block in section.blocks:
            lines += ["", *_written(block)]
    return ("\n".join(lines) + "\n").encode()


def _written(block: Block) -> Iterator[str]:
    match block:
        case Facts(rows=rows):
            yield from (f"- **{inline(label)}:** {inline(text)}" for label, text in rows)
        case Points(points=points, is_numbered=is_numbered):
            for number, point in enumerate(points, 1):
                yield from _point(f"{number}. " if is_numbered else "- ", point)
        case Figures(columns=columns, rows=rows):
            head, _, *rest = table(Table(columns, rows), _CELL)
            yield from (head, "| --- | ---: | ---: |", *rest)
        case Paragraph(text=text):
            yield inline(text)
        case ToCopy(lines=lines):
            yield from fence("\n".join(lines))
        case DoneSteps(steps=steps):
            for step in steps:
                yield from _step(step)
        case Signatures(roles=roles):
            signed = tuple((role, "", "", "") for role in roles)
            yield from table(Table(("", "Name", "Date and time", "Signature"), signed), _CELL)


def _point(start: str, point: Point) -> Iterator[str]:
    text = inline(point.text)
    yield f"{start}**{text}**" if point.tone == "danger" else f"{start}{text}"
    yield from (f"{' ' * len(start)}- {inline(below)}" for below in point.below)


def _step(step: DoneStep) -> Iterator[str]:
    start = f"{step.number}. "
    yield f"{start}{step.sign} **{inline(step.title)}** ({inline(step.standing)})"
    yield from (f"{' ' * len(start)}- {inline(text)}" for text in (*step.who, *step.seen))
