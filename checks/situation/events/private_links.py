"""The private interfaces of each node with the layers below them, and what changes there: links, speeds, MTUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from checks.model.cluster_event import EventKind, EventPlace
from checks.model.facts import Cluster
from checks.model.finding import FAULTS, Status
from checks.model.networks import layers_of, nics_of
from checks.rules.link_states import layer_mtu_status, link_status, mtu_status, speed_status
from checks.rules.live_events import link_losses
from checks.situation.events.event_book import EventBook
from checks.traffic.samples import Link, Links

_LAYERS = ("bond", "team", "bridge", "vlan", "macvlan")
_Port = tuple[str, str]
_UNITS = {EventKind.LINK_SPEED: "Mbit/s", EventKind.MTU: "bytes"}


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
        for network in cluster.read_networks():
            for port in network.ports:
                node, top = cluster.node(port.node), cluster.interface(port)
                if node is None or top is None:
                    continue
                found, lowest = self._of_facts.setdefault(port.node, {}), set(nics_of(cluster, port))
                for name in (layer.name for layer in layers_of(node, top)):
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

    def ports(self, network: str) -> dict[_Port, Link]:
        """Return the present interfaces of a private network that have its address, by node and name."""
        return {at: link for at, place, link in self._present(network) if place.is_port}

    def nics(self, network: str) -> dict[_Port, Link]:
        """Return the present NICs that carry a private network, by node and name."""
        return {at: link for at, place, link in self._present(network) if place.is_lowest}

    def _present(self, network: str) -> Iterator[tuple[_Port, PrivatePlace, Link]]:
        for node in self._links:
            for name, place in self.of(node).items():
                if place.network == network and (link := self.link(node, name)) is not None:
                    yield (node, name), place, link


class LinkChanges:
    """Compares the interfaces of a node with those before.

    A changed speed or MTU is an event until it is what it was, or until all interfaces of the network are alike.
    """

    def __init__(self, book: EventBook, places: PrivatePlaces) -> None:
        self._book = book
        self._places = places
        self._was_up: dict[_Port, bool] = {}
        self._changes: dict[_Port, int | None] = {}
        """How often the link of each came or went."""
        self._sampled_at: dict[str, tuple[float, float]] = {}
        """The ends of the last two samples of each node."""
        self._usual: dict[tuple[EventKind, _Port], int] = {}
        """The speed and the MTU that changes are compared with."""

    def see(self, links: Links) -> None:
        """Take the interfaces of a node, after `PrivatePlaces` has them."""
        for link in links.links:
            port, place = (links.node, link.name), self._places.of(links.node).get(link.name)
            was_up = self._was_up.get(port, link.is_up)
            self._was_up[port] = link.is_up
            changes, self._changes[port] = self._changes.get(port), link.carrier_changes
            at = EventPlace(links.at, links.node, link.name, place.network if place else "")
            lost = link_losses((link.carrier_changes or 0) - changes) if changes is not None else 0
            if link.is_up:
                self._book.leave(EventKind.LINK_DOWN, at.key, links.at)
                if was_up and place and lost > 0:
                    since = min(self._sampled_at.get(links.node, (links.at, links.at))[0], links.at)
                    status = link_status(is_up=False, is_member=not place.is_port)
                    self._book.moment(
                        EventKind.LINK_FLAP, replace(at, since=since), status, links.at, count=lost, unit="losses"
                    )
                if link.speed_mbps and (place is None or place.is_lowest):  # a bond has the speed of its members
                    self._value(EventKind.LINK_SPEED, at, link.speed_mbps)
            elif was_up and place:
                self._book.stand(EventKind.LINK_DOWN, at, link_status(is_up=False, is_member=not place.is_port))
            self._value(EventKind.MTU, at, link.mtu)
        for kind in _UNITS:
            for standing in self._book.stands_at(kind):
                self._judge(kind, standing, links.at)

    def restarted(self, node: str) -> None:
        """Forget how often the links of a node came and went: a boot is no flap."""
        self._changes = {port: changes for port, changes in self._changes.items() if port[0] != node}

    def sampled(self, node: str, at: float) -> None:
        """Note the end of a sample of a node: the interfaces are read right after one that shows a change."""
        self._sampled_at[node] = (self._sampled_at.get(node, (at, at))[1], at)

    def _value(self, kind: EventKind, at: EventPlace, value: int) -> None:
        """Take a speed or an MTU."""
        usual = self._usual.setdefault((kind, (at.node, at.interface)), value)
        if value == usual:
            self._book.leave(kind, at.key, at.since)
        elif not at.network:
            self._usual[kind, (at.node, at.interface)] = value
        elif not any(place.key == at.key for place in self._book.stands_at(kind)):
            self._book.stand(kind, at, Status.INFO, unit=_UNITS[kind], peak=value, former=usual)

    def _judge(self, kind: EventKind, place: EventPlace, at: float) -> None:
        """Judge a changed speed or MTU. One that leaves all interfaces alike is over: a change was carried out."""
        link, of_node = self._places.link(place.node, place.interface), self._places.of(place.node)
        here = of_node.get(place.interface)
        if link is None or here is None:
            return
        if kind is EventKind.LINK_SPEED:
            speeds = [nic.speed_mbps for nic in self._places.nics(place.network).values() if nic.is_up]
            status, value = speed_status(link.speed_mbps, speeds), link.speed_mbps or 0
        else:
            ports = self._places.ports(place.network)
            above = [port.mtu for (node, _), port in ports.items() if node == place.node]
            status = mtu_status([port.mtu for port in ports.values()])
            status, value = status if here.is_port else layer_mtu_status(link.mtu, above), link.mtu
        if status in FAULTS:
            self._book.stand(kind, place, status)
        else:
            self._usual[kind, (place.node, place.interface)] = value
            self._book.leave(kind, place.key, at)
