"""Texts of findings about kernel counters: rates, and the nodes whose counters are not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from checks.model.check import Kind
from checks.model.facts import Cluster, Unknown, Unread
from checks.model.finding import Finding, Status, check_again
from checks.plugins.shared.grouping import briefly, named, some
from checks.plugins.shared.instance_text import first_sentence, percent
from checks.rules.node_counts import NodeCounts, without_counts

TOPIC = "counters over time"


def highest_rate(
    counts: Sequence[NodeCounts], number: Callable[[NodeCounts], int], noun: str
) -> tuple[float, str] | None:
    """Return the rate of the worst node in `noun` a second; None where no time passed."""
    rates = [number(c) / c.seconds for c in counts if c.seconds > 0]
    return (max(rates), f"{noun} a second") if rates else None


def unknown_nodes_findings(
    cluster: Cluster, kind: Kind, title_subject: str, check: str, unknown: Mapping[str, Unread] | None = None
) -> Iterator[Finding]:
    """Yield one UNKNOWN finding for all nodes whose counters are not known, with their reasons; and one where no node
    has counters.

    `title_subject` has a place for the nodes: `Whether {} can reassemble fragments`. `unknown`: those without counters
    and others; None for those without.
    """
    unknown = without_counts(cluster) if unknown is None else unknown
    if not unknown:
        if not isinstance(cluster.counters, Unknown) and not cluster.counters.nodes:
            yield kind.finding("The counters of no node could be read twice.", subject="no node")
        return
    nodes = sorted(unknown)
    reasons = list(dict.fromkeys(fact.reason for fact in unknown.values()))
    because = f": {first_sentence(reasons[0])}" if len(reasons) == 1 else "."
    unread = {n.name for n in cluster.unread_nodes()}
    if unread.issuperset(nodes):
        because = f", since racwire could not read the {'node' if len(nodes) == 1 else 'nodes'}."
    yield kind.finding(
        f"{title_subject.format(named(nodes, 'node'))} is not known{because}",
        subject=f"{briefly(nodes, 'node')}: not known",
        seen=some(reasons if len(reasons) == 1 else [f"{node}: {unknown[node].reason}" for node in nodes]),
        next=[check_again(check)],
        evidence=[(node, topic) for node in nodes for topic in (("ssh",) if node in unread else (TOPIC, "ssh"))],
        nodes=nodes,
        lacks=unknown.values(),
        extent=(len(nodes), "nodes"),
    )


def not_counted_finding(kind: Kind, title_subject: str, reasons: Mapping[str, Unread], subject: str) -> Finding:
    """Return one SKIPPED finding for all nodes or NICs whose kernel or driver does not count something."""
    names = sorted(reasons)
    each = list(dict.fromkeys(reasons[name].reason for name in names))
    because = f": {first_sentence(each[0])}" if len(each) == 1 else "."
    return kind.finding(
        f"{title_subject.format(named(names, subject))} was not examined{because}",
        status=Status.SKIPPED,
        subject=f"{briefly(names, subject)}: not counted",
        seen=some(each if len(each) == 1 else [f"{name}: {reasons[name].reason}" for name in names]),
    )


def share(value: float) -> str:
    """Return `12 %`, `0.30 %`; `0 %` for none."""
    return percent(value) if value > 0 else "0 %"
