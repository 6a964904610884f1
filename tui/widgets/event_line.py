"""The newest event in one line, with the key that leads on from it."""

from __future__ import annotations

from datetime import tzinfo

from checks.model.finding import Status
from checks.model.situation import Episode
from checks.report.event_text import headline, pauses
from checks.situation.foremost import needs_run
from tui.text.line import cell_len, cut, sanitize_line
from tui.widgets.units import clock

_LEAST = 12
"""Columns for the time of an event and the start of its words."""
_ROLES = {Status.FAIL: "fail", Status.WARN: "warn", Status.UNKNOWN: "unknown"}


def event_line(episode: Episode, hint: str, zone: tzinfo | None, now: float, width: int) -> tuple[str, str]:
    """Return the text of an event in at most so many columns, with how it stands where it does not simply last, and its
    role. Without enough room the words of the event are cut; how it stands and the hint stay whole."""
    event = episode.event
    text = f"{_time(event.start, zone)} {sanitize_line(headline(event))}"
    standing = sanitize_line(standing_text(episode, zone, now))
    parts = (f", {standing}" if standing else "", f": {hint}" if hint else "")
    end = next(end for end in ("".join(parts), parts[1], "") if cell_len(end) + _LEAST <= width or not end)
    return cut(text, width - cell_len(end)) + end, _ROLES.get(event.status, "")


def standing_text(episode: Episode, zone: tzinfo | None, now: float) -> str:
    """Return how an event stands: `until 20:21:04`; empty where it simply lasts."""
    event = episode.event
    if episode.step:
        return f"planned by the step {episode.step}"
    if episode.is_open:
        return "not known whether it lasts"
    if episode.until is not None:
        return f"until {_time(episode.until, zone)}"
    return f"last {_time(event.last_sign, zone)}" if pauses(event, now) else ""


def _time(at: float, zone: tzinfo | None) -> str:
    return clock(at, zone, has_zone=False)


def hint_for(episode: Episode, *, is_past: bool, is_running: bool, on_checks: bool, can_run: bool) -> str:
    """Return which key looks for the cause of an event, verifies that it is over, or shows it; empty where none is
    due. `is_past`: the screen shows a recording. `can_run`: it has the key that runs the checks."""
    if is_past:
        return "! lists it"
    if not needs_run(episode):
        return "1 shows the cause" if not on_checks and episode.has_finding else ""
    if is_running:
        return ""
    if not can_run:
        return "! lists it"
    return "r looks for the cause" if episode.until is None else "r verifies"
