"""What the load asks of the interconnect as lines, for the Database screen and the text report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.model.finding import Table
from checks.report.load_section import LoadSection
from tui.text.finding_lines import FindingLayout, value_table
from tui.text.line import Line, fitted, hanging, width_of


def load_lines(section: LoadSection, width: int, margin: int = 0) -> Iterator[Line]:
    """Yield the section without its title: the sentences, the tables, and the formulas with their values."""
    start: Line = [(" " * margin, "")] if margin else []
    texts = (section.headline, section.kind, *section.notes)
    for text in texts:
        if text:
            yield from hanging([*start], text, width, "" if section.is_known else "unknown" if text is texts[0] else "")
    yield from titled_tables(section.tables, width, margin)
    if section.how:
        yield []
    for text in section.how:
        yield from hanging([*start], text, width, "faint", indent=margin + 2)


def titled_tables(tables: Iterable[tuple[str, Table]], width: int, margin: int = 0) -> Iterator[Line]:
    """Yield each table below its title and an empty line."""
    start: Line = [(" " * margin, "")] if margin else []
    for title, table in tables:
        yield []
        yield from hanging([*start], title, width, "label")
        lines = list(value_table(table, width - margin, FindingLayout(margin, 0, is_pane=True)))
        for line in lines[1:]:  # without the empty line before a table in a pane
            is_wide = width_of(line) > width
            yield [(fitted("".join(text for text, _ in line), width), line[-1][1])] if is_wide else line
