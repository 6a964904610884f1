"""The packets that the instances of the database exchange: over which networks, between which addresses, how large.

An instance uses all its networks in turn, and the database does not say which one carried a packet. So a `Traffic` here
names all networks over which the packet may have travelled, wherever it would have the same form and size there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from checks.model.facts import Cluster, InterconnectInUse, PrivateNetwork
from checks.model.known_instances import database_of, interconnects_of, node_of
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER, ip_version
from checks.model.traffic import Address, Traffic, among
from checks.rules.engineered import is_engineered
from checks.rules.observed.packets import legs
from checks.rules.places_in_use import network_of


@dataclass(frozen=True)
class _Way:
    """A network that instances use, and the kind of their addresses there."""

    network: str
    """The name of a private network; the subnet of any other one."""
    address: Address | None
    """None where the instances do not report their addresses."""
    is_udp: bool = True
    """Whether the packets are UDP; those of an engineered system travel by RDMA."""
    version: int = 4


class DatabaseWays:
    """The ways between the nodes of a cluster, for the packets of the database."""

    def __init__(self, cluster: Cluster) -> None:
        database = database_of(cluster)
        self._cluster = cluster
        self._private = tuple(_private_way(cluster, network) for network in cluster.read_networks())
        self._used: dict[str, tuple[_Way, ...]] = {}
        self._node_of: dict[int, str] = {}
        self._known: dict[tuple[str, str, int | None], tuple[Traffic, ...]] = {}
        for instance in database.instances if database else ():
            node = self.node(instance.number)
            used = interconnects_of(cluster, instance.number)
            own = (*self._used.get(node, ()), *(_way(cluster, node, one) for one in used))
            self._used[node] = tuple(dict.fromkeys(own))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that have an instance."""
        return tuple(node for node in self._used if node)

    def node(self, instance: int) -> str:
        """Return the node of an instance; empty where it is not known."""
        if instance not in self._node_of:
            self._node_of[instance] = node_of(self._cluster, instance)
        return self._node_of[instance]

    def packets(self, sender: str, receiver: str, data_bytes: int) -> tuple[Traffic, ...]:
        """Return the packets of a datagram of `data_bytes` from a node to another, cut by the route in use on each of
        the networks that both use."""
        return self._each(sender, receiver, data_bytes)

    def any_size(self, sender: str, receiver: str) -> tuple[Traffic, ...]:
        """Return the packets of any size from a node to another; an empty name stands for any node."""
        return self._each(sender, receiver, None)

    def _each(self, sender: str, receiver: str, data_bytes: int | None) -> tuple[Traffic, ...]:
        key = (sender, receiver, data_bytes)
        if key not in self._known:
            found = [leg for way in self._between(sender, receiver) for leg in self._over(way, *key)]
            self._known[key] = _joined(found, "networks") or (_box(_Way("", None), sender, receiver),)
        return self._known[key]

    def _over(self, way: _Way, sender: str, receiver: str, data_bytes: int | None) -> tuple[Traffic, ...]:
        if data_bytes is None or not (way.is_udp and sender and receiver):
            return (_box(way, sender, receiver),)
        wire_bytes = data_bytes + UDP_HEADER + IP_HEADER[way.version]
        addresses: tuple[Address, ...] | None = (way.address,) if way.address else None
        return legs(
            self._cluster, sender, receiver, way.network, wire_bytes,
            df=False, addresses=addresses, protocols=("udp",), ends=("instance",),
        )  # fmt: skip

    def _between(self, sender: str, receiver: str) -> Sequence[_Way]:
        one, other = self._used.get(sender, ()), self._used.get(receiver, ())
        common = [way for way in one if way in other]
        return common or one or other or self._private


def _private_way(cluster: Cluster, network: PrivateNetwork) -> _Way:
    return _Way(network.name, None, _carries_udp(cluster, network), ip_version(network.subnet))


def _way(cluster: Cluster, node: str, used: InterconnectInUse) -> _Way:
    network, version = network_of(cluster, used), ip_version(used.ip)
    if network is None:
        return _Way(_subnet(cluster, node, used.ip), "public", version=version)
    address: Address = "haip" if used.ip.startswith("169.254.") else "private"
    return _Way(network.name, address, _carries_udp(cluster, network), version)


def _subnet(cluster: Cluster, node: str, ip: str) -> str:
    read = cluster.node(node)
    own = [a for interface in (read.interfaces if read else ()) for a in interface.addresses if a.ip == ip]
    return str(own[0].network) if own else ip


def _carries_udp(cluster: Cluster, network: PrivateNetwork) -> bool:
    names = {network.interface, *(port.interface for port in network.ports)}
    return not any(is_engineered(cluster, name) for name in names)


def _box(way: _Way, sender: str, receiver: str) -> Traffic:
    return Traffic(
        networks=(way.network,) if way.network else None,
        senders=(sender,) if sender else None,
        receivers=(receiver,) if receiver else None,
        addresses=(way.address,) if way.address else None,
        protocols=("udp",) if way.is_udp else None,
        ends=("instance",),
    )


# --- several ways at once ---------------------------------------------------------------------------------------------


def from_any(found: Iterable[Traffic]) -> tuple[Traffic, ...]:
    """Return the packets with those that differ in the sender alone as one."""
    return _joined(found, "senders")


def _joined(found: Iterable[Traffic], field: str) -> tuple[Traffic, ...]:
    """Return the boxes, with those that differ in one field alone as one: the result is the same set of packets."""
    alike: dict[Traffic, list[str]] = {}
    for one in found:
        alike.setdefault(msgspec.structs.replace(one, **{field: None}), []).extend(getattr(one, field) or ())
    return tuple(msgspec.structs.replace(rest, **{field: among(all_) or None}) for rest, all_ in alike.items())


def that_passed(found: Sequence[Traffic]) -> tuple[Traffic, ...]:
    """Return what is known of packets that passed over one of these ways, not known which; nothing where they may have
    travelled by RDMA.

    Where the networks cut a datagram differently, that is one box around all its packets: something lies within it.
    """
    if not found or any(one.protocols is None for one in found):
        return ()
    if len({(one.networks, one.addresses) for one in found}) == 1:
        return tuple(found)
    return (
        msgspec.structs.replace(
            found[0],
            networks=_union([one.networks for one in found]),
            addresses=_union([one.addresses for one in found]),
            forms=_union([one.forms for one in found]),
            sizes=(min(one.sizes[0] for one in found), max(one.sizes[1] for one in found)),
        ),
    )


def _union(values: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    known = [value for value in values if value is not None]
    return among(one for value in known for one in value) if len(known) == len(values) else None
