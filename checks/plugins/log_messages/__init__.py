"""What do the alert logs of Clusterware and of the instances say about the interconnect in the last day?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.model.check import Kind, check
from checks.model.facts import AlertLog, Cluster, LogKind, MissingRight, NodeLogs, NodeSetup, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.wording import counted, listed
from checks.plugins.log_messages import log_kinds as kinds
from checks.plugins.log_messages.ended_text import ago, clock, instance_ended
from checks.plugins.log_messages.log_titles import TEXTS
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.log_events.episodes import LogEpisode, episodes, recent_status, runs, transports
from checks.rules.log_events.instance_ends import instance_ends
from checks.rules.log_events.log_message import LineRole, LogEvent
from checks.rules.log_events.log_readings import Reading, log_lines, readings
from checks.rules.observed.heartbeats import episodes_observed
from checks.rules.observed.states import read_on, state

_TOPIC = "alert logs"
_AROUND_AN_EVICTION = (LogEvent.HEARTBEAT, LogEvent.NO_NETWORK_HEARTBEAT, LogEvent.CSS_ENDED)
_NEAR_S = 300.0
"""Seconds between a missing heartbeat and the eviction to which it led. Misscount is 30 s, a reboot takes minutes."""

_NOW: dict[bool | None, str] = {
    True: "; it is an active member of the cluster now",
    False: "; it is not an active member of the cluster now",
}


@check(
    "log-lines",
    question="What do the alert logs say about the interconnect in the last day?",
    needs=("setups",),
    uses=("clusterware",),
    kinds=kinds.KINDS,
)
def log_lines_check(cluster: Cluster) -> Iterator[Finding]:
    """Reads the last day's lines of the alert logs of Clusterware, ASM and the databases on each node.

    racwire searches the end of each log for a list of messages: missing network heartbeats (CRS-1610 to CRS-1612),
    evictions (CRS-1607, CRS-1608, CRS-1609, CRS-1632, ORA-29740), the end of an instance, GIPC and HAIP (CRS-7500,
    CRS-7503, CRS-5018), IPC send timeouts, lost interfaces, and errors of sending (ORA-27300). Messages with a code are
    read in any language. Of the traces of ocssd, gipcd and ohasd racwire searches the last 2 MB, which can be less than
    an hour. The lines are about the past: they prove no loss at present. Lines of the last minutes support a cause.

    An instance that ended without an order is reported with its process and its error. The interconnect is named as
    well only where a log shows it within log_before_end_min before that.
    """
    setups = cluster.read_setups()
    read_lines = readings(cluster)
    found = episodes(cluster, read_lines)
    ends = instance_ends(cluster, read_lines)
    evicted = [e for e in found if e.event is LogEvent.NODE_EVICTED]
    own = [e for e in found if not _led_to_one_of(evicted, e)]
    for same in alike(own, lambda e: (e.event, e.about if e.event is LogEvent.NODE_EVICTED else "", _is_now(e))):
        before = [e for e in found if e not in own and _led_to_one_of(same, e)]
        yield _reported(cluster, same, before if same[0] in evicted else [])
    for end in ends:
        with_node = [e for e in evicted if e.about == end.node and abs(e.ago_s - end.ago_s) <= _NEAR_S]
        yield instance_ended(cluster, end, with_node)
    strange = [line for line in read_lines if not line.is_understood]
    if strange:
        yield _not_understood(strange)
    yield from _transports(setups)
    unread = list(_unread(setups))
    yield from unread
    read = [s.name for s in setups if isinstance(s.logs, NodeLogs) and any(map(_is_read, s.logs.logs))]
    if not found and not ends and not strange and read:
        yield _quiet(setups, read, read_lines)
    elif not found and not ends and not strange and not unread:
        yield kinds.NOT_FOUND.finding(
            "No alert log was read.", subject="no logs", evidence=[(s.name, _TOPIC) for s in setups]
        )


def _is_now(episode: LogEpisode) -> bool:
    return episode.event is LogEvent.HEARTBEAT and episode.is_recent


def _led_to_one_of(evicted: Sequence[LogEpisode], episode: LogEpisode) -> bool:
    """Return whether an episode is the missing heartbeat that led to an eviction, or the end of CSS that followed."""
    return episode.event in _AROUND_AN_EVICTION and any(
        e.about in (episode.about, episode.writer) and abs(e.ago_s - episode.ago_s) <= _NEAR_S for e in evicted
    )


def _reported(cluster: Cluster, same: Sequence[LogEpisode], before: Sequence[LogEpisode]) -> Finding:
    """Return the finding for episodes of one kind; `before` are the missing heartbeats that led to an eviction."""
    last = min(same, key=lambda e: e.ago_s)
    nodes = list(dict.fromkeys(node for e in same for node in e.nodes))
    places = list(dict.fromkeys([last.about, *nodes])) if last.event is LogEvent.NODE_EVICTED else nodes
    texts = TEXTS[last.event]
    what = texts.sentence(same)
    if last.event is LogEvent.NODE_EVICTED:
        kind: Kind = kinds.STILL_OUT if last.is_member is False else kinds.EVICTED
    elif last.event is LogEvent.HEARTBEAT:
        kind = kinds.HEARTBEAT_NOW if last.is_recent else kinds.HEARTBEAT_PAST
    else:
        kind = kinds.OF_EVENT[last.event]
    times = sum(e.times for e in same)
    often = "" if times == 1 else f", {times} times in the last 24 h"
    return kind.finding(
        f"{what}{often}, {'at' if times == 1 else 'the last time at'} {clock(last.last_at)} ({ago(last.ago_s)})"
        f"{_NOW.get(last.is_member, '')}.",
        status=kind.status or recent_status(last),
        subject=f"{texts.subject}: {briefly([e.about or e.writer for e in same], 'place')}",
        data={
            "event": last.event.value,
            "times": times,
            "last_at": last.last_at.isoformat(),
            "ago_s": round(last.ago_s),
            "is_recent": last.is_recent,
            "percent_of_misscount": max(e.worst_percent for e in (*same, *before)) or None,
        },
        seen=some([line for e in (*before, *same) for line in e.lines], 8),
        next=texts.next(same),
        evidence=[(node, _TOPIC) for node in nodes],
        nodes=places if last.event in (LogEvent.NODE_EVICTED, LogEvent.HEARTBEAT) else nodes,
        observed=episodes_observed(cluster, kind.code, (*before, *same)),
    )


def _is_read(log: AlertLog) -> bool:
    return not isinstance(log.lines, Unknown)


def _not_understood(lines: Sequence[Reading]) -> Finding:
    nodes = list(dict.fromkeys(line.node for line in lines))
    return kinds.NOT_UNDERSTOOD.finding(
        f"racwire does not understand {counted(len(lines), 'line')} in the logs of {named(nodes, 'node')}.",
        subject=f"{briefly(nodes, 'node')}: not understood",
        data={"lines": len(lines)},
        seen=some([line.line for line in lines]),
        evidence=[(node, _TOPIC) for node in nodes],
        nodes=nodes,
    )


def _quiet(setups: Sequence[NodeSetup], read: Sequence[str], read_lines: Sequence[Reading]) -> Finding:
    logs = [
        log
        for s in setups
        if isinstance(s.logs, NodeLogs)
        for log in s.logs.logs
        if _is_read(log) and not log.kind.is_trace
    ]
    lines = [line for log in logs for line in log_lines(log)]
    where = f"In {counted(len(logs), 'alert log')} of {named(read, 'node')}, racwire"
    nothing = f"{where} found none of the messages on its list in the last 24 h."
    harmless = (
        f"{where} read {counted(len(lines), 'line')} with messages on its list in the last 24 h; they report no "
        f"trouble of the interconnect.{_orders(read_lines)}"
    )
    return kinds.QUIET.finding(
        harmless if lines else nothing,
        subject=f"{counted(len(logs), 'log')} searched",
        seen=some([*(log.path for log in logs), *(line.text for line in lines)]),
        evidence=[(node, _TOPIC) for node in read],
        nodes=read,
        observed=read_on(kinds.QUIET.code, read),
    )


def _orders(lines: Sequence[Reading]) -> str:
    """The nodes and instances that were stopped by order, with the last time of each."""
    last = {line.about: line.at for line in sorted(lines, key=lambda line: line.at) if line.role is LineRole.ORDER}
    stops = [f"{name} at {clock(at)}" for name, at in last.items() if name]
    return f" Shut down by order: {listed(stops)}." if stops else ""


def _transports(setups: Sequence[NodeSetup]) -> Iterator[Finding]:
    """Yield a finding for each database whose instances logged the transport that they chose."""
    chosen = transports(setups)
    for same in alike(chosen, lambda key: key[0]):
        if len(same) < 2:
            continue
        different = {chosen[key][0] for key in same}
        nodes = list(dict.fromkeys(chosen[key][1] for key in same))
        seen = some([f"{instance}: {chosen[database, instance][0]}" for database, instance in same])
        instances = named([instance for _, instance in same], "instance")
        evidence = [(node, _TOPIC) for node in nodes]
        if len(different) == 1:
            yield kinds.IPC_SAME.finding(
                f"{instances} chose the same transport at their start: {different.pop()}.",
                subject=same[0][0], seen=seen, evidence=evidence,
                observed=read_on(kinds.IPC_SAME.code, nodes),
            )  # fmt: skip
            continue
        yield kinds.IPC_DIFFERS.finding(
            f"{instances} chose different transports at their start: {listed(sorted(different))}.",
            subject=f"{same[0][0]}: {len(different)} transports",
            data={"transports": len(different)},
            seen=seen,
            expected=("The same transport for all instances",),
            next=[
                NextStep(
                    "Display the transport that each home is linked with, and link all homes alike.",
                    ("$ORACLE_HOME/bin/skgxpinfo",),
                    f"the owner of the database's home on {listed(nodes)}",
                )
            ],
            evidence=evidence,
            nodes=nodes,
            observed=[state("transport", chosen[key][1], value=chosen[key][0]) for key in same],
        )


def _unread(setups: Sequence[NodeSetup]) -> Iterator[Finding]:
    """Yield a finding for logs that were not read: UNKNOWN for want of a right or of time, else SKIPPED."""
    for setup in setups:
        logs = setup.logs
        evidence = [(setup.name, _TOPIC)]
        if logs is None:
            continue
        if isinstance(logs, Unknown):
            yield kinds.NOT_FOUND.finding(
                f"The alert logs of {setup.name} were not read: {logs.reason}.",
                subject=f"{setup.name}: not read", evidence=evidence, nodes=[setup.name],
            )  # fmt: skip
            continue
        missing = list(_missing(setup, logs))
        refused = [u for log in logs.logs if isinstance(u := log.lines, Unknown) and _matters(setup, log)]
        if logs.closed and missing:
            right = MissingRight(f"list {logs.closed[0]} and read the logs in it, as the Grid owner or root")
            refused.append(Unknown(f"this user may not list {logs.closed[0]}", right))
        if refused or logs.cut:
            why = "; ".join(dict.fromkeys((*(u.reason for u in refused[:2]), *([logs.cut] if logs.cut else []))))
            yield kinds.NOT_READ.finding(
                f"Alert logs of {setup.name} could not be read: {why}.",
                subject=f"{setup.name}: not read", seen=some([u.reason for u in refused]),
                next=[_by_hand(setup.name)], evidence=evidence, nodes=[setup.name], lacks=refused,
            )  # fmt: skip
        elif missing:
            places = listed(logs.looked_in) or "no ORACLE_BASE that olr.loc, oratab and orabasetab name"
            yield kinds.NOT_FOUND.finding(
                f"racwire found no alert log of {listed(missing)} on {setup.name}; it searched {places}.",
                subject=f"{setup.name}: not found", evidence=evidence, nodes=[setup.name], next=[_by_hand(setup.name)],
            )  # fmt: skip


def _by_hand(node: str) -> NextStep:
    return NextStep(
        "Find the log of a database by its own view, and search it.",
        ("SELECT value FROM v$diag_info WHERE name = 'Diag Trace';",),
        f"the owner of the database's home on {node}",
    )


def _missing(setup: NodeSetup, logs: NodeLogs) -> Iterator[str]:
    """Yield what runs on a node and has no readable log: Clusterware, and the instances."""
    found = {(log.kind, log.owner) for log in logs.logs if _is_read(log)}
    if not isinstance(setup.daemons, Unknown) and setup.daemons and LogKind.CLUSTERWARE not in {k for k, _ in found}:
        yield "Clusterware"
    running: Iterable[str] = () if isinstance(setup.instances, Unknown) else setup.instances
    yield from (name for name in running if name not in {owner for _, owner in found})


def _matters(setup: NodeSetup, log: AlertLog) -> bool:
    return not log.kind.is_of_instance or runs(setup, log.owner)
