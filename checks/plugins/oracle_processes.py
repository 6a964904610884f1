"""Do the processes that serve blocks have real-time priority?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.model.check import PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Clusterware, HostSetup, ScheduledProcess, Unknown, release
from checks.model.finding import Finding, NextStep
from checks.model.known_instances import database_of
from checks.model.shell_command import for_each
from checks.model.wording import listed
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import (
    HOST_TOPIC,
    LMS_THREADS,
    hosts_of,
    not_known_findings,
    parts_of,
    skipped,
    skipped_without_hosts,
)
from checks.rules.host_limits import slow_processes
from checks.rules.observed.states import read_on, states

_SOURCES = (
    "MOS 563566.1, cause 19",
    "Oracle RAC product management, Noteworthy changes in Oracle RAC 18c and 19c (LMS as threads)",
    "sched(7)",
    "proc(5), fields 40 and 41 of /proc/PID/task/TID/stat",
)
_WHY = (
    "On a busy node a process without real-time priority waits for a CPU like any other. While LMS waits, requests "
    "for blocks wait with it, and its receive buffer overflows. By default the instance gives it to LMS and VKTM "
    "(_high_priority_processes, _highest_priority_processes); from 18c on LMS runs as threads, of which one has it."
)
RIGHT = PassKind("IC-PROC-001", "The processes that serve blocks have real-time priority")
SLOW = WarnKind("IC-PROC-002", "A process that serves blocks runs without real-time priority", _WHY, _SOURCES)
ORADISM = WarnKind(
    "IC-PROC-004",
    "The program oradism does not run as root",
    "oradism raises the priority of LMS, LGWR and VKTM when an instance starts. root.sh makes it owned by root, with "
    "the setuid bit; a patch or a copy of the home can lose that.",
    _SOURCES,
)
NOT_KNOWN = UnknownKind("IC-PROC-005", "The priority of the processes that serve blocks is not known")
_CLASSES = {0: "time sharing", 1: "SCHED_FIFO", 2: "SCHED_RR", 3: "batch", 5: "idle"}


@check(
    "oracle-processes",
    question="Do the processes that serve blocks have real-time priority?",
    needs=("setups",),
    uses=("clusterware", "nodes", "database"),
    about=(ConditionKind.INSTANCE,),
    kinds=(RIGHT, SLOW, ORADISM, NOT_KNOWN),
)
def oracle_processes(cluster: Cluster) -> Iterator[Finding]:
    """Reads the scheduling class of LMS and VKTM of every instance on the nodes, and the rights of oradism.

    Each of them without real-time priority is a warning. From 18c on a process has it where one of its threads has;
    up to 12.2 its first thread is the process. An oradism that root does not own, or without the setuid bit, is a
    warning.
    """
    processes, unknown = parts_of(cluster, lambda host: host.processes)
    hosts = hosts_of(cluster)
    found = list(_instances(cluster, processes))
    slow = [one for one in found if one.slow]
    for same in alike(slow, lambda one: _families(one.slow)):
        yield _slow(same, hosts)
    warned = {one.node for one in slow}
    for node, host in hosts.items():
        bad = [home for home in host.oradism if not home.can_raise]
        if bad and node not in warned:
            yield _oradism(node, host)
            warned.add(node)
    fine = {n: fast for n, own in processes.items() if n not in warned and (fast := [p for p in own if p.is_real_time])}
    for nodes in alike(sorted(fine), lambda node: _families(fine[node])):
        yield _right(nodes, [p for node in nodes for p in fine[node]], processes)
    yield from not_known_findings(NOT_KNOWN, "The priority of Oracle's processes on {} is", unknown, "oracle-processes")
    if not unknown and not warned and not fine:
        reason = "racwire read no thread of an LMS or VKTM on the nodes, so there is no priority to judge."
        yield skipped(RIGHT, reason, "no LMS seen", cluster) if hosts else skipped_without_hosts(RIGHT)


def _right(
    nodes: Sequence[str], fast: Sequence[ScheduledProcess], processes: Mapping[str, Sequence[ScheduledProcess]]
) -> Finding:
    return RIGHT.finding(
        f"{listed(_families(fast))} of {named(sorted({p.instance for p in fast}), 'instance')} on "
        f"{named(nodes, 'node')} {'has' if len(fast) == 1 else 'have'} real-time priority.",
        subject=f"{briefly(nodes, 'node')}: priority",
        seen=some([_line(node, processes[node]) for node in nodes]),
        evidence=[(node, HOST_TOPIC) for node in nodes],
        observed=read_on(RIGHT.code, nodes),
    )


def _release(cluster: Cluster, instance: str) -> tuple[int, ...]:
    """Return the release of an instance; empty where it is not known."""
    if instance.startswith("+"):
        facts = cluster.clusterware
        version = facts.version if isinstance(facts, Clusterware) else None
        return () if version is None or isinstance(version, Unknown) else release(version.version)
    database = database_of(cluster)
    own = next((i for i in database.instances if i.name == instance), None) if database else None
    return release(own.version) if own else ()


@dataclass(frozen=True)
class _Instance:
    """The processes of one instance on a node."""

    node: str
    name: str
    own: tuple[ScheduledProcess, ...]
    slow: tuple[ScheduledProcess, ...]
    """Those that lack real-time priority."""


def _instances(cluster: Cluster, processes: Mapping[str, Sequence[ScheduledProcess]]) -> Iterator[_Instance]:
    for node, found in processes.items():
        for name in dict.fromkeys(p.instance for p in found):
            own = tuple(p for p in found if p.instance == name)
            yield _Instance(node, name, own, slow_processes(own, _release(cluster, name)))


def _slow(same: Sequence[_Instance], hosts: Mapping[str, HostSetup]) -> Finding:
    nodes, number = list(dict.fromkeys(one.node for one in same)), sum(len(one.slow) for one in same)
    names, where = listed(_families(same[0].slow)), f"root on {named(nodes, 'node')}"
    bad = [(node, home) for node in nodes for home in hosts[node].oradism if not home.can_raise]
    return SLOW.finding(
        f"{names} of {named((one.name for one in same), 'instance')} on {named(nodes, 'node')} "
        f"{'runs' if number == 1 else 'run'} without real-time priority.",
        subject=f"{briefly(nodes, 'node')}: {names}",
        data={"processes": number},
        seen=(
            *some([_line(one.node, one.own) for one in same]),
            *some([f"{node}: {home.path} has owner {home.owner}, mode {home.mode}" for node, home in bad]),
        ),
        expected=("SCHED_RR for VKTM, and for one thread of each LMS",),
        next=[
            NextStep(
                "Display which processes the instance wants to raise; by default these are LMS and VKTM.",
                (
                    "SELECT ksppinm, ksppstvl FROM x$ksppi JOIN x$ksppcv USING (indx) WHERE ksppinm LIKE "
                    "'\\_high%priority\\_processes' ESCAPE '\\'",
                ),
                "SYSDBA",
            ),
            NextStep(
                "Check the rights of oradism in the home of the instance: owner root, mode -rwsr-x---.",
                ("ls -l $ORACLE_HOME/bin/oradism", LMS_THREADS),
                f"any user on {named(nodes, 'node')}",
            ),
            NextStep(
                "If they are wrong, correct them and restart the instance. If they are right, ask whether a control "
                "group forbids real-time priority (cpu.rt_runtime_us of 0).",
                ("chown root $ORACLE_HOME/bin/oradism", "chmod 4750 $ORACLE_HOME/bin/oradism"),
                where,
                is_change=True,
            ),
        ],
        evidence=[(node, HOST_TOPIC) for node in nodes],
        nodes=nodes,
        extent=(number, "processes"),
        observed=states(SLOW.code, nodes),
    )


def _oradism(node: str, host: HostSetup) -> Finding:
    bad = [home for home in host.oradism if not home.can_raise]
    return ORADISM.finding(
        f"{listed(home.path for home in bad)} of {node} {'does' if len(bad) == 1 else 'do'} not run as root.",
        subject=f"{node}: oradism",
        data={"homes": len(bad)},
        seen=[f"{node}: {home.path} has owner {home.owner}, mode {home.mode}" for home in bad],
        expected=("Owner root, mode 4750",),
        next=[
            NextStep(
                "Display the rights.", for_each("ls -l {file}", file=(home.path for home in bad)), f"any user on {node}"
            ),
            NextStep(
                "Correct them.",
                for_each("chown root {file}", "chmod 4750 {file}", file=(home.path for home in bad)),
                f"root on {node}",
                is_change=True,
            ),
        ],
        evidence=[(node, HOST_TOPIC)],
        nodes=[node],
        extent=(len(bad), "homes"),
    )


def _families(processes: Sequence[ScheduledProcess]) -> tuple[str, ...]:
    """Return `LMS` for LMS0 to LMS5 and LM36, and the other names."""
    return tuple(sorted({re.sub(r"^LM[S1-9].*", "LMS", p.name) for p in processes}))


def _line(node: str, processes: Sequence[ScheduledProcess]) -> str:
    groups = alike(processes, lambda p: (p.instance, p.policy, p.priority, p.threads, p.real_time_threads))
    parts = [
        f"{', '.join(p.name for p in group)} of {group[0].instance} {_CLASSES.get(group[0].policy, 'another class')}"
        + (f" {group[0].priority}" if group[0].priority else "")
        + (f", {group[0].real_time_threads} of {group[0].threads} threads real-time" if group[0].threads > 1 else "")
        for group in groups
    ]
    return f"{node}: {'; '.join(parts)}"
