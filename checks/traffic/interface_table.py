"""Parses the table of /proc/net/dev, and computes the counts of each interface between two tables. Raises nothing.

racwire reads the table every second, also on machines with a hundred interfaces. So the table is held as columns of
text and compared by column: most columns (errors, drops) are equal in both tables and need no conversion to numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import starmap
from operator import sub

from checks.sources.nodes.system_difference import grown_by
from checks.traffic.samples import InterfaceCounts

_HEADLINE = " face |"
_FIGURES = 16
"""The number of columns in the kernel's table, eight for each direction."""
_COUNTED = (*range(6), *range(7, 15))
"""The columns of InterfaceCounts, in its order: all except compressed packets, received and sent."""
_BYTES_AND_PACKETS = ((0, 1), (7, 8))
"""The indexes of bytes and packets in `_COUNTED`, received and sent."""
_FIGURE = re.compile(r"[0-9]{1,20}", re.ASCII)
_LONGEST_LINE = 16 + _FIGURES * 21
"""The length of a name and figures of 64 bits."""
_LARGEST = 2**64

Row = tuple[int, ...]
"""The figures of one interface in the order of InterfaceCounts, or their growth."""


@dataclass(frozen=True, slots=True)
class InterfaceTable:
    """The figures of all interfaces at one moment."""

    names: Sequence[str] = ()
    columns: Sequence[Sequence[str]] = ((),) * len(_COUNTED)
    """The columns in the order of InterfaceCounts; each has the text of a figure for each name."""
    not_understood: tuple[str, ...] = ()
    """Interfaces whose line does not have sixteen figures."""

    @property
    def all_names(self) -> set[str]:
        """Every interface that has a line; empty where the text was not such a table."""
        return {*self.names, *self.not_understood}


def parse_table(text: str) -> InterfaceTable:
    """Return the table below the heading line; an empty table for any other text."""
    lines = text.partition(_HEADLINE)[2].splitlines()[1:]
    # Old kernels leave no blank behind the colon. With blanks around it all lines have eighteen words.
    words = "\n".join(lines).replace(":", " : ").split()
    names, colons = words[:: _FIGURES + 2], words[1 :: _FIGURES + 2]
    del words[:: _FIGURES + 2]
    del words[:: _FIGURES + 1]
    are_whole = len(words) == _FIGURES * len(names) and colons == [":"] * len(names)
    digits = "".join(words)
    if are_whole and digits.isdecimal() and digits.isascii() and max(map(len, lines)) <= _LONGEST_LINE:
        return InterfaceTable(names, _columns(words))
    return _parse_each(lines)


def _parse_each(lines: Iterable[str]) -> InterfaceTable:
    """Parse a table with irregular lines, line by line."""
    names: list[str] = []
    words: list[str] = []
    not_understood: list[str] = []
    for name, colon, figures in (line.partition(":") for line in lines):
        row = figures.split()
        if len(row) == _FIGURES and all(map(_FIGURE.fullmatch, row)):
            names.append(name.strip())
            words += row
        elif colon and name:
            not_understood.append(name.strip())
    return InterfaceTable(names, _columns(words), tuple(not_understood))


def _columns(words: list[str]) -> list[list[str]]:
    return [words[place::_FIGURES] for place in _COUNTED]


def counted_between(before: InterfaceTable, after: InterfaceTable) -> tuple[dict[str, InterfaceCounts], list[str]]:
    """Return the counts of each interface between two tables, and the names of the interfaces without counts: those
    that appeared, disappeared, were reset or could not be parsed."""
    left_out = [*before.not_understood, *after.not_understood]
    if before.names != after.names:
        left_out += sorted(set(before.names) ^ set(after.names))
        before, after = _of_both(before, after)
    same = (0,) * len(after.names)
    grown = [
        same if old == new else tuple(map(sub, map(int, new), map(int, old)))
        for old, new in zip(before.columns, after.columns, strict=True)
    ]
    counts = dict(zip(after.names, starmap(InterfaceCounts, zip(*grown, strict=True)), strict=True))
    if any(min(column) < 0 or max(column) >= _LARGEST for column in grown if column is not same):
        for place, name in enumerate(after.names):
            row = _ran_over(_row(before, place), _row(after, place))
            if row is not None:
                counts[name] = InterfaceCounts(*row)
            elif counts.pop(name, None):
                left_out.append(name)
    return counts, list(dict.fromkeys(left_out))


def _of_both(before: InterfaceTable, after: InterfaceTable) -> tuple[InterfaceTable, InterfaceTable]:
    """The two tables with only the interfaces that are in both, in the order of the second table."""
    old, new = ({name: place for place, name in enumerate(table.names)} for table in (before, after))
    names = [name for name in new if name in old]
    return _picked(before, names, old), _picked(after, names, new)


def _picked(table: InterfaceTable, names: list[str], places: dict[str, int]) -> InterfaceTable:
    kept = [places[name] for name in names]
    return InterfaceTable(names, [[column[place] for place in kept] for column in table.columns])


def _row(table: InterfaceTable, place: int) -> Row:
    return tuple(int(column[place]) for column in table.columns)


def _ran_over(old: Row, new: Row) -> Row | None:
    """The growth of an interface's figures, including figures that overflowed 32 bits. None where the interface was
    created again: its bytes and its packets fell together, or a figure fell without such an overflow.

    With a driver that counts in 32 bits, the byte counter overflows hundreds of times per overflow of the packets.
    """
    if any(new[bytes_] < old[bytes_] and new[packets] < old[packets] for bytes_, packets in _BYTES_AND_PACKETS):
        return None
    row = tuple(grown for grown in map(grown_by, old, new) if grown is not None and grown < _LARGEST)
    return row if len(row) == len(new) else None
