"""Names where there is little room: a row of nodes or instances is told apart by what their names end in."""

from __future__ import annotations

from collections.abc import Sequence

from tui.text.line import cell_len, fitted


def short_names(names: Sequence[str]) -> list[str]:
    """What is left of each name without what all begin with: `1`, `2`, `10` of rac1, rac2, rac10.

    They stay as they are where nothing would be left of one, or there is but one.
    """
    if len(names) < 2:
        return list(names)
    lowest, highest = min(names), max(names)
    alike = next((at for at, (a, b) in enumerate(zip(lowest, highest, strict=False)) if a != b), len(lowest))
    start = len(lowest[:alike].rstrip("0123456789"))
    short = [name[start:] for name in names]
    return short if all(short) else list(names)


def headings(names: Sequence[str], room: int) -> tuple[list[str], bool]:
    """The names for columns of that many cells: whole, else short, else their numbers; and whether it is numbers,
    which the rows then have to carry too."""
    for texts in (list(names), short_names(names)):
        if all(cell_len(text) <= room for text in texts):
            return texts, False
    return [str(number) for number in range(1, len(names) + 1)], True


def at_right(text: str, width: int) -> str:
    """The text in exactly that many columns, at their right end; cut where it is longer."""
    return " " * (width - cell_len(text)) + text if cell_len(text) <= width else fitted(text, width)
