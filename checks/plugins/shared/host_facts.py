"""The setup of the nodes outside Clusterware, as the checks use it, and their findings where it could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from checks.model.check import Kind
from checks.model.facts import Cluster, HostSetup, Unknown, Unread, UnreadNode
from checks.model.finding import Finding, Status, check_again
from checks.plugins.shared.grouping import alike, briefly, named, topics_of

T = TypeVar("T")
HOST_TOPIC = "host"
LMS_THREADS = "ps -eLo pid,tid,cls,rtprio,pcpu,args | grep -E '_(lms|lgwr|vktm)'"
"""Displays the scheduling class of LMS, LGWR and VKTM, which run as threads from 18c on: one of them in RR is right."""


def hosts_of(cluster: Cluster) -> dict[str, HostSetup]:
    """Return the setup of each node that was read, by node."""
    return {s.name: s.host for s in cluster.read_setups() if isinstance(s.host, HostSetup)}


def parts_of(cluster: Cluster, part: Callable[[HostSetup], T | Unknown]) -> tuple[dict[str, T], dict[str, Unread]]:
    """Return one part of the setup by node, and the nodes where it is not known.

    Nodes in files of versions that did not read it are in neither.
    """
    known: dict[str, T] = {}
    unknown: dict[str, Unread] = {}
    for setup in () if isinstance(cluster.setups, Unknown) else cluster.setups:
        if isinstance(setup, UnreadNode):
            unknown[setup.name] = setup
        elif isinstance(setup.host, HostSetup):
            value = part(setup.host)
            if isinstance(value, Unknown):
                unknown[setup.name] = value
            else:
                known[setup.name] = value
    return known, unknown


def not_known_findings(
    kind: Kind, title_subject: str, unknown: Mapping[str, Unread], check: str, topic: str = HOST_TOPIC, what: str = ""
) -> Iterator[Finding]:
    """Yield one UNKNOWN finding for each reason; `title_subject` has a place for the nodes: `The bonds of {} are`.

    `topic` is that of the journal where the node was read, and `what` is not known, for the list: `neighbours`.
    """
    for same in alike(sorted(unknown), lambda node: unknown[node].reason):
        fact = unknown[same[0]]
        is_unread = isinstance(fact, UnreadNode)
        because = ", since racwire could not read the node" if is_unread and len(same) == 1 else ""
        yield kind.finding(
            f"{title_subject.format(named(same, 'node'))} not known{because}.",
            subject=f"{briefly(same, 'node')}: {f'{what} ' if what else ''}not known",
            seen=(fact.reason,),
            next=[check_again(check)],
            evidence=topics_of(same, "ssh" if is_unread else topic),
            nodes=same,
            lacks=[fact],
        )


def skipped(kind: Kind, title: str, short: str, cluster: Cluster | None = None) -> Finding:
    """Return the finding of a check that has nothing to judge: the reason as its title, and short as its subject."""
    evidence = topics_of(hosts_of(cluster) if cluster else (), HOST_TOPIC)
    return kind.finding(title, status=Status.SKIPPED, subject=short, evidence=evidence)


def skipped_without_hosts(kind: Kind) -> Finding:
    """Return the finding of a check whose facts have no setup of any node, as in older saved files."""
    title = "These facts have no setup of a node outside Clusterware: racwire 0.1.0 did not read it."
    return skipped(kind, title, "not in the file")
