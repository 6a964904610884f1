"""The outages of a change, as its verifications saw them. No I/O.

The journal does not hold when people stopped Clusterware or opened the databases: an outage lies between verifications.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from checks.change.change_events import JournalLine, ObservedState, Opened, Verified
from checks.change.state import Change

_OPEN, _UP = "instances-up", "stack-up"
"""The gates that end an outage: every instance that ran before runs again; without databases, Clusterware is up."""


class ReportedOutage(msgspec.Struct, frozen=True, kw_only=True):
    """A time with Clusterware stopped on every node, from the last verification before it to the first one after it."""

    running_until: str
    """The last time at which a node was seen running before; empty if none was."""
    stopped_at: str
    """The first time at which every node was seen stopped."""
    stopped_until: str
    """The last time at which not everything was seen running again."""
    running_at: str
    """The time at which every instance was seen running again (Clusterware, without databases); empty if it was not."""
    least_minutes: int | None
    """From `stopped_at` to `stopped_until`, in whole minutes; None if the clocks do not tell."""
    most_minutes: int | None
    """From `running_until` to `running_at`, rounded up; None if one was not seen, or if the clocks do not tell."""


def outages_of(change: Change) -> tuple[ReportedOutage, ...]:
    """Return the outages of a change, oldest first: a rollback with the databases open is another one."""
    return tuple(_outages(change))


def _outages(change: Change) -> Iterator[ReportedOutage]:
    nodes = frozenset(change.opened.nodes)
    running_until = stopped_at = stopped_until = ""
    for line in change.lines:
        look = _look(line)
        if look is None:
            continue
        if not stopped_at:
            if any(look.running.values()):
                running_until = line.at
            elif nodes <= look.running.keys():
                stopped_at = stopped_until = line.at
        elif _is_up(change, line):
            yield _outage(running_until, stopped_at, stopped_until, line.at)
            running_until, stopped_at = line.at, ""
        else:
            stopped_until = line.at
    if stopped_at:
        yield _outage(running_until, stopped_at, stopped_until, "")


def _look(line: JournalLine) -> ObservedState | None:
    return line.event.look if isinstance(line.event, Opened | Verified) else None


def _is_up(change: Change, line: JournalLine) -> bool:
    """Return whether this verification saw every instance running again; without databases, Clusterware everywhere."""
    if not isinstance(line.event, Verified):
        return False
    wanted = _OPEN if change.opened.databases else _UP
    results = [result for result in line.event.results if result.check == wanted]
    if not results or not all(result.holds for result in results):
        return False
    return wanted == _OPEN or {*change.opened.nodes} <= {result.node for result in results}


def _outage(running_until: str, stopped_at: str, stopped_until: str, running_at: str) -> ReportedOutage:
    least, most = _seconds(stopped_at, stopped_until), _seconds(running_until, running_at)
    return ReportedOutage(
        running_until=running_until,
        stopped_at=stopped_at,
        stopped_until=stopped_until,
        running_at=running_at,
        least_minutes=None if least is None else int(least // 60),
        most_minutes=None if most is None else int(-(-most // 60)),
    )


def _seconds(start: str, end: str) -> float | None:
    """Return the seconds between two times of the journal; None if one is missing, or if a clock was set back."""
    try:
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds >= 0 else None
