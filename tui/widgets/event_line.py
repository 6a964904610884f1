"""The newest event in one line, with the key that leads on from it."""

from __future__ import annotations

from datetime import tzinfo

from checks.events.cluster_event import ClusterEvent
from checks.events.event_text import headline
from checks.model.finding import Status
from tui.text.line import cell_len, fitted, sanitize_line
from tui.widgets.units import clock

_ROLES = {Status.FAIL: "fail", Status.WARN: "warn", Status.UNKNOWN: "unknown"}
_MARGIN = 4


def event_line(event: ClusterEvent, hint: str, zone: tzinfo | None, width: int) -> tuple[str, str]:
    """Return the text of an event and its role. Without enough room for both, the words of the event are cut, and the
    hint stays whole."""
    text = f"{clock(event.start, zone, has_zone=False)} {sanitize_line(headline(event))}"
    room = width - _MARGIN - cell_len(hint) - 2
    if hint:
        text = f"{fitted(text, min(cell_len(text), max(room, 1)))}: {hint}"
    return text, _ROLES.get(event.status, "")
