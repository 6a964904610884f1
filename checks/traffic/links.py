"""The present interfaces of the nodes: emitted when they are first known, and again when an interface has changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from checks.model.facts import Cluster, Interface, Unknown
from checks.traffic.samples import Event, Link, Links


class LinkBook:
    """The known interfaces of each node, and the private network of each port."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._networks: dict[tuple[str, str], str] = {}
        """The private network by node and interface."""
        self._interfaces: dict[str, tuple[Interface, ...]] = {}
        self._emitted: dict[str, tuple[Link, ...]] = {}

    def follow(self, cluster: Cluster) -> None:
        """Use the private networks of the cluster, and its interfaces for nodes without newer ones."""
        if not isinstance(cluster.networks, Unknown):
            self._networks = {(port.node, port.interface): n.name for n in cluster.networks for port in n.ports}
        for node in cluster.read_nodes():
            self._interfaces.setdefault(node.name, node.interfaces)
        for name in self._interfaces:
            self._emit_if_changed(name)

    def know(self, node: str, interfaces: Sequence[Interface]) -> None:
        """Record the interfaces of a node that were just read."""
        self._interfaces[node] = tuple(interfaces)
        self._emit_if_changed(node)

    def rename(self, node: str, name: str) -> None:
        """Record that a node has another name."""
        if interfaces := self._interfaces.pop(node, None):
            self.know(name, interfaces)

    def same_node(self, node: str) -> str:
        """Return the other name of this node, found by its addresses; empty where it has none."""
        own = _places(self._interfaces.get(node, ()))
        others = (name for name, interfaces in self._interfaces.items() if name != node and _places(interfaces) == own)
        return next(others, "") if own else ""

    def _emit_if_changed(self, node: str) -> None:
        links = tuple(
            Link(
                name=interface.name,
                kind=interface.kind,
                mtu=interface.mtu,
                is_up=interface.is_up,
                speed_mbps=None if isinstance(interface.speed_mbps, Unknown) else interface.speed_mbps,
                master=interface.master,
                network=self._networks.get((node, interface.name), ""),
                carrier_changes=interface.carrier_changes,
            )
            for interface in self._interfaces[node]
        )
        if links != self._emitted.get(node):
            self._emitted[node] = links
            self._emit(Links(node, time.time(), links))


def _places(interfaces: Iterable[Interface]) -> frozenset[str]:
    return frozenset(a.ip for i in interfaces if i.kind != "loopback" for a in i.addresses)
