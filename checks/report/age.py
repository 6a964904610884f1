"""Text for the times of a report and for the age of a saved state, the same in every format.

The age is counted from the moment of the situation; without one, from the time at which the cluster was checked, and
not from the time at which the file was written.
"""

from __future__ import annotations

from datetime import datetime, timezone, tzinfo

from checks.model.report import Report
from checks.model.wording import lasting

_SKEW_S = 60.0
"""Seconds by which two clocks may differ before a text mentions it."""


def time_text(time: str) -> str:
    """A readable form of a report's time: `2026-11-20 14:02:31 +01:00`. Text that is no time is returned unchanged."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    return f"{moment:%Y-%m-%d %H:%M:%S} {offset(time)}".rstrip()


def moment_text(report: Report) -> str:
    """The moment of the situation of a report, in the form of `time_text`; empty where it has none."""
    if report.situation is None:
        return ""
    moment = datetime.fromtimestamp(report.situation.at, zone_of(report.started_at))
    return time_text(moment.isoformat(timespec="seconds"))


def offset(time: str) -> str:
    """The zone of a time, such as `+01:00`; empty where the time has no zone, or the text is no time."""
    return "" if zone_of(time) is None else datetime.fromisoformat(time).isoformat()[-6:]


def zone_of(time: str) -> tzinfo | None:
    """The UTC offset that a time is written with; None where it has none."""
    try:
        offset = datetime.fromisoformat(time).utcoffset()
    except ValueError:
        return None
    return None if offset is None else timezone(offset)


def saved_state(report: Report, now: datetime | None = None, *, for_file: bool) -> str:
    """The age of a saved state, from `state_for_file` or `state_for_screen`; empty where the report is live."""
    if not report.saved_at:
        return ""
    return state_for_file(report, now) if for_file else state_for_screen(report, now)


def state_for_screen(report: Report, now: datetime | None = None) -> str:
    """The age of a saved state, to be read at once: `of 2026-11-20 14:02:31 +01:00, 3 d 2 h ago, saved 2026-11-20
    14:05:00 +01:00`. `now` is a time with a zone; the default is the time of the clock.

    The age is left out where the report's time has no zone or cannot be parsed."""
    age = _ago(_seconds(report, _clock(now)))
    return f"of {_check_times(report, age)}{_saved(report)}"


def state_for_file(report: Report, now: datetime | None = None) -> str:
    """The age of a saved state, as a text for a file, which stays true later: `of 2026-11-20 14:02:31 +01:00, saved
    2026-11-20 14:05:00 +01:00; this output was written 2026-11-23 16:02:31 +01:00, 3 d 2 h after the check`."""
    now = _clock(now)
    seconds = _seconds(report, now)
    after = ""
    if seconds is not None and seconds < -_SKEW_S:
        after = ", which is before the check by the clock of this machine"
    elif seconds is not None and seconds >= _SKEW_S:
        after = f", {lasting(seconds)} {'later' if report.situation else 'after the check'}"
    written = time_text(now.isoformat(timespec="seconds"))
    return f"of {_check_times(report)}{_saved(report)}; this output was written {written}{after}"


def is_within(report: Report, seconds: float) -> bool:
    """Whether a state is at most that old by the clock of this machine; False where its age is not known."""
    age = _seconds(report, _clock(None))
    return age is not None and -_SKEW_S <= age <= seconds


def short_state_texts(report: Report, now: datetime) -> tuple[str, ...]:
    """Short texts for the age of a saved state, longest first: the time with its zone and the age in two units;
    `saved 2026-11-20 14:02, 3 d ago`; only the age, where it is known."""
    seconds = _seconds(report, now)
    whole = moment_text(report) or time_text(report.started_at)
    time, zone = (whole[:16], whole[19:]) if whole != report.started_at else (whole, "")
    age = _ago(seconds)
    rough = f", {' '.join(lasting(seconds).split()[:2])} ago" if seconds is not None and seconds >= _SKEW_S else age
    return f"saved state of {time}{zone}{age}", f"saved {time}{rough}", f"saved{rough}"


def _check_times(report: Report, age: str = "") -> str:
    """The moment of the situation, when the cluster was checked, and when a check was run again."""
    again = f", in part of {time_text(report.reruns[-1].started_at)}" if report.reruns else ""
    if moment := moment_text(report):
        return f"{moment}{age}, checked {time_text(report.started_at)}{again}"
    return f"{time_text(report.started_at)}{age}{again}"


def _saved(report: Report) -> str:
    """When the file was written, where that is not the moment that the text has already."""
    if report.situation is not None or report.saved_at in ("", report.started_at):
        return ""
    return f", saved {time_text(report.saved_at)}"


def _clock(now: datetime | None) -> datetime:
    return now or datetime.now().astimezone()


def _seconds(report: Report, now: datetime) -> float | None:
    """Seconds since the moment of the situation, or since the cluster was checked; None where the report's time has no
    zone or cannot be parsed."""
    if report.situation is not None:
        return now.timestamp() - report.situation.at
    try:
        return (now - datetime.fromisoformat(report.started_at)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None


def _ago(seconds: float | None) -> str:
    """The age, after a comma; empty where it is not known."""
    if seconds is None:
        return ""
    if seconds < _SKEW_S:
        return ", just now" if seconds >= -_SKEW_S else ", in the future by this clock"
    return f", {lasting(seconds)} ago"
