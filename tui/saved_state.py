"""What is told of a report that is not live."""

from __future__ import annotations

from datetime import UTC, datetime

from checks.report.summary import at
from checks.result import Report
from checks.wording import lasting


def saved_sentence(report: Report, now: datetime | None = None) -> str:
    """Of when it is, how old that is, and when it was saved. `now` is a time with its zone; without it, the clock is
    asked. What is no time is told as it is."""
    looked, saved = at(report.started_at), at(report.saved_at)
    also = f"; saved {saved}" if saved != looked else ""
    return f"of {looked}{_age(report.started_at, now)}{also}. The cluster was not asked."


def _age(time: str, now: datetime | None) -> str:
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except (ValueError, OverflowError):
        return ""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    return f", {lasting(seconds)} ago" if seconds >= 0 else ", which is later than it is here now"
