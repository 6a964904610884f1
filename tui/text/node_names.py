"""Short names of nodes and instances: the ends of the names distinguish them."""

from __future__ import annotations

from collections.abc import Sequence

from tui.text.line import cell_len, fitted


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


def at_right(text: str, width: int) -> str:
    """Return the text aligned right in exactly that many columns; cut where it is longer."""
    return " " * (width - cell_len(text)) + text if cell_len(text) <= width else fitted(text, width)
