"""Rules for the lines of logs: which lines are one event, what they are about, and whether they are recent.

A line proves what happened at its time. It never proves that something is lost now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from checks.model.facts import Cluster, Clusterware, LogKind, NodeLogs, NodeSetup, Unknown
from checks.model.finding import Status
from checks.rules.log_events.log_message import LineRole, LogEvent
from checks.rules.log_events.log_readings import Reading

AFTER_A_SHUTDOWN = timedelta(minutes=2)
"""Time after CRS-1625 within which CSS removes the node that was shut down."""
_ONE_EVENT = timedelta(minutes=5)
"""Time between lines of one eviction, which both sides report, or of one lost interface, which each process reports:
an eviction waits for the split-brain resolution, 60 s and more (MOS 219361.1). Ours."""
_WITHOUT_NETWORK = timedelta(seconds=20)
"""Least time of a disk heartbeat without a network heartbeat: each join of a node shows some seconds of that. Ours."""
_HEARTBEATS_APART = timedelta(seconds=60)
_MOST_LINES = 6
_MANY_RECONFIGURATIONS = 5
"""Each start and stop of an instance is one reconfiguration; a day with fewer is an ordinary one. Ours."""
_BY_PLACE = frozenset({LogEvent.NODE_EVICTED, LogEvent.INSTANCE_EVICTED})
"""Events that several writers report: lines about the same one belong together."""
_IN_CLUSTERS = frozenset({LogEvent.INSTANCE_EVICTED, LogEvent.INTERFACE_LOST})
"""Events that are counted by their times: one of them has several lines, in several logs."""


@dataclass(frozen=True)
class LogEpisode:
    """The events of one kind, of one writer, about the same peer."""

    event: LogEvent
    nodes: tuple[str, ...]
    """The nodes on which the lines were read."""
    writer: str
    """The host or the instance that wrote the lines."""
    about: str
    """The peer: a node, `instance 2`, a route, an address, an instance; empty where the lines name none."""
    instance: int | None
    """The number of the database's instance that the lines are about, where it is known."""
    times: int
    first_at: datetime
    last_at: datetime
    ago_s: float
    is_recent: bool
    worst_percent: int = 0
    """The largest part of misscount without a heartbeat."""
    lines: tuple[str, ...] = ()
    """The last lines, with their times."""
    is_member: bool | None = None
    """Whether the node that was evicted is an active member of the cluster at present; None where that is not known."""
    by: str = ""
    """Who evicted; empty where no line names one."""
    is_inward: bool = False
    """Whether messages to the writer are meant, and not those from it."""
    status: int | None = None
    """The error number of the operating system."""


def recent_status(episode: LogEpisode) -> Status:
    """Return the status of trouble that Clusterware overcomes by itself: a warning while it is recent, then INFO."""
    return Status.WARN if episode.is_recent else Status.INFO


def is_recent(cluster: Cluster, ago: timedelta) -> bool:
    """Return whether a line of that age can belong to the state of now."""
    return abs(ago) <= timedelta(minutes=cluster.thresholds.log_recent_min)


_Key = tuple[LogEvent, str, str, bool, int | None]


def episodes(cluster: Cluster, read: Sequence[Reading]) -> tuple[LogEpisode, ...]:
    """Return the events in the logs of all nodes, the latest first; those of ended instances are in `instance_ends`."""
    members = _members(cluster)
    groups: dict[_Key, list[Reading]] = {}
    for line in _reported(read):
        groups.setdefault(_key(line), []).append(line)
    every = [_episode(cluster, lines, members) for lines in groups.values()]
    found = [e for e in every if e.event is not LogEvent.RECONFIGURED or e.times >= _MANY_RECONFIGURATIONS]
    return tuple(sorted(found, key=lambda e: (e.ago_s, e.event, e.writer, e.about)))


def _key(line: Reading) -> _Key:
    if line.event in _BY_PLACE:
        place = line.database if line.event is LogEvent.INSTANCE_EVICTED else ""
    else:
        place = line.node if line.event is LogEvent.INTERFACE_LOST else line.writer
    assert line.event is not None
    # The statuses of sending are different faults; for the others the event says the status.
    status = line.status if line.event is LogEvent.SEND_FAILED else None
    return line.event, place, line.about, line.is_inward, status


def _reported(read: Sequence[Reading]) -> Iterator[Reading]:
    """Yield the lines of events that are episodes of their own."""
    orders = [line for line in read if line.role is LineRole.ORDER]
    lasting = _lasting([line for line in read if line.event is LogEvent.NO_NETWORK_HEARTBEAT])
    for line in read:
        if line.event in (None, LogEvent.INSTANCE_ENDED):
            continue
        if line.event is LogEvent.NO_NETWORK_HEARTBEAT and id(line) not in lasting:
            continue
        if _is_seen_from_the_other_side(line, read):
            continue
        is_of_node = line.event in (LogEvent.NODE_EVICTED, LogEvent.GIPC, LogEvent.NO_NETWORK_HEARTBEAT)
        if is_of_node and any(_orders(order, line) for order in orders):
            continue
        yield line


def _orders(order: Reading, line: Reading) -> bool:
    return order.about == line.about and timedelta(0) <= line.at - order.at <= AFTER_A_SHUTDOWN


def _lasting(lines: Sequence[Reading]) -> frozenset[int]:
    """Return the lines of times in which a node had a disk heartbeat and no network heartbeat for long."""
    found: set[int] = set()
    for place in {(line.node, line.about) for line in lines}:
        for run in _runs([line for line in lines if (line.node, line.about) == place], _HEARTBEATS_APART):
            if run[-1].at - run[0].at >= _WITHOUT_NETWORK:
                found.update(map(id, run))
    return frozenset(found)


def _runs(lines: Iterable[Reading], apart: timedelta) -> list[list[Reading]]:
    """Return the lines in runs that are no further apart than that, in the order of time."""
    runs: list[list[Reading]] = []
    for line in sorted(lines, key=lambda line: line.at):
        if runs and line.at - runs[-1][-1].at <= apart:
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def _is_seen_from_the_other_side(line: Reading, read: Iterable[Reading]) -> bool:
    """Return whether a line is the receiver's own about messages whose sender reports them, too."""
    if not (line.event is LogEvent.SEND_TIMEOUT and line.is_inward and line.instance is None):
        return False
    return line.own_number is not None and any(
        sent.event is LogEvent.SEND_TIMEOUT and not sent.is_inward
        and (sent.database, sent.instance) == (line.database, line.own_number) and abs(sent.at - line.at) <= _ONE_EVENT
        for sent in read
    )  # fmt: skip


def _episode(cluster: Cluster, lines: Sequence[Reading], members: Mapping[str, bool]) -> LogEpisode:
    ordered = sorted(lines, key=lambda line: line.at)
    last = ordered[-1]
    event = last.event
    assert event is not None
    ago = last.read_at - last.at
    return LogEpisode(
        event=event,
        nodes=tuple(dict.fromkeys(line.node for line in ordered)),
        writer=last.writer,
        about=last.about,
        # The numbers of ASM's instances are no numbers of the database.
        instance=None if last.kind is LogKind.ASM else last.instance,
        times=max(1, _times(event, ordered)),
        first_at=ordered[0].at,
        last_at=last.at,
        ago_s=ago.total_seconds(),
        is_recent=is_recent(cluster, ago),
        worst_percent=max(line.percent for line in ordered),
        lines=tuple(line.line for line in ordered[-_MOST_LINES:]),
        is_member=members.get(last.about) if event is LogEvent.NODE_EVICTED else None,
        by=next((line.by for line in reversed(ordered) if line.by), ""),
        is_inward=last.is_inward,
        status=last.status,
    )


def _times(event: LogEvent, ordered: Sequence[Reading]) -> int:
    if event in _IN_CLUSTERS:
        return len(_runs(ordered, _ONE_EVENT))
    if event is LogEvent.NODE_EVICTED:
        # Each node reports an eviction with several messages, and each message once.
        return max(Counter((line.node, line.code) for line in ordered).values())
    # A trace has the same event as the alert log.
    return max(Counter(line.kind for line in ordered if line.counts).values(), default=0)


def _members(cluster: Cluster) -> dict[str, bool]:
    """Whether each node of the cluster is an active member, where olsnodes says it."""
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.members, Unknown):
        return {}
    return {member.name: member.status == "Active" for member in facts.members if member.status}


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
