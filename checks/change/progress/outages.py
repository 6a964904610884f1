"""The outages of a change, as its verifications and the starts of its steps saw them. No I/O.

The journal does not hold when people stopped Clusterware or opened the databases: an outage lies between readings.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from checks.change.plan.running_instances import count_of
from checks.change.progress.change_events import Begun, JournalLine, ObservedState, Opened, Verified
from checks.change.progress.state import Change

_OPEN, _UP = "instances-up", "stack-up"
"""The gates that end an outage: every instance that ran before runs again; without databases, Clusterware is up."""


class ReportedOutage(msgspec.Struct, frozen=True, kw_only=True):
    """A time in which every database, or Clusterware on every node, was stopped, with the way there and back.

    It starts with the first node or instance that stops, of those that ran when the change was opened, and ends when
    all run again. A stop of some nodes or instances alone is no outage.
    """

    running_until: str
    """The last time at which all of them were seen running before; empty if they were not."""
    stopped_at: str
    """The first time at which a node or an instance was seen stopped."""
    all_stopped_at: str
    """The first time at which every node, or every instance, was seen stopped."""
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
    opening = _look(change.lines[0]) or ObservedState()
    running_until = stopped_at = all_stopped_at = stopped_until = ""
    for line in change.lines:
        look = _look(line)
        if look is None:
            continue
        if all_stopped_at and _is_up(change, line):
            yield _outage(running_until, stopped_at, all_stopped_at, stopped_until, line.at)
            running_until, stopped_at, all_stopped_at = line.at, "", ""
            continue
        if not all_stopped_at and _all_run(change, opening, look):
            running_until, stopped_at = line.at, ""
            continue
        if _is_all_stopped(change, look):
            all_stopped_at = all_stopped_at or line.at
        if all_stopped_at or _is_one_stopped(change, opening, look):
            stopped_at = stopped_at or line.at
            stopped_until = line.at
    if all_stopped_at:
        yield _outage(running_until, stopped_at, all_stopped_at, stopped_until, "")


def _all_run(change: Change, opening: ObservedState, look: ObservedState) -> bool:
    """Return whether all nodes and instances that ran when the change was opened were seen running.

    A node that was down then is not expected. What could not be read was not seen.
    """
    ran = {node for node, runs in opening.running.items() if runs}
    seen = {node for node, runs in look.running.items() if runs} - {*look.carried}
    return bool(ran) and ran <= seen and not any(_is_reduced(change, look))


def _is_one_stopped(change: Change, opening: ObservedState, look: ObservedState) -> bool:
    """Return whether a node or an instance that ran when the change was opened was seen stopped."""
    stopped = {node for node, runs in look.running.items() if not runs}
    return any(opening.running.get(node, True) for node in stopped) or any(_is_reduced(change, look))


def _is_all_stopped(change: Change, look: ObservedState) -> bool:
    """Return whether every node, or every instance of every database, was seen stopped."""
    nodes = {*change.opened.nodes}
    if nodes <= look.running.keys() and not any(look.running.values()):
        return True
    return bool(change.opened.databases) and all(count == 0 for count in _counts(change, look))


def _is_reduced(change: Change, look: ObservedState) -> Iterator[bool]:
    """Yield for each database whether fewer of its instances run than when the change was opened."""
    for database, count in zip(change.opened.databases, _counts(change, look), strict=True):
        yield count is not None and count < len(database.instances)


def _counts(change: Change, look: ObservedState) -> Iterator[int | None]:
    """Yield how many instances of each planned database run; None where the instances of a node are not known."""
    databases = change.opened.databases
    is_known = {*change.opened.nodes} <= look.instances.keys()
    running = [name for names in look.instances.values() for name in names]
    for database in databases:
        yield count_of(database, databases, running) if is_known and database.instances else None


def _look(line: JournalLine) -> ObservedState | None:
    return line.event.look if isinstance(line.event, Opened | Begun | Verified) else None


def _is_up(change: Change, line: JournalLine) -> bool:
    """Return whether this verification saw every instance running again; without databases, Clusterware everywhere."""
    if not isinstance(line.event, Verified):
        return False
    wanted = _OPEN if change.opened.databases else _UP
    results = [result for result in line.event.results if result.check == wanted]
    if not results or not all(result.holds for result in results):
        return False
    return wanted == _OPEN or {*change.opened.nodes} <= {result.node for result in results}


def _outage(
    running_until: str, stopped_at: str, all_stopped_at: str, stopped_until: str, running_at: str
) -> ReportedOutage:
    least, most = _seconds(stopped_at, stopped_until), _seconds(running_until, running_at)
    return ReportedOutage(
        running_until=running_until,
        stopped_at=stopped_at,
        all_stopped_at=all_stopped_at,
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
