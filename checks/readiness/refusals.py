"""The sources that could not be read, from the facts; and the checks that are UNKNOWN for that reason. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from checks.model.facts import (
    Activity,
    ActivityGap,
    Cluster,
    Clusterware,
    CounterChanges,
    Database,
    MissingRight,
    NodeSetup,
    NotGathered,
    Unknown,
    UnreadNode,
)
from checks.model.finding import Finding, NextStep, Status, check_again, step_for
from checks.run.engine_findings import INTERRUPTED, NOT_GATHERED, is_not_gathered
from checks.sources.clusterware.clusterware_reader import FACTS


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
    """A source that could not be read, or several that need the same missing right."""

    topic: Topic
    source: str
    """The command, file, view or node."""
    others: tuple[str, ...] = ()
    """The other sources that need the same right, or cannot be read for the same reason."""
    reason: str
    """One sentence or more, often with the remedy."""
    right: MissingRight | None = None
    nodes: tuple[str, ...] = ()
    next: tuple[NextStep, ...] = ()
    checks: tuple[str, ...] = ()
    """The checks that are UNKNOWN for this reason, in part or in full, sorted."""


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
_NOT_YET = Unknown(NotGathered().reason)
_NO_REASON = frozenset({"not read", "not printed", ""})


def refusals(cluster: Cluster, findings: Iterable[Finding]) -> tuple[Refusal, ...]:
    """Return every source that could not be read, each reason and each right once, with the checks that are UNKNOWN.

    An UNKNOWN finding belongs to the refusals of the facts that it lacks, and to a refusal of its own where it lacks
    none of them.
    """
    found = [r for r in _of_facts(cluster) if r.reason not in _NO_REASON]
    reasons = {refusal.reason for refusal in found}
    lacking: dict[str, list[Finding]] = {}
    others: list[Refusal] = []
    for finding in findings:
        lacked = reasons.intersection(fact.reason for fact in finding.lacks)
        for reason in lacked:
            lacking.setdefault(reason, []).append(finding)
        if not lacked:
            others.append(_unexplained(finding))
    return tuple(_merged((*(_with_checks(refusal, lacking.get(refusal.reason, ())) for refusal in found), *others)))


def expected_unknown(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that will be UNKNOWN in a check, too: not those about facts that only a check gathers."""
    return tuple(
        finding
        for finding in findings
        if finding.status is Status.UNKNOWN
        and finding.code != INTERRUPTED.code
        and not (finding.code == NOT_GATHERED.code and _NOT_YET in finding.lacks)
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
    named: list[object] = [cluster.clusterware, cluster.database]
    if isinstance(cluster.clusterware, Clusterware):
        named.append(cluster.clusterware.configuration)
    for group, topic in _GROUPS.items():
        value = getattr(cluster, group)
        # A group that follows from a source above adds no source of its own.
        if isinstance(value, Unknown) and not isinstance(value, NotGathered) and value not in named:
            yield _refusal(topic, group, value)


def _of_clusterware(cluster: Cluster) -> Iterator[Refusal]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware):
        for name, (tool, _) in FACTS.items():
            value = getattr(facts, name)
            if isinstance(value, Unknown):
                yield _refusal(Topic.READABLE, tool.command, value, cluster.local_node)
    elif not isinstance(facts, NotGathered) and not cluster.named_networks:
        yield _refusal(Topic.GRID_HOME, "Grid home", facts, cluster.local_node)


def _of_nodes(cluster: Cluster) -> Iterator[Refusal]:
    for unread in cluster.unread_nodes():
        source = "kernel" if unread.name == cluster.local_node else f"ssh {unread.name}"
        yield _refusal(Topic.NODES, source, Unknown(unread.reason, unread.right), unread.name)
    for node in cluster.read_nodes():
        if isinstance(node.counters, Unknown):
            yield _refusal(Topic.READABLE, "kernel counters", node.counters, node.name)
        for part in node.unread:
            yield _refusal(Topic.READABLE, "kernel settings", part, node.name)


def _of_setups(cluster: Cluster) -> Iterator[Refusal]:
    unread = {node.name for node in cluster.unread_nodes()}
    for setup in () if isinstance(cluster.setups, Unknown) else cluster.setups:
        if isinstance(setup, UnreadNode):
            if setup.name not in unread:
                yield _refusal(Topic.READABLE, "setup of the node", Unknown(setup.reason, setup.right), setup.name)
            continue
        for name, source in _SETUP.items():
            value = getattr(setup, name)
            if isinstance(value, Unknown) and not _is_of_tools(setup, cluster, name):
                yield _refusal(Topic.READABLE, source, value, setup.name)
        for part in setup.unread:
            yield _refusal(Topic.READABLE, "boot configuration", part, setup.name)
        for kept in () if isinstance(setup.kept, Unknown) else setup.kept:
            if isinstance(kept.mtu, Unknown) and kept.mtu.right:
                yield _refusal(Topic.READABLE, "boot configuration", kept.mtu, setup.name)


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
            yield _refusal(Topic.DATABASE, instance.name, Unknown(instance.reason, instance.right))
        for name, view in (("interconnects", "GV$CLUSTER_INTERCONNECTS"), ("parameters", "GV$PARAMETER")):
            value = getattr(database, name)
            if isinstance(value, Unknown):
                yield _refusal(Topic.READABLE, view, value)


def _of_activity(activity: Activity) -> Iterator[Refusal]:
    for view in activity.unread:
        yield _refusal(Topic.READABLE, view.view, Unknown(view.reason, view.right))
    for name, own_view in (("transfers", "GV$INSTANCE_CACHE_TRANSFER"), ("pings", "GV$INSTANCE_PING")):
        value = getattr(activity, name)
        if isinstance(value, Unknown):
            yield _refusal(Topic.READABLE, own_view, value)
    for instance in activity.instances:
        if isinstance(instance, ActivityGap):
            yield _refusal(Topic.READABLE, "GV$SYSSTAT", Unknown(instance.reason, instance.right))


def _refusal(topic: Topic, source: str, unknown: Unknown, *nodes: str) -> Refusal:
    steps = (step_for(unknown.right),) if unknown.right else ()
    return Refusal(topic=topic, source=source, reason=unknown.reason, right=unknown.right, nodes=nodes, next=steps)


def _merged(found: Iterable[Refusal]) -> Iterator[Refusal]:
    """Yield each missing right and each reason once: as its first refusal, with all sources, nodes and checks."""
    alike: dict[object, list[Refusal]] = {}
    for refusal in found:
        alike.setdefault(refusal.right or refusal.reason, []).append(refusal)
    for first, *others in alike.values():
        every = (first, *others)
        yield msgspec.structs.replace(
            first,
            others=tuple(dict.fromkeys(r.source for r in others if r.source != first.source)),
            nodes=tuple(dict.fromkeys(node for r in every for node in r.nodes)),
            checks=tuple(sorted({check for r in every for check in r.checks})),
        )


# --- from the findings ------------------------------------------------------------------------------------------------


def _with_checks(refusal: Refusal, findings: Sequence[Finding]) -> Refusal:
    checks = tuple(sorted({finding.check for finding in findings}))
    return msgspec.structs.replace(refusal, checks=checks, next=refusal.next or _first_step(findings))


def _first_step(findings: Sequence[Finding]) -> tuple[NextStep, ...]:
    """Return the first step of these findings that does more than run the check again."""
    own_first = sorted(findings, key=is_not_gathered)
    return tuple(
        step
        for finding in own_first
        for step in finding.next
        if step.commands and not step.is_change and step.commands != check_again(finding.check).commands
    )[:1]


def _unexplained(finding: Finding) -> Refusal:
    return Refusal(
        topic=Topic.OTHER,
        source=finding.check,
        reason=finding.title,
        nodes=finding.nodes,
        next=tuple(step for step in finding.next if not step.is_change)[:1],
        checks=(finding.check,),
    )
