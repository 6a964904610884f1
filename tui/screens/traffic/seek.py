"""The moment that an operator types: a time of day, a date with a time, or a span from the displayed moment."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo

from textual.widgets import Input

_TIME = re.compile(r"(?:(\d{4})-(\d{1,2})-(\d{1,2})[ T])?(\d{1,2}):(\d{2})(?::(\d{2}))?")
_SPAN = re.compile(r"([+-])\s*(\d{1,6})\s*(s|m|min|h|d)?")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
EXAMPLES = "14:02, 14:02:31, 2026-11-20 14:02, -10m or +30s"


def moment_of(text: str, now: float, span: tuple[float, float], zone: tzinfo | None) -> float | None:
    """Return the moment of a text, as seconds since 1970; None where it is none.

    A time of day means the day on which it lies within the track, or next to the displayed moment `now`."""
    text = " ".join(text.split())
    if found := _SPAN.fullmatch(text):
        return now + int(f"{found[1]}{found[2]}") * _SECONDS[found[3] or "s"]
    if not (found := _TIME.fullmatch(text)):
        return None
    year, month, day, hour, minute, second = (int(part) if part else 0 for part in found.groups())
    try:
        start = datetime(year, month, day, tzinfo=zone) if year else datetime.fromtimestamp(now, zone)
        there = start.replace(hour=hour, minute=minute, second=second, microsecond=0)
        days = [there] if year else [there + timedelta(days=by) for by in (-1, 0, 1)]
        moments = [each.timestamp() for each in days]
    except (ValueError, OverflowError, OSError):
        return None
    first, last = span
    return min(moments, key=lambda at: (not first - 60 <= at <= last + 60, abs(at - now)))


class SeekInput(Input):
    """The input line of the moment. Enter leaves it at once, because the next key may have arrived already."""

    def __init__(self, leave: Callable[[str], None]) -> None:
        super().__init__(id="moment", placeholder=EXAMPLES, compact=True)
        self.cursor_blink = False
        self._leave = leave

    async def action_submit(self) -> None:
        """Go to the moment."""
        self._leave(self.value)
