"""Short names of nodes and instances: the ends of the names distinguish them."""

from __future__ import annotations

from collections.abc import Sequence

from tui.text.line import cell_len, clipped, fitted


def short_names(names: Sequence[str]) -> list[str]:
    """Return each name without the common prefix: `1`, `2`, `10` of rac1, rac2, rac10.

    The names stay as they are where one would become empty, or where there is only one name.
    """
    if len(names) < 2:
        return list(names)
    lowest, highest = min(names), max(names)
    alike = next((at for at, (a, b) in enumerate(zip(lowest, highest, strict=False)) if a != b), len(lowest))
    start = len(lowest[:alike].rstrip("0123456789"))
    short = [name[start:] for name in names]
    return short if all(short) else list(names)


def headings(names: Sequence[str], room: int) -> tuple[list[str], bool]:
    """Return headings for columns of `room` cells: the names, otherwise short names, otherwise numbers; and whether
    they are numbers, which the rows then need too."""
    for texts in (list(names), short_names(names)):
        if all(cell_len(text) <= room for text in texts):
            return texts, False
    return [str(number) for number in range(1, len(names) + 1)], True


def fitted_names(names: Sequence[str], width: int) -> list[str]:
    """Return the names in at most that many columns, cut so that they still differ: `dbadm01…` and `dbadm02…`, else
    `…m01vm03` and `…m01vm04`."""
    if all(cell_len(name) <= width for name in names):
        return list(names)
    starts = [clipped(name, min(width, cell_len(name))) for name in names]
    ends = [_end(name, width) for name in names]
    return max((starts, ends), key=lambda cut: len(set(cut)))


def _end(name: str, width: int) -> str:
    if cell_len(name) <= width:
        return name
    end = name[-max(width - 1, 0) :] if width > 1 else ""
    while cell_len(end) > width - 1 and end:
        end = end[1:]
    return f"…{end}" if width > 0 else ""


def at_right(text: str, width: int) -> str:
    """Return the text aligned right in exactly that many columns; cut where it is longer."""
    return " " * (width - cell_len(text)) + text if cell_len(text) <= width else fitted(text, width)
