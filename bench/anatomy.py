"""What the bytes to a terminal consist of, and where on the screen they go: what to look at when they are too many."""

from __future__ import annotations

import re
from collections import Counter

_PARTS = re.compile(
    rb"\x1b\[(?P<row>\d+);\d+H|(?P<colour>\x1b\[[\d;:]*m)|(?P<other>\x1b\[[0-?]*[ -/]*[@-~])|(?P<text>[^\x1b]+)"
)
_ROWS_TOLD = 6


def anatomy(raw: bytes, seconds: float) -> str:
    """Bytes a second by kind, and the rows that take most, counted from the top."""
    kinds: Counter[str] = Counter()
    rows: Counter[int] = Counter()
    moves, row = 0, 0
    for part in _PARTS.finditer(raw):
        size = part.end() - part.start()
        if part["row"]:
            row, moves = int(part["row"]), moves + 1
        kinds[part.lastgroup or ""] += size
        rows[row] += size
    most = ", ".join(f"{at}: {count / seconds:.0f}" for at, count in rows.most_common(_ROWS_TOLD))
    return (
        f"of these text {kinds['text'] / seconds:.0f}, colours {kinds['colour'] / seconds:.0f}, "
        f"{moves / seconds:.0f} moves of the cursor {kinds['row'] / seconds:.0f}, else {kinds['other'] / seconds:.0f}; "
        f"most by row {most}"
    )
