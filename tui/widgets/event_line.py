"""The newest event in one line, with the key that leads on from it."""

from __future__ import annotations

from datetime import tzinfo

from checks.model.finding import Status
from checks.model.situation import Episode
from checks.report.event_text import headline, lasting_text, pauses
from tui.text.line import cell_len, fitted, sanitize_line
from tui.widgets.units import clock

_LEAST = 12
"""Columns for the time of an event and the start of its words."""
_ROLES = {Status.FAIL: "fail", Status.WARN: "warn", Status.UNKNOWN: "unknown"}


def event_line(episode: Episode, hint: str, zone: tzinfo | None, now: float, width: int) -> tuple[str, str]:
    """Return the text of an event in at most so many columns, and its role. Without enough room the words of the event
    are cut, and the hint stays whole."""
    event = episode.event
    text = f"{clock(event.start, zone, has_zone=False)} {sanitize_line(headline(event))}"
    if episode.lasts and pauses(event, now):
        text += f", {lasting_text(event, now, lambda at: clock(at, zone, has_zone=False))}"
    end = f": {hint}" if hint and cell_len(hint) + 2 + _LEAST <= width else ""
    text = fitted(text, min(cell_len(text), max(width - cell_len(end), 1)))
    return text + end, _ROLES.get(event.status, "")
