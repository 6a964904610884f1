"""An action of the journal in words: the command or query on one line, how long it took, when it began."""

from __future__ import annotations

from checks.report.quantities import seconds


def brief(action: str, most: int = 110) -> str:
    """An action on one line: a query or a program of many lines is told by its beginning."""
    line = " ".join(action.split())
    return line if len(line) <= most else f"{line[: most - 2].rpartition(' ')[0] or line[: most - 2]} …"


def is_brief(action: str) -> bool:
    """Whether that line is all of it."""
    return brief(action) == action


def took(duration_ms: float) -> str:
    """`0.7 ms`, `1.3 s`."""
    if not 0 <= duration_ms < 1e15:
        return "?"
    return seconds(duration_ms / 1000) if duration_ms >= 1000 else f"{duration_ms:.3g} ms"


def clock(time: str) -> str:
    """The time of day of an entry, to the millisecond; the day and the zone stand at the top of the page."""
    day, _, rest = time.partition("T")
    return rest[:12] if len(day) == 10 and rest else time
