"""The first line: which cluster, its nodes and private networks, and when it was looked at."""

from __future__ import annotations

from collections.abc import Iterator

from checks.facts import Cluster, Clusterware, Unknown
from checks.finding import Finding, Status
from checks.result import Report
from tui.widgets.line import Line, clean, fitted, width_of


def header_line(report: Report | None, width: int) -> Line:
    """The line; what it has no room for is left out, the time first, nodes without problems last."""
    if report is None:
        return [(fitted(" racwire", width), "title")]
    time = clean(report.started_at[11:19])
    for line in _shorter_and_shorter(report):
        room = width - width_of(line)
        if room > len(time) + 2:
            return [*line, (" " * (room - len(time) - 1), ""), (time, "faint")]
        if room >= 0:
            return line
    return line


def _shorter_and_shorter(report: Report) -> Iterator[Line]:
    cluster = report.cluster
    nodes = list(_nodes(cluster, report.findings))
    bad = [n for n in nodes if n[1] == "fail" or n[0].endswith("*")]
    fewer = [*bad, (f"of {len(nodes)} nodes", "")] if len(bad) < len(nodes) else nodes
    full = [("racwire", "title"), *_name(cluster)]
    yield _joined([*full, *_spaced(nodes), *_version(cluster), *_networks(cluster)])
    yield _joined([*full, *_spaced(fewer), *_version(cluster), *_networks(cluster)])
    yield _joined([*full, *_spaced(fewer), *_networks(cluster)])
    yield _joined([*full, *_spaced(fewer)])


def _joined(parts: list[tuple[str, str]]) -> Line:
    """The parts two spaces apart; those that begin with a space belong to the one before."""
    line: list[tuple[str, str]] = []
    for text, role in parts:
        gap = " " if not line or text.startswith(" ") else "  "
        line += [(gap, ""), (text.removeprefix(" "), role)]
    return line


def _spaced(nodes: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for number, (text, role) in enumerate(nodes):
        yield (f" {text}" if number else text), role


def _name(cluster: Cluster) -> Iterator[tuple[str, str]]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and isinstance(facts.cluster_name, str):
        yield clean(facts.cluster_name), "accent"


def _nodes(cluster: Cluster, findings: tuple[Finding, ...]) -> Iterator[tuple[str, str]]:
    """Each node, `*` after the one racwire runs on, `!` after one that has a problem or could not be read."""
    wrong = {n for f in findings if f.status in (Status.FAIL, Status.WARN) for n in f.nodes}
    wrong |= {node.name for node in cluster.unread_nodes()}
    known = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    for name in [n.name for n in known] or [cluster.local_node]:
        signs = ("*" if name == cluster.local_node else "") + ("!" if name in wrong else "")
        yield clean(name) + signs, "fail" if name in wrong else ""


def _version(cluster: Cluster) -> Iterator[tuple[str, str]]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and not isinstance(facts.version, Unknown):
        yield "GI " + ".".join(clean(facts.version.version).split(".")[:3]), ""


def _networks(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for network in () if isinstance(cluster.networks, Unknown) else cluster.networks:
        yield f"{clean(network.interface)} {network.mtu if isinstance(network.mtu, int) else '?'}", ""
