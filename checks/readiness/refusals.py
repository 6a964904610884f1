"""The sources that could not be read, from the facts; and the checks that are UNKNOWN for that reason. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from checks.model.facts import (
    Activity,
    ActivityGap,
    Cluster,
    Clusterware,
    CounterChanges,
    Database,
    NodeSetup,
    NotGathered,
    Unknown,
    UnreadNode,
)
from checks.model.finding import Finding, Remedy, Status
from checks.run.engine_findings import INTERRUPTED, NOT_GATHERED
from checks.sources import grid_commands


class Topic(StrEnum):
    """The part of the page to which a refusal belongs."""

    USER = "user"
    GRID_HOME = "grid home"
    NODES = "nodes"
    READABLE = "readable"
    DATABASE = "database"
    LICENCE = "licence"
    CLOCKS = "clocks"
    OTHER = "other"


class Refusal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A source that could not be read."""

    topic: Topic
    source: str
    """The command, file, view or node."""
    reason: str
    """One sentence or more, often with the remedy."""
    nodes: tuple[str, ...] = ()
    next: tuple[Remedy, ...] = ()
    checks: tuple[str, ...] = ()
    """The checks that are UNKNOWN for this reason, in part or in full, sorted."""


_TOOLS = {
    "members": grid_commands.MEMBERS,
    "local_node": grid_commands.LOCAL_NODE,
    "cluster_name": grid_commands.CLUSTER_NAME,
    "configuration": grid_commands.CONFIGURATION,
    "listed": grid_commands.LISTED,
    "version": grid_commands.VERSION,
    "services": grid_commands.SERVICES,
    "haip": grid_commands.HAIP,
    "misscount_s": grid_commands.MISSCOUNT,
}
_SETUP = {
    "daemons": "processes",
    "instances": "processes",
    "grid_home": "Grid home",
    "autostart": "crsctl config crs",
    "services": "crsctl check crs",
    "kept": "boot configuration",
    "lldp": "LLDP (switch ports)",
}
"""The fields of a node's setup that can be Unknown, and their sources. The Grid tools answer for this node above."""
_GROUPS = {
    "nodes": Topic.NODES,
    "networks": Topic.READABLE,
    "setups": Topic.READABLE,
    "counters": Topic.READABLE,
    "activity": Topic.DATABASE,
    "history": Topic.LICENCE,
}
"""The groups of facts that can be Unknown as a whole, without those that have an item of their own."""
_NO_REASON = frozenset({"not read", "not printed", ""})
_GRANT = re.compile(r"GRANT [^;]+;")
_QUOTED = re.compile(r"`([^`]+)`")
_BEFORE_GRANTS = " Have a DBA run: "
_NAMES_A_RIGHT = re.compile(r"\b(root|owner|grants?)\b")
_RERUN = re.compile(r"racwire check( [a-z-]+)?")


def refusals(cluster: Cluster, findings: Iterable[Finding]) -> tuple[Refusal, ...]:
    """Return every source that could not be read, each reason once, with the checks that it makes UNKNOWN.

    An UNKNOWN finding belongs to each refusal whose reason it quotes, and to a refusal of its own where it quotes none.
    """
    found = list(_merged(r for r in _of_facts(cluster) if r.reason not in _NO_REASON))
    quoting: dict[int, list[Finding]] = {place: [] for place in range(len(found))}
    others: list[Refusal] = []
    for finding in findings:
        quoted = [place for place, refusal in enumerate(found) if _quotes(finding, refusal.reason)]
        for place in quoted:
            quoting[place].append(finding)
        if not quoted:
            others.append(_unexplained(finding))
    explained = [_with_checks(refusal, quoting[place]) for place, refusal in enumerate(found)]
    return (*explained, *_merged(others))


def expected_unknown(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that will be UNKNOWN in a check, too: not those about facts that only a check gathers."""
    return tuple(
        finding
        for finding in findings
        if finding.status is Status.UNKNOWN
        and finding.code != INTERRUPTED.code
        and not (finding.code == NOT_GATHERED.code and finding.title.endswith(f": {NotGathered().reason}."))
    )


# --- from the facts ---------------------------------------------------------------------------------------------------


def _of_facts(cluster: Cluster) -> Iterator[Refusal]:
    yield from _of_clusterware(cluster)
    yield from _of_nodes(cluster)
    yield from _of_setups(cluster)
    if isinstance(cluster.counters, CounterChanges):
        for node, unknown in cluster.counters.unread.items():
            yield _refusal(Topic.READABLE, "kernel counters", unknown, node)
    yield from _of_database(cluster)
    if isinstance(cluster.activity, Activity):
        yield from _of_activity(cluster.activity)
    for group, topic in _GROUPS.items():
        value = getattr(cluster, group)
        if isinstance(value, Unknown) and not isinstance(value, NotGathered):
            yield _refusal(topic, group, value)


def _of_clusterware(cluster: Cluster) -> Iterator[Refusal]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware):
        for name, tool in _TOOLS.items():
            value = getattr(facts, name)
            if isinstance(value, Unknown):
                yield _refusal(Topic.READABLE, tool.command, value, cluster.local_node)
    elif not isinstance(facts, NotGathered) and not cluster.named_networks:
        yield _refusal(Topic.GRID_HOME, "Grid home", facts, cluster.local_node)


def _of_nodes(cluster: Cluster) -> Iterator[Refusal]:
    for unread in cluster.unread_nodes():
        source = "kernel" if unread.name == cluster.local_node else f"ssh {unread.name}"
        yield _refusal(Topic.NODES, source, Unknown(unread.reason), unread.name)
    for node in cluster.read_nodes():
        if isinstance(node.counters, Unknown):
            yield _refusal(Topic.READABLE, "kernel counters", node.counters, node.name)
        for limit in node.limits:
            yield _refusal(Topic.READABLE, "kernel", Unknown(limit), node.name)


def _of_setups(cluster: Cluster) -> Iterator[Refusal]:
    unread = {node.name for node in cluster.unread_nodes()}
    for setup in () if isinstance(cluster.setups, Unknown) else cluster.setups:
        if isinstance(setup, UnreadNode):
            if setup.name not in unread:
                yield _refusal(Topic.READABLE, "setup of the node", Unknown(setup.reason), setup.name)
            continue
        for name, source in _SETUP.items():
            value = getattr(setup, name)
            if isinstance(value, Unknown) and not _is_of_tools(setup, cluster, name):
                yield _refusal(Topic.READABLE, source, value, setup.name)
        for limit in setup.limits:
            yield _refusal(Topic.READABLE, "boot configuration", Unknown(limit), setup.name)


def _is_of_tools(setup: NodeSetup, cluster: Cluster, name: str) -> bool:
    """Return whether the Grid tools have answered or refused this already on this node."""
    return name in ("services", "grid_home") and setup.name == cluster.local_node


def _of_database(cluster: Cluster) -> Iterator[Refusal]:
    database = cluster.database
    if isinstance(database, Unknown):
        if not isinstance(database, NotGathered):
            yield _refusal(Topic.DATABASE, "login", database)
    elif isinstance(database, Database):
        for instance in database.unasked:
            yield _refusal(Topic.DATABASE, instance.name, Unknown(instance.reason))
        for name, view in (("interconnects", "GV$CLUSTER_INTERCONNECTS"), ("parameters", "GV$PARAMETER")):
            value = getattr(database, name)
            if isinstance(value, Unknown):
                yield _refusal(Topic.READABLE, view, value)


def _of_activity(activity: Activity) -> Iterator[Refusal]:
    for view in activity.unread:
        yield _refusal(Topic.READABLE, view.view, Unknown(view.reason))
    for name, own_view in (("transfers", "GV$INSTANCE_CACHE_TRANSFER"), ("pings", "GV$INSTANCE_PING")):
        value = getattr(activity, name)
        if isinstance(value, Unknown):
            yield _refusal(Topic.READABLE, own_view, value)
    for instance in activity.instances:
        if isinstance(instance, ActivityGap):
            yield _refusal(Topic.READABLE, "GV$SYSSTAT", Unknown(instance.reason))


def _refusal(topic: Topic, source: str, unknown: Unknown, *nodes: str) -> Refusal:
    reason = without_grants(unknown.reason)
    commands = unknown.commands or tuple(_GRANT.findall(unknown.reason))
    steps = (Remedy("Have a DBA grant this, or run the script of `racwire grants`.", commands),) if commands else ()
    return Refusal(topic=topic, source=source, reason=reason, nodes=nodes, next=steps)


def without_grants(reason: str) -> str:
    """Return a reason without the GRANT commands at its end, which are a step of their own."""
    return reason.partition(_BEFORE_GRANTS)[0].strip()


def _merged(found: Iterable[Refusal]) -> Iterator[Refusal]:
    """Yield each reason once: with the topic and the source of its first refusal, and with all nodes and checks."""
    by_reason: dict[str, list[Refusal]] = {}
    for refusal in found:
        by_reason.setdefault(refusal.reason, []).append(refusal)
    for first, *others in by_reason.values():
        every = (first, *others)
        yield msgspec.structs.replace(
            first,
            nodes=tuple(dict.fromkeys(node for r in every for node in r.nodes)),
            checks=tuple(sorted({check for r in every for check in r.checks})),
        )


# --- from the findings ------------------------------------------------------------------------------------------------


def _quotes(finding: Finding, reason: str) -> bool:
    """Return whether a finding quotes a reason: in full, or its first sentence, with or without its capital."""
    text = "\n".join((finding.title, *finding.seen)).casefold()
    first = re.sub(r" \([^()]*\)", "", reason).partition(". ")[0].rstrip(".")
    return any(part.casefold() in text for part in (reason, first) if part)


def _with_checks(refusal: Refusal, findings: list[Finding]) -> Refusal:
    checks = tuple(sorted({finding.check for finding in findings}))
    steps = refusal.next or (() if _QUOTED.search(refusal.reason) else _first_step(findings))
    return msgspec.structs.replace(refusal, checks=checks, next=steps)


def _first_step(findings: list[Finding]) -> tuple[Remedy, ...]:
    """Return one step of these findings: one that names a right, else one that does more than run the check again."""
    own_first = sorted(findings, key=lambda finding: finding.code == NOT_GATHERED.code)
    steps = [step for finding in own_first for step in finding.next if step.commands and not step.is_change]
    by_right = [step for step in steps if _NAMES_A_RIGHT.search(step.text)]
    others = [step for step in steps if not all(_RERUN.fullmatch(command) for command in step.commands)]
    return (*by_right, *others)[:1]


def _unexplained(finding: Finding) -> Refusal:
    return Refusal(
        topic=Topic.OTHER,
        source=finding.check,
        reason=finding.title,
        nodes=finding.nodes,
        next=tuple(step for step in finding.next if not step.is_change)[:1],
        checks=(finding.check,),
    )
