"""Text for one journal entry: the command or query on one line, its duration, and its start time."""

from __future__ import annotations

from checks.report.quantities import seconds


def one_line(action: str, most: int = 110) -> str:
    """An action on one line. A query or program of many lines is cut after `most` characters."""
    line = " ".join(action.split())
    return line if len(line) <= most else f"{line[: most - 2].rpartition(' ')[0] or line[: most - 2]} …"


def is_one_line(action: str) -> bool:
    """Whether `one_line` returns the whole action."""
    return one_line(action) == action


def duration_text(duration_ms: float) -> str:
    """A duration such as `0.7 ms` or `1.3 s`."""
    if not 0 <= duration_ms < 1e15:
        return "?"
    return seconds(duration_ms / 1000) if duration_ms >= 1000 else f"{duration_ms:.3g} ms"


def time_of_day(time: str) -> str:
    """The time of day of an entry, to the millisecond. The top of the page has the day and the zone."""
    day, _, rest = time.partition("T")
    return rest[:12] if len(day) == 10 and rest else time
