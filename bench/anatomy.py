"""Classify the bytes to a terminal by kind and by row, to find the cause when there are too many."""

from __future__ import annotations

import re
from collections import Counter

_PARTS = re.compile(
    rb"\x1b\[(?P<row>\d+);\d+H|(?P<colour>\x1b\[[\d;:]*m)|(?P<other>\x1b\[[0-?]*[ -/]*[@-~])|(?P<text>[^\x1b]+)"
)
_ROWS_LISTED = 6


def anatomy(raw: bytes, seconds: float) -> str:
    """Return the bytes a second by kind, and the rows with the most bytes, counted from the top."""
    kinds: Counter[str] = Counter()
    rows: Counter[int] = Counter()
    moves, row = 0, 0
    for part in _PARTS.finditer(raw):
        size = part.end() - part.start()
        if part["row"]:
            row, moves = int(part["row"]), moves + 1
        kinds[part.lastgroup or ""] += size
        rows[row] += size
    most = ", ".join(f"{at}: {count / seconds:.0f}" for at, count in rows.most_common(_ROWS_LISTED))
    return (
        f"of these text {kinds['text'] / seconds:.0f}, colours {kinds['colour'] / seconds:.0f}, "
        f"{moves / seconds:.0f} moves of the cursor {kinds['row'] / seconds:.0f}, else {kinds['other'] / seconds:.0f}; "
        f"most by row {most}"
    )
