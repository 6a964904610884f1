"""Rules for the lines of alert logs: which lines are one event, what they are about, and whether they are recent.

A line proves what happened at its time. It never proves that something is lost now.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from checks.model.facts import AlertLog, Cluster, Clusterware, LogKind, LogLine, NodeLogs, NodeSetup, Unknown
from checks.model.finding import Status


class LogEvent(StrEnum):
    """What lines of an alert log report."""

    HEARTBEAT = "network heartbeat missing"
    """CRS-1612 after 50 % of misscount, CRS-1611 after 75 %, CRS-1610 after 90 %."""
    NODE_EVICTED = "node evicted"
    INSTANCE_EVICTED = "instance evicted"
    SEND_TIMEOUT = "IPC send timeout"
    GIPC = "GIPC or HAIP failed"
    FOREIGN_ROUTE = "route in the range of HAIP removed"
    NO_BUFFERS = "no buffer space for IPC"
    SEND_FAILED = "send failed"
    HUNG = "process of global cache hung"
    RECONFIGURED = "reconfiguration"


@dataclass(frozen=True)
class LogEpisode:
    """The events of one kind, of one writer, about the same peer."""

    event: LogEvent
    nodes: tuple[str, ...]
    """The nodes on which the lines were read."""
    writer: str
    """The host or the instance that wrote the lines."""
    about: str
    """The peer: a node, `instance 2`, a route, an instance; empty where the lines name none."""
    instance: int | None
    """The number of the instance that the lines are about, where they name one by its number."""
    times: int
    first_at: datetime
    last_at: datetime
    ago_s: float
    is_recent: bool
    worst_percent: int = 0
    """The largest part of misscount without a heartbeat."""
    lines: tuple[str, ...] = ()
    """The last lines, with their times."""
    is_out: bool = False
    """Whether the node of the event is not an active member of the cluster at present."""


def recent_status(episode: LogEpisode) -> Status:
    """Return the status of trouble that Clusterware overcomes by itself: a warning while it is recent, then INFO."""
    return Status.WARN if episode.is_recent else Status.INFO


@dataclass(frozen=True)
class _Line:
    event: LogEvent
    node: str
    writer: str
    about: str
    instance: int | None
    at: datetime
    code: str
    text: str
    counts: bool
    percent: int = 0
    read_at: datetime = datetime.min


_PERCENTS = {"CRS-1612": 50, "CRS-1611": 75, "CRS-1610": 90}
_PEER = re.compile(r"(\S{1,100}) \(\d{1,5}\)")
"""A node with its number, in every language of the message."""
_EVICTED_NODE = re.compile(r"CRS-(?:1607|1632):\s?Node (\S{1,100}) ")
_SHUT_DOWN = re.compile(r"CRS-1625:\s?Node (\S{1,100}?),? ")
_AFTER_A_SHUTDOWN = timedelta(minutes=2)
_INSTANCE = re.compile(r"(?:inst(?:ance)?(?:_number)?|Evicting instance)\s(\d{1,5})")
_ROUTE = re.compile(r"HAIP route:\s*(\S{1,50}) / (\S{1,50}) / \S{1,50} / (\S{1,30})")
_REMOTE_NODE = re.compile(r"(?:remote node|and node) '([^']{1,100})'")
_NO_BUFFER_SPACE = re.compile(r"status: 105(?!\d)|sskgxpsnd2|skgxpvfynet:|No buffer space")
_SENDING = re.compile(r"operation:\s?(?:sendmsg|recvmsg|sendto|recvfrom)")
_GIPC = ("CRS-7500", "CRS-7503", "CRS-42216", "CRS-2674", "CRS-5017")
_MOST_LINES = 6
_MANY_RECONFIGURATIONS = 5
"""Each start and stop of an instance is one reconfiguration; a day with fewer is an ordinary one. Ours."""


def episodes(cluster: Cluster) -> tuple[LogEpisode, ...]:
    """Return the events in the logs of all nodes, the latest first."""
    recent = timedelta(minutes=cluster.thresholds.log_recent_min)
    inactive = _inactive(cluster)
    groups: dict[tuple[LogEvent, str, str], list[_Line]] = {}
    for line in _lines(cluster):
        writer = "" if line.event is LogEvent.NODE_EVICTED else line.writer
        groups.setdefault((line.event, writer, line.about), []).append(line)
    every = [_episode(key, lines, recent, inactive) for key, lines in groups.items()]
    found = [e for e in every if e.event is not LogEvent.RECONFIGURED or e.times >= _MANY_RECONFIGURATIONS]
    return tuple(sorted(found, key=lambda e: (e.ago_s, e.event, e.writer, e.about)))


def _episode(
    key: tuple[LogEvent, str, str], lines: Sequence[_Line], recent: timedelta, inactive: frozenset[str]
) -> LogEpisode:
    event, writer, about = key
    ordered = sorted(lines, key=lambda line: line.at)
    last = ordered[-1]
    ago = last.read_at - last.at
    counted = sum(line.counts for line in ordered)
    if event is LogEvent.NODE_EVICTED:
        # Each node reports an eviction with several messages, and each message once.
        counted = max(Counter((line.node, line.code) for line in ordered).values())
    return LogEpisode(
        event=event,
        nodes=tuple(dict.fromkeys(line.node for line in ordered)),
        writer=writer or last.writer,
        about=about,
        instance=last.instance,
        times=max(1, counted),
        first_at=ordered[0].at,
        last_at=last.at,
        ago_s=ago.total_seconds(),
        is_recent=abs(ago) <= recent,
        worst_percent=max(line.percent for line in ordered),
        lines=tuple(
            f"{line.node}: {line.at.isoformat(timespec='seconds')} {line.text}" for line in ordered[-_MOST_LINES:]
        ),
        is_out=event is LogEvent.NODE_EVICTED and about in inactive,
    )


def _inactive(cluster: Cluster) -> frozenset[str]:
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.members, Unknown):
        return frozenset()
    return frozenset(member.name for member in facts.members if member.status == "Inactive")


def _lines(cluster: Cluster) -> Iterator[_Line]:
    seen: set[tuple[str, LogLine]] = set()
    for setup in cluster.read_setups():
        if not isinstance(setup.logs, NodeLogs):
            continue
        read_at = moment_of(setup.logs.read_at)
        for log in setup.logs.logs:
            # A log on a file system that nodes share is read on each of them.
            new = [line for line in log_lines(log) if (log.path, line) not in seen]
            seen.update((log.path, line) for line in new)
            if read_at is not None:
                yield from _of_log(setup.name, log, new, read_at)


def log_lines(log: AlertLog) -> tuple[LogLine, ...]:
    """Return the lines of a log; none where it could not be read."""
    return () if isinstance(log.lines, Unknown) else log.lines


def runs(setup: NodeSetup, instance: str) -> bool:
    """Return whether an instance runs on a node, as far as its processes can be seen."""
    return isinstance(setup.instances, Unknown) or instance in setup.instances


def transports(setups: Iterable[NodeSetup]) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (transport, node) by (database, instance), for the running instances that logged a transport."""
    return {
        (log.database, log.owner): (log.ipc, setup.name)
        for setup in setups
        if isinstance(setup.logs, NodeLogs)
        for log in setup.logs.logs
        if log.kind is LogKind.DATABASE and log.ipc and runs(setup, log.owner)
    }


def moment_of(text: str) -> datetime | None:
    """Return a time with its zone; None where the text is none, as in a damaged file."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _of_log(node: str, log: AlertLog, lines: Iterable[LogLine], read_at: datetime) -> Iterator[_Line]:
    timed = [(at, line) for line in lines if (at := moment_of(line.at)) is not None]
    shutdowns = [(found[1], at) for at, line in timed if (found := _SHUT_DOWN.search(line.text))]
    receivers = {i - 1: _instance(line.text) for i, (_, line) in enumerate(timed) if line.code == "Receiver"}
    for i, (at, line) in enumerate(timed):
        reported = _event(log, line, receivers.get(i, ""))
        if reported is None:
            continue
        event, about, counts = reported
        if event is LogEvent.NODE_EVICTED and _was_shut_down(f"{about}", at, shutdowns):
            continue
        percent = _PERCENTS.get(line.code, 0)
        named = f"instance {about}" if isinstance(about, int) else about
        number = about if isinstance(about, int) else None
        yield _Line(event, node, log.owner, named, number, at, line.code, line.text, counts, percent, read_at)


def _was_shut_down(node: str, at: datetime, shutdowns: Iterable[tuple[str, datetime]]) -> bool:
    return any(name == node and timedelta(0) <= at - when <= _AFTER_A_SHUTDOWN for name, when in shutdowns)


_Reported = tuple[LogEvent, str | int, bool]
"""What a line reports, about whom (a name, or the number of an instance), and whether it counts as one more event."""


def _event(log: AlertLog, line: LogLine, receiver: str | int) -> _Reported | None:
    if log.kind is LogKind.CLUSTERWARE:
        return _of_clusterware(log, line)
    text = line.text
    match line.code:
        case "IPC Send timeout" if "detected" in text:
            return LogEvent.SEND_TIMEOUT, receiver or _instance(text), True
        case "no messaging activity" | "Communications reconfiguration":
            return LogEvent.SEND_TIMEOUT, _instance(text), line.code == "no messaging activity"
        case "ORA-29740":
            return LogEvent.INSTANCE_EVICTED, log.owner, True
        case "Evicting instance":
            return LogEvent.INSTANCE_EVICTED, _instance(text), True
        case "ORA-27300" | "ORA-27301" | "ORA-27302" | "skgxpvfynet" if _NO_BUFFER_SPACE.search(text):
            return LogEvent.NO_BUFFERS, "", line.code == "ORA-27300"
        case "ORA-27300" if _SENDING.search(text):
            return LogEvent.SEND_FAILED, "", True
        case "ORA-29770":
            return LogEvent.HUNG, "", True
        case "Reconfiguration":
            return LogEvent.RECONFIGURED, "", "started" in text
    return None


def _of_clusterware(log: AlertLog, line: LogLine) -> _Reported | None:
    text = line.text
    match line.code:
        case "CRS-1612" | "CRS-1611" | "CRS-1610":
            peer = _PEER.search(text)
            return LogEvent.HEARTBEAT, peer[1] if peer else "", line.code == "CRS-1612"
        case "CRS-1607" | "CRS-1632":
            evicted = _EVICTED_NODE.search(text)
            return (LogEvent.NODE_EVICTED, evicted[1], True) if evicted else None
        case "CRS-1608" | "CRS-1609":
            return LogEvent.NODE_EVICTED, log.owner, True
        case "CRS-5018":
            route = _ROUTE.search(text)
            return LogEvent.FOREIGN_ROUTE, f"{route[1]} on {route[3]}" if route else "", True
        case code if code in _GIPC:
            remote = _REMOTE_NODE.findall(text)
            return LogEvent.GIPC, remote[-1] if remote else "", True
    return None


def _instance(text: str) -> str | int:
    found = _INSTANCE.search(text)
    return int(found[1]) if found else ""
