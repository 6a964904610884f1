"""Instances that ended: by which process, with which error, by order or not, and what all logs show at that time.

An error says which process ended, and not why. The interconnect is a reason only where a log shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from checks.model.facts import Cluster, LogKind
from checks.rules.log_events.episodes import AFTER_A_SHUTDOWN, is_recent, runs
from checks.rules.log_events.log_message import LineRole, LogEvent
from checks.rules.log_events.log_readings import Reading

_ONE_END = timedelta(minutes=2)
"""Time within which the lines of one end follow each other: processes are ended one by one."""
_AFTER_AN_ORDER = timedelta(minutes=10)
"""Time that a shutdown immediate can take. Ours."""
_AFTER_THE_END = timedelta(minutes=2)
"""Time after the end of an instance in which the other ones and CSS still report the same trouble, four times the
misscount of 30 s. Ours."""
_PROCESS = re.compile(r"^\W{0,9}([A-Z][A-Z0-9]{2,5})(?:\(prelim\))?\s?(?:\(ospid: ?\w{1,40}\))?: terminating", re.I)
_TERMINATED_BY = re.compile(r"terminated by ([A-Za-z][A-Za-z0-9]{2,5})")
_ERROR = re.compile(r"due to (?:ORA )?error (\d{1,5})")
_DIED = re.compile(r"\(pid: \d{1,10}, ospid: \w{1,40}, (\w{1,12})\)")
_MOST_LINES = 6
_EVICTED = 29740
BY_A_PERSON = "USER"
"""The name of a process that a user's session, and not a background process, runs as."""

ERROR_SAYS = {
    470: "LGWR ended",
    471: "DBWR ended",
    472: "PMON ended",
    474: "SMON ended",
    480: "an LCK process ended",
    481: "LMON ended",
    482: "an LMD process ended",
    484: "an LMS process ended",
    485: "DIAG ended",
    490: "PSP ended",
    15064: "it lost its ASM instance",
    29702: "an operation of the cluster group services failed",
    29743: "its own receivers made no progress, and it ended itself",
    29770: "a global enqueue process hung",
}
"""What an error says by its own text (Oracle Database Error Messages). For other errors racwire says the number."""

SHOWS_THE_INTERCONNECT = frozenset(
    {
        LogEvent.HEARTBEAT,
        LogEvent.NO_NETWORK_HEARTBEAT,
        LogEvent.SEND_TIMEOUT,
        LogEvent.NO_CONNECTION,
        LogEvent.INSTANCE_EVICTED,
        LogEvent.INTERFACE_LOST,
        LogEvent.NO_BUFFERS,
        LogEvent.TOO_LONG,
        LogEvent.SEND_FAILED,
    }
)
"""Events that show the interconnect: what an instance or CSS sent was not answered, or could not be sent."""
_OF_NODES = frozenset({LogEvent.HEARTBEAT, LogEvent.NO_NETWORK_HEARTBEAT})


@dataclass(frozen=True)
class InstanceEnd:
    """The last of the ends of an instance with the same error."""

    instance: str
    node: str
    kind: LogKind
    process: str
    """The process that ended the instance: `PMON`; empty where no line names it."""
    error: int | None
    died: str
    """The process whose death was the reason, where a line names it: `IPC0`."""
    at: datetime
    ago_s: float
    is_recent: bool
    times: int
    started_at: datetime | None
    """The next start that the log has after it."""
    is_down: bool
    """Whether its processes were searched and it does not run."""
    shown: tuple[LogEvent, ...]
    """What any log shows of the interconnect in the same minutes."""
    lines: tuple[str, ...]
    near: tuple[str, ...]
    """The lines that show the interconnect."""


def instance_ends(cluster: Cluster, read: Sequence[Reading]) -> tuple[InstanceEnd, ...]:
    """Return the ends of instances that no order explains and that are no eviction, the latest first."""
    found: dict[tuple[str, str, int | None, bool], list[InstanceEnd]] = {}
    places = dict.fromkeys((line.node, line.writer) for line in read if line.event is LogEvent.INSTANCE_ENDED)
    for node, writer in places:
        own = sorted((line for line in read if (line.node, line.writer) == (node, writer)), key=lambda line: line.at)
        for lines in _ends(own):
            if not (_was_ordered(lines, own, read, node) or _was_an_eviction(lines, own)):
                end = _end(cluster, lines, own, read)
                found.setdefault((node, writer, end.error, bool(end.shown)), []).append(end)
    last = [_last(ends) for ends in found.values()]
    return tuple(sorted(last, key=lambda end: (end.ago_s, end.instance)))


def _ends(own: Iterable[Reading]) -> list[list[Reading]]:
    ends: list[list[Reading]] = []
    is_open = False
    for line in own:
        if line.role is LineRole.STARTED:
            is_open = False
        elif line.event is LogEvent.INSTANCE_ENDED:
            if is_open and line.at - ends[-1][-1].at <= _ONE_END:
                ends[-1].append(line)
            else:
                ends.append([line])
            is_open = True
    return ends


def _was_ordered(lines: Sequence[Reading], own: Sequence[Reading], read: Sequence[Reading], node: str) -> bool:
    at = lines[0].at
    started = [line.at for line in own if line.role is LineRole.STARTED and line.at <= at]
    since = max([at - _AFTER_AN_ORDER, *started])
    orders = [line for line in own if line.role is LineRole.ORDER and since <= line.at <= lines[-1].at + _ONE_END]
    of_node = [
        line for line in read
        if line.role is LineRole.ORDER and line.kind is LogKind.CLUSTERWARE and line.about == node
        and at - _AFTER_AN_ORDER <= line.at <= at + AFTER_A_SHUTDOWN
    ]  # fmt: skip
    # A session that ends the instance without an error obeys a `shutdown abort`.
    return bool(orders or of_node) or (_process(lines) == BY_A_PERSON and _error(lines) is None)


def _was_an_eviction(lines: Sequence[Reading], own: Iterable[Reading]) -> bool:
    return _error(lines) == _EVICTED or any(
        line.event is LogEvent.INSTANCE_EVICTED and line.about == line.writer
        and abs(line.at - lines[0].at) <= _ONE_END
        for line in own
    )  # fmt: skip


def _first(pattern: re.Pattern[str], lines: Iterable[Reading]) -> str:
    return next((found[1] for line in lines if (found := pattern.search(line.text))), "")


def _process(lines: Sequence[Reading]) -> str:
    return (_first(_PROCESS, lines) or _first(_TERMINATED_BY, lines)).upper()


def _error(lines: Sequence[Reading]) -> int | None:
    found = _first(_ERROR, lines)
    return int(found) if found else None


def _end(cluster: Cluster, lines: Sequence[Reading], own: Sequence[Reading], read: Sequence[Reading]) -> InstanceEnd:
    first = lines[0]
    begin = first.at - timedelta(minutes=cluster.thresholds.log_before_end_min)
    near = [
        line for line in read
        if line.event in SHOWS_THE_INTERCONNECT and begin <= line.at <= first.at + _AFTER_THE_END
        and not _is_between_others(line, first, read)
    ]  # fmt: skip
    later = [line for line in own if line.at > lines[-1].at and line.role in (LineRole.STARTED, LineRole.ORDER)]
    started = next((line.at for line in later if line.role is LineRole.STARTED), None)
    setup = cluster.setup(first.node)
    was_stopped = bool(later) and later[-1].role is LineRole.ORDER
    ago = first.read_at - first.at
    around = [line for line in own if first.at - _ONE_END <= line.at <= lines[-1].at + _ONE_END]
    return InstanceEnd(
        instance=first.writer,
        node=first.node,
        kind=first.kind,
        process=_process(lines),
        error=_error(lines),
        died=_first(_DIED, lines),
        at=first.at,
        ago_s=ago.total_seconds(),
        is_recent=is_recent(cluster, ago),
        times=1,
        started_at=started,
        is_down=setup is not None and not was_stopped and not runs(setup, first.writer),
        shown=tuple(dict.fromkeys(line.event for line in near if line.event is not None)),
        lines=tuple(line.line for line in around[-_MOST_LINES:]),
        near=tuple(line.line for line in near if line not in around)[-_MOST_LINES:],
    )


def _is_between_others(line: Reading, end: Reading, read: Iterable[Reading]) -> bool:
    """Return whether a line of another node names its peer, and that is on a third node: rac1 and rac3 without a
    heartbeat say nothing of the end of an instance on rac2."""
    if line.node == end.node:
        return False
    if line.event in _OF_NODES:
        return line.about not in ("", end.node)
    if line.about == line.writer:  # an eviction has two sides; an instance without any connection has none
        named: str | int | None = line.by
        of_end: str | int | None = end.writer
        there = {other.node for other in read if other.writer == named}
    else:
        named, of_end = line.instance, end.own_number
        there = {other.node for other in read if (other.database, other.own_number) == (line.database, named)}
    if named in ("", None) or of_end is None:
        return False
    return named != of_end if line.database == end.database else bool(there) and end.node not in there


def _last(ends: Sequence[InstanceEnd]) -> InstanceEnd:
    return replace(max(ends, key=lambda end: end.at), times=len(ends))
