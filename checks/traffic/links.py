"""The interfaces of the nodes as they are now, told when they are first known and again when one of them changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from checks.model.facts import Cluster, Interface, Unknown
from checks.traffic.samples import Event, Link, Links


class LinkBook:
    """What is known of each node's interfaces, and of the private networks that they are ports of."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._networks: dict[tuple[str, str], str] = {}
        """The private network by node and interface."""
        self._interfaces: dict[str, tuple[Interface, ...]] = {}
        self._told: dict[str, tuple[Link, ...]] = {}

    def follow(self, cluster: Cluster) -> None:
        """Take over the private networks, and the interfaces of nodes that nothing newer is known of."""
        if not isinstance(cluster.networks, Unknown):
            self._networks = {(port.node, port.interface): n.name for n in cluster.networks for port in n.ports}
        for node in cluster.read_nodes():
            self._interfaces.setdefault(node.name, node.interfaces)
        for name in self._interfaces:
            self._tell_changed(name)

    def know(self, node: str, interfaces: Sequence[Interface]) -> None:
        """A node's interfaces as they were read just now."""
        self._interfaces[node] = tuple(interfaces)
        self._tell_changed(node)

    def rename(self, node: str, name: str) -> None:
        """A node turned out to have another name."""
        if interfaces := self._interfaces.pop(node, None):
            self.know(name, interfaces)

    def same_node(self, node: str) -> str:
        """The other name under which this very node is known already, by its addresses; empty where there is none."""
        own = _places(self._interfaces.get(node, ()))
        others = (name for name, interfaces in self._interfaces.items() if name != node and _places(interfaces) == own)
        return next(others, "") if own else ""

    def _tell_changed(self, node: str) -> None:
        links = tuple(
            Link(
                name=interface.name,
                kind=interface.kind,
                mtu=interface.mtu,
                is_up=interface.is_up,
                speed_mbps=None if isinstance(interface.speed_mbps, Unknown) else interface.speed_mbps,
                master=interface.master,
                network=self._networks.get((node, interface.name), ""),
            )
            for interface in self._interfaces[node]
        )
        if links != self._told.get(node):
            self._told[node] = links
            self._tell(Links(node, time.time(), links))


def _places(interfaces: Iterable[Interface]) -> frozenset[str]:
    return frozenset(a.ip for i in interfaces if i.kind != "loopback" for a in i.addresses)
