"""What a parser finds in one block, and tables whose columns a ruler of dashes shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from checks.investigate.outputs.pasted_text import PasteBlock
from checks.model.pasted import PastedFacts, PastedOutput


class FoundPart(PastedFacts, frozen=True, kw_only=True):
    """One output in a block. The device is that of the block."""

    output: PastedOutput
    lines: frozenset[int] = frozenset()
    """The lines that belong to it, by their place in the block."""
    is_cut: bool = False


OutputParser = Callable[[PasteBlock], Iterator[FoundPart]]


class RuledRow(NamedTuple):
    """A row of a table: its line in the block, and its cells by the name of their column, in lower case."""

    at: int
    cells: dict[str, str]


class RuledTable(NamedTuple):
    """A table with a ruler of dashes under its header (tabulate, as SONiC and Cumulus print)."""

    header: tuple[str, ...]
    """In lower case."""
    rows: tuple[RuledRow, ...]
    lines: frozenset[int]


_RULER = re.compile(r"\s*-{2,}(?:\s+-+)+\s*")
_DASHES = re.compile("-+")


def ruled_tables(lines: Sequence[str]) -> Iterator[RuledTable]:
    """Yield the tables of a block. A table ends at a line that does not fit its columns."""
    for at, line in enumerate(lines):
        if at and _RULER.fullmatch(line) and not _RULER.fullmatch(lines[at - 1]):
            spans = [found.span() for found in _DASHES.finditer(line)]
            header = tuple(cell.casefold() for cell in _cells(lines[at - 1], spans) or ())
            if header and any(header):
                rows = tuple(_rows(lines, at + 1, spans, header))
                yield RuledTable(header, rows, frozenset((at - 1, at, *(row.at for row in rows))))


def _rows(
    lines: Sequence[str], first: int, spans: Sequence[tuple[int, int]], header: Sequence[str]
) -> Iterator[RuledRow]:
    for at in range(first, len(lines)):
        cells = _cells(lines[at], spans)
        if cells is None or not any(cells):
            return
        yield RuledRow(at, dict(zip(header, cells, strict=True)))


def _cells(line: str, spans: Sequence[tuple[int, int]]) -> list[str] | None:
    """The cells of a line; None where it has text between the columns. The last column has no end."""
    for (_, end), (begin, _) in pairwise(spans):
        if line[end:begin].strip():
            return None
    if line[: spans[0][0]].strip():
        return None
    return [line[begin : None if at + 1 == len(spans) else end].strip() for at, (begin, end) in enumerate(spans)]
