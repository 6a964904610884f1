"""The blocks of one node: its interfaces, IP, UDP and CPU of its kernel, and its instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checks.model.facts import Cluster, Database, Unknown
from checks.traffic.samples import Gap, InstanceSample, Link, NodeSample
from checks.traffic.source_id import ALL_PINGS, DATABASE, PAIRS, SourceId, SourceKind
from checks.traffic.timeline import Track
from tui.screens.traffic.latency_lines import PINGS, latency_series
from tui.screens.traffic.metrics import INSTANCE, INTERFACE, KERNEL, Group, RowMetric
from tui.screens.traffic.rate_history import (
    InterfacePoint,
    RateWindow,
    Series,
    instance_series,
    interface_series,
    kernel_series,
    node_series,
)
from tui.screens.traffic.rows import Columns, DrawingStyle, group_lines
from tui.text.line import Line, has_words, sanitize_line
from tui.widgets import units as units

LOOPBACK = "lo"


@dataclass(frozen=True)
class InterfaceBlock:
    """The block of one interface."""

    source: SourceId
    title: str
    series: Series[InterfacePoint]
    link: Link | None

    @property
    def metrics(self) -> Sequence[RowMetric[Any]]:
        """All figures of the block."""
        return INTERFACE

    @property
    def only_now(self) -> InterfaceBlock:
        """The block without graphs."""
        return replace(self, series=self.series.only_now)

    @property
    def large(self) -> int:
        """The number of metrics with a large graph where there is room."""
        return 4

    @property
    def about(self) -> str:
        """The heading of the block alone."""
        link = self.link
        if link is None:
            return f"{sanitize_line(self.title)}  its kind and MTU were not read"
        parts = [
            sanitize_line(self.title),
            sanitize_line(link.kind),
            "" if link.is_up else "DOWN",
            f"MTU {link.mtu}" if link.mtu else "",
        ]
        parts += [units.speed(link.speed_mbps), f"member of {sanitize_line(link.master)}" if link.master else ""]
        parts += [f"private network {sanitize_line(link.network)}" if link.network else "not a private network"]
        return "  ".join(part for part in parts if part)


@dataclass(frozen=True)
class GroupBlock:
    """The block of a group of figures."""

    source: SourceId
    title: str
    series: Series[Any]
    group: Group[Any]

    @property
    def metrics(self) -> Sequence[RowMetric[Any]]:
        """All figures of the block."""
        return self.group.everything

    @property
    def only_now(self) -> GroupBlock:
        """The block without graphs."""
        return replace(self, series=self.series.only_now)

    @property
    def large(self) -> int:
        """The number of metrics with a large graph where there is room."""
        return min(4, len(self.metrics))

    @property
    def about(self) -> str:
        """The heading of the block alone."""
        return sanitize_line(self.title)

    def lines(self, columns: Columns, look: DrawingStyle) -> Iterator[Line]:
        """Yield the lines of the block among other blocks."""
        return group_lines(self.source, self.title, self.group, self.series, columns, look)


Block = InterfaceBlock | GroupBlock


class KnownNodes:
    """The nodes, and the node of each instance: a fact that was known once stays known."""

    def __init__(self) -> None:
        self.nodes: tuple[str, ...] = ()
        """The nodes: this node first, the others in the order of the cluster."""
        self.found: Sequence[str] | None = None
        """The nodes that match the filter; None where nothing is filtered."""
        self._hosts: dict[str, str] = {}
        self._pings: tuple[SourceId, ...] = ()
        """The sources of the pings of a recording, which the first node sent."""

    @property
    def shown(self) -> Sequence[str]:
        """The nodes to display."""
        return self.nodes if self.found is None else self.found

    def find(self, window: RateWindow | None, query: str) -> None:
        """Display only the nodes whose name, instances, interfaces or trouble have the words of a query; all without
        one. Figures, which change with each sample, are not searched."""
        self.found = [node for node in self.nodes if has_words(self._text_of(window, node), query)] if query else None

    def _text_of(self, window: RateWindow | None, node: str) -> str:
        words = [node, *self.instances_on(node)]
        if window is not None and SourceId.node(node) in window.events:
            samples = node_series(window, node)
            words += [samples.trouble, *(name for name, _ in _interfaces(window, node, samples, True))]
        return " ".join(words)

    def learn(self, track: Track, cluster: Cluster | None) -> None:
        """Add the nodes and instances of a track and of the facts."""
        names = [source.name for source in track.sources() if source.kind is SourceKind.NODE]
        if cluster is not None:
            names = [cluster.local_node, *_cluster_nodes(cluster), *names]
            if isinstance(cluster.database, Database):
                for instance in cluster.database.instances:
                    self._hosts.setdefault(instance.name, instance.host)
                for unqueried in cluster.database.unasked:
                    self._hosts.setdefault(unqueried.name, "")
        self.nodes = tuple(dict.fromkeys(name for name in names if name))
        self._pings = tuple(source for source in track.sources() if source.kind is SourceKind.LATENCY)
        for source in track.sources():
            if source.kind is SourceKind.INSTANCE:
                self._hosts.setdefault(source.name, "")

    def see(self, window: RateWindow) -> None:
        """Add the nodes of the instances at the time of their samples."""
        for events in window.events.values():
            if events and isinstance(last := events[-1], InstanceSample):
                self._hosts[last.instance] = last.host

    def instances_on(self, node: str) -> list[str]:
        """Return the instances on a node; the first node also gets the instances whose node is not known."""
        known = {_short(name) for name in self.nodes}
        first = bool(self.nodes) and node == self.nodes[0]
        return [
            name
            for name, host in sorted(self._hosts.items())
            if _short(host) == _short(node) or (first and _short(host) not in known)
        ]

    def sources(self, nodes: Iterable[str]) -> list[SourceId]:
        """Return the sources to read for these nodes."""
        wanted = list(nodes)
        instances = [SourceId.instance(name) for node in wanted for name in self.instances_on(node)]
        pings = self._pings if set(wanted).intersection(self.nodes[:1]) else ()
        return [*(SourceId.node(node) for node in wanted), *instances, DATABASE, PAIRS, *pings]


def blocks_of(window: RateWindow, node: str, places: KnownNodes, *, others: bool) -> list[Block]:
    """Return the blocks of a node, from top to bottom; with `others` also the interfaces without a private network."""
    samples = node_series(window, node)
    found: list[Block] = [
        InterfaceBlock(SourceId.node(node), name, interface_series(samples, name, link), link)
        for name, link in _interfaces(window, node, samples, others)
    ]
    # The screen displays once for the whole node why nothing is known.
    kernel = replace(kernel_series(samples), trouble="")
    found += [GroupBlock(SourceId.node(node), title, kernel, group) for title, group in KERNEL.items()]
    instances = places.instances_on(node)
    found += [GroupBlock(SourceId.instance(name), name, instance_series(window, name), INSTANCE) for name in instances]
    database = window.events.get(DATABASE)
    if not instances and database and isinstance(database[-1], Gap):
        found.append(GroupBlock(DATABASE, DATABASE.short, instance_series(window, ""), INSTANCE))
    if node in places.nodes[:1]:
        pinged = latency_series(window, private_links(window, node))
        found += [GroupBlock(ALL_PINGS, title, pings, PINGS) for title, pings in pinged]
    return found


def private_blocks(window: RateWindow, node: str) -> list[InterfaceBlock]:
    """Return the private interfaces of a node; none where it is not known which they are."""
    samples = node_series(window, node)
    return [
        InterfaceBlock(SourceId.node(node), link.name, interface_series(samples, link.name, link), link)
        for link in private_links(window, node)
    ]


def private_links(window: RateWindow, node: str) -> list[Link]:
    """Return the ports of private networks on a node; empty where they are not known."""
    known = window.links.get(node)
    return [link for link in known.links if link.network] if known else []


def _interfaces(
    window: RateWindow, node: str, samples: Series[NodeSample], others: bool
) -> Iterator[tuple[str, Link | None]]:
    """Yield the private interfaces first; all interfaces where none is known to be private."""
    known = window.links.get(node)
    links = {link.name: link for link in known.links} if known else {}
    private = [name for name, link in links.items() if link.network]
    yield from ((name, links[name]) for name in private)
    if others or not private:
        seen = [name for slot in samples.slots for sample in slot for name in sample.interfaces]
        seen += list(samples.newest.interfaces) if samples.newest else []
        rest = [name for name in dict.fromkeys([*links, *seen]) if name not in private and name != LOOPBACK]
        yield from ((name, links.get(name)) for name in rest)


def _cluster_nodes(cluster: Cluster) -> list[str]:
    return [] if isinstance(cluster.nodes, Unknown) else [node.name for node in cluster.nodes]


def _short(host: str) -> str:
    return host.split(".")[0].lower()
