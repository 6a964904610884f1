"""The finding for an instance that ended: which process ended it, with which error, and what the same minutes show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from checks.model.check import Kind
from checks.model.facts import Cluster
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import counted, lasting, listed
from checks.plugins.log_messages import log_kinds as kinds
from checks.plugins.shared.grouping import some
from checks.rules.log_events.episodes import LogEpisode
from checks.rules.log_events.instance_ends import ERROR_SAYS, InstanceEnd
from checks.rules.log_events.log_message import LogEvent
from checks.rules.observed.heartbeats import episodes_observed
from checks.rules.observed.states import states

_WRITTEN_MEANWHILE_S = 120.0
"""Seconds by which a line can be later than the clock that was read before it."""
AROUND = timedelta(minutes=5)
"""Time before and after an event whose logs are worth reading."""
_SHOWN = {
    LogEvent.HEARTBEAT: "a missing network heartbeat",
    LogEvent.NO_NETWORK_HEARTBEAT: "a disk heartbeat without a network heartbeat",
    LogEvent.SEND_TIMEOUT: "an IPC send timeout",
    LogEvent.NO_CONNECTION: "no connection to the other instances",
    LogEvent.INSTANCE_EVICTED: "the eviction of an instance",
    LogEvent.INTERFACE_LOST: "a lost address or NIC",
    LogEvent.NO_BUFFERS: "no buffer space for messages",
    LogEvent.TOO_LONG: "a message that was too long",
    LogEvent.SEND_FAILED: "a message that the kernel refused",
}


def clock(at: datetime) -> str:
    """Return the time of a line, as its log has it."""
    return f"{at:%Y-%m-%d %H:%M:%S}"


def ago(seconds: float) -> str:
    """Return how long before the reading of the log a line was written."""
    if seconds < -_WRITTEN_MEANWHILE_S:
        return "ahead of the node's clock: another time zone"
    return f"{lasting(max(0.0, seconds))} ago"


def instance_ended(cluster: Cluster, end: InstanceEnd, with_node: Sequence[LogEpisode]) -> Finding:
    """Return the finding for the ends of an instance with one error; `with_node` are the evictions of its node with
    which it ended. What lost the heartbeats of the node ended the instance, too."""
    ended: Kind = kinds.INSTANCE_ENDED_NETWORK if end.shown else kinds.INSTANCE_ENDED
    kind = kinds.INSTANCE_DOWN if end.is_down else ended
    return kind.finding(
        f"{end.instance} on {end.node} ended {_how(end)}{_often(end)} {clock(end.at)} ({ago(end.ago_s)}); {_since(end)}"
        f"{_why(end, with_node)}.",
        subject=f"{end.instance} ended{'' if end.error is None else f', error {end.error}'}",
        data={
            "instance": end.instance,
            "process": end.process or None,
            "error": end.error,
            "times": end.times,
            "last_at": end.at.isoformat(),
            "ago_s": round(end.ago_s),
            "is_recent": end.is_recent,
            "interconnect": listed(end.shown) or None,
        },
        seen=some([*end.near, *end.lines], 12),
        next=_next(end),
        evidence=[(end.node, "alert logs")],
        nodes=[end.node],
        observed=episodes_observed(cluster, kind.code, with_node) or states(kind.code, (end.node,)),
    )


def _how(end: InstanceEnd) -> str:
    meant = ERROR_SAYS.get(end.error, "") if end.error is not None else ""
    how = "without an error in its log" if end.error is None else f"with error {end.error}"
    how += f" ({meant})" if meant else f" ({end.died} had died)" if end.died else ""
    return f"{how}, by {end.process}" if end.process else how


def _often(end: InstanceEnd) -> str:
    return ", at" if end.times == 1 else f", {counted(end.times, 'time')} in the last 24 h, the last time at"


def _since(end: InstanceEnd) -> str:
    if end.is_down:
        return "it does not run now; "
    return f"it started again at {clock(end.started_at)}; " if end.started_at else ""


def _why(end: InstanceEnd, with_node: Sequence[LogEpisode]) -> str:
    if with_node:
        return f"{end.node} was evicted from the cluster in the same minutes"
    if end.shown:
        return f"the logs show {listed(_SHOWN[event] for event in end.shown)} in the same minutes"
    return "why is not in this log"


def _next(end: InstanceEnd) -> list[NextStep]:
    begin, until = clock(end.at - AROUND), clock(end.at + AROUND)
    traces = NextStep(
        "Read the traces of LMON, LMD, LMS and PMON of that minute, and the alert logs of the other instances.",
        (shell("ls -lt {of}_lmon_*.trc {of}_lmd*_*.trc {of}_lms*_*.trc {of}_pmon_*.trc", of=end.instance),),
        f"the owner of the database's home on {end.node}, in the directory of its alert log",
    )
    system = NextStep(
        "Read the system log of those minutes: memory, CPU, links and storage.",
        (shell("journalctl --since {begin} --until {until}", begin=begin, until=until),),
        f"root on {end.node}",
    )
    paths = NextStep(
        "Test the private networks between all nodes, with packets of all sizes.", ("racwire check df-ping",)
    )
    return [paths, traces, system] if end.shown else [traces, system, paths]
