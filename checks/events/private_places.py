"""The private interfaces of each node with the layers below them, as the facts of the cluster and the links show
them."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import Cluster, Unknown
from checks.model.networks import layers_below, nics_of
from checks.traffic.samples import Link, Links

_LAYERS = ("bond", "team", "bridge", "vlan", "macvlan")


@dataclass(frozen=True)
class PrivatePlace:
    """An interface that carries a private network, or a layer below one."""

    network: str
    is_lowest: bool
    """Whether it is the NIC itself."""
    is_port: bool
    """Whether it has the address: only such interfaces of a network must have the same MTU."""


class PrivatePlaces:
    """What is known of the private interfaces."""

    def __init__(self) -> None:
        self._of_facts: dict[str, dict[str, PrivatePlace]] = {}
        self._of_links: dict[str, dict[str, PrivatePlace]] = {}
        self._links: dict[str, dict[str, Link]] = {}

    def follow(self, cluster: Cluster) -> None:
        """Use the private networks of the cluster."""
        self._of_facts = {}
        for network in () if isinstance(cluster.networks, Unknown) else cluster.networks:
            for port in network.ports:
                node, top = cluster.node(port.node), cluster.interface(port)
                if node is None or top is None:
                    continue
                found, lowest = self._of_facts.setdefault(port.node, {}), set(nics_of(cluster, port))
                for name in (top.name, *(lower.name for _, lower, _ in layers_below(node, top))):
                    found.setdefault(name, PrivatePlace(network.name, name in lowest, name == top.name))

    def know(self, links: Links) -> None:
        """Use the present interfaces of a node."""
        by_name = self._links[links.node] = {link.name: link for link in links.links}
        found: dict[str, PrivatePlace] = {}
        for link in links.links:
            if link.network:
                found[link.name] = PrivatePlace(link.network, link.kind not in _LAYERS, is_port=True)
        for link in links.links:  # members of a bond, also below a VLAN
            above = by_name.get(link.master)
            if above is not None and above.name in found and link.name not in found:
                found[link.name] = PrivatePlace(found[above.name].network, is_lowest=True, is_port=False)
        self._of_links[links.node] = found

    def of(self, node: str) -> dict[str, PrivatePlace]:
        """Return the private interfaces of a node by name."""
        return self._of_facts.get(node) or self._of_links.get(node, {})

    def link(self, node: str, name: str) -> Link | None:
        """Return the present state of an interface; None where it is not known."""
        return self._links.get(node, {}).get(name)

    def ports(self, network: str) -> dict[tuple[str, str], Link]:
        """Return the present interfaces of a private network, by node and name."""
        return {
            (node, name): link
            for node in self._links
            for name, place in self.of(node).items()
            if place.network == network and place.is_port and (link := self.link(node, name)) is not None
        }

    def nics(self, network: str) -> dict[tuple[str, str], Link]:
        """Return the present NICs that carry a private network, by node and name."""
        return {
            (node, name): link
            for node in self._links
            for name, place in self.of(node).items()
            if place.network == network and place.is_lowest and (link := self.link(node, name)) is not None
        }
