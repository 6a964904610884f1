"""Times of a report in words, and what is told of a saved state, everywhere in the same words.

What counts is when the cluster was looked at, and not when the file was written.
"""

from __future__ import annotations

from datetime import datetime, timezone, tzinfo

from checks.model.report import Report
from checks.model.wording import lasting

_SKEW_S = 60.0
"""By which clocks may differ before it is worth a word."""


def at(time: str) -> str:
    """A time of the report to read: `2026-11-20 14:02:31 +01:00`; as it is where it is none."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    return f"{moment:%Y-%m-%d %H:%M:%S} {offset(time)}".rstrip()


def offset(time: str) -> str:
    """Of a time its zone, as `+01:00`; empty where it has none, or is none."""
    return "" if zone_of(time) is None else datetime.fromisoformat(time).isoformat()[-6:]


def zone_of(time: str) -> tzinfo | None:
    """The offset of a time as it was written; None where it has none."""
    try:
        offset = datetime.fromisoformat(time).utcoffset()
    except ValueError:
        return None
    return None if offset is None else timezone(offset)


def saved_state(report: Report, now: datetime | None = None, *, kept: bool) -> str:
    """Of when a saved state is, as `state_kept` or `state_now` say it; empty where the report is live."""
    if not report.saved_at:
        return ""
    return state_kept(report, now) if kept else state_now(report, now)


def state_now(report: Report, now: datetime | None = None) -> str:
    """Of when a saved state is, to be read at once: `of 2026-11-20 14:02:31 +01:00, 3 d 2 h ago, saved 2026-11-20
    14:05:00 +01:00`. `now` is a time with a zone; without it, the clock is asked.

    Of a time without a zone, or of what is no time, no age is told."""
    age = _ago(_seconds(report, _clock(now)))
    return f"of {_looked(report, age)}{_saved(report)}"


def state_kept(report: Report, now: datetime | None = None) -> str:
    """The same for a file, in words that stay true: `of 2026-11-20 14:02:31 +01:00, saved 2026-11-20 14:05:00 +01:00;
    this was written 2026-11-23 16:02:31 +01:00, 3 d 2 h after the cluster was looked at`."""
    now = _clock(now)
    seconds = _seconds(report, now)
    after = ""
    if seconds is not None and seconds < -_SKEW_S:
        after = ", before that by the clock there"
    elif seconds is not None and seconds >= _SKEW_S:
        after = f", {lasting(seconds)} after the cluster was looked at"
    return f"of {_looked(report)}{_saved(report)}; this was written {at(now.isoformat(timespec='seconds'))}{after}"


def state_in_brief(report: Report, now: datetime) -> tuple[str, ...]:
    """The same where there is little room, widest first: the time with its zone and the age in two units; `saved
    2026-11-20 14:02, 3 d ago`; only the age, where it can be told."""
    seconds = _seconds(report, now)
    whole = at(report.started_at)
    time, zone = (whole[:16], whole[19:]) if whole != report.started_at else (whole, "")
    age = _ago(seconds)
    rough = f", {' '.join(lasting(seconds).split()[:2])} ago" if seconds is not None and seconds >= _SKEW_S else age
    return f"saved state of {time}{zone}{age}", f"saved {time}{rough}", f"saved{rough}"


def _looked(report: Report, age: str = "") -> str:
    """When the cluster was looked at, and when in part once more."""
    again = f", in part of {at(report.reruns[-1].started_at)}" if report.reruns else ""
    return f"{at(report.started_at)}{age}{again}"


def _saved(report: Report) -> str:
    return f", saved {at(report.saved_at)}" if report.saved_at not in ("", report.started_at) else ""


def _clock(now: datetime | None) -> datetime:
    return now or datetime.now().astimezone()


def _seconds(report: Report, now: datetime) -> float | None:
    """Since the cluster was looked at; None where the times do not tell."""
    try:
        return (now - datetime.fromisoformat(report.started_at)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None


def _ago(seconds: float | None) -> str:
    """After a comma; nothing where it is not known."""
    if seconds is None:
        return ""
    if seconds < _SKEW_S:
        return ", just now" if seconds >= -_SKEW_S else ", later than it is by this clock"
    return f", {lasting(seconds)} ago"
