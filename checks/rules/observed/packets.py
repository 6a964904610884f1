"""The packets that a datagram is on the wire: one that is whole, or the fragments into which its sender's kernel cuts
it, by the MTU of the route in use."""

from __future__ import annotations

from typing import TypedDict, Unpack

from checks.model.facts import Cluster, Node, PrivateNetwork, Unknown
from checks.model.packet_sizes import IP_HEADER, ip_version
from checks.model.traffic import SMALL, Address, End, Form, Protocol, Traffic, among
from checks.rules.table_routes import route_to

FRAGMENT_HEADER = {4: 0, 6: 8}
"""Bytes of the extension header of a fragment (RFC 8200, 4.5); IPv4 has these fields in its header."""

_Packet = tuple[tuple[Form, ...] | None, tuple[int, int]]
"""The form of a packet, and its least and most bytes on the wire."""
_WHOLE: tuple[Form, ...] = ("whole",)
_FRAGMENT: tuple[Form, ...] = ("fragment",)


class _Same(TypedDict, total=False):
    """The fields of a `Traffic` that all packets of a datagram share."""

    addresses: tuple[Address, ...] | None
    protocols: tuple[Protocol, ...] | None
    ends: tuple[End, ...] | None
    ports: tuple[int, ...] | None
    times: tuple[float, float] | None


def legs(
    cluster: Cluster, sender: str, receiver: str, network: str, wire_bytes: int, *, df: bool, **same: Unpack[_Same]
) -> tuple[Traffic, ...]:
    """Return the packets of a datagram that is so large with its IP header: one whole packet with Don't Fragment (`df`)
    and where the route in use carries it, else a `Traffic` for its fragments and one for the last of them.

    `same` has the other fields of the packets. The route is that between HAIP addresses where `addresses` has `haip`.
    Packets between private networks that share a subnet can take the NIC of either, so they belong to both.
    """
    routes = _routes(cluster)
    cut: tuple[_Packet, ...] = (_whole(wire_bytes),)
    if not df and wire_bytes > SMALL:
        kind: Address = "haip" if "haip" in (same.get("addresses") or ()) else "private"
        cut = packets(cluster, sender, receiver, network, kind, wire_bytes)
    over, senders, receivers = routes.over(network), (sender,), (receiver,)
    return tuple(
        [
            Traffic(networks=over, senders=senders, receivers=receivers, forms=forms, sizes=sizes, **same)
            for forms, sizes in cut
        ]
    )


def packets(
    cluster: Cluster, sender: str, receiver: str, network: str, address: Address, wire_bytes: int
) -> tuple[_Packet, ...]:
    """Return form and size of each kind of packet of a datagram without Don't Fragment.

    Where the MTU of the route is not known, that is one packet of unknown form and of any size up to the whole.
    """
    if wire_bytes <= SMALL:
        return (_whole(wire_bytes),)
    mtu = route_mtu(cluster, sender, receiver, network, address)
    if mtu is None:
        return ((None, (0, wire_bytes)),)
    if wire_bytes <= mtu:
        return (_whole(wire_bytes),)
    version = _routes(cluster).version(network) if address == "private" else 4
    return fragments(wire_bytes, mtu, version)


def fragments(wire_bytes: int, mtu: int, version: int = 4) -> tuple[_Packet, ...]:
    """Return the sizes of the fragments of a datagram: those that the MTU fills, and the last one.

    Each but the last carries a multiple of 8 bytes (RFC 791, 2.3; RFC 8200, 4.5).
    """
    header = IP_HEADER[version] + FRAGMENT_HEADER[version]
    room = (mtu - header) // 8 * 8
    if room <= 0:
        return ((_FRAGMENT, (0, max(0, mtu))),)
    full, rest = divmod(wire_bytes - IP_HEADER[version], room)
    sizes = [room + header] * bool(full) + [rest + header] * bool(rest)
    return tuple((_FRAGMENT, (size, size)) for size in sizes)


def route_mtu(cluster: Cluster, sender: str, receiver: str, network: str, address: Address = "private") -> int | None:
    """Return the MTU of the route in use from a node to another: its own or a learned one, or that of its interface.

    Where several HAIP addresses have routes of their own, that is the smallest; None where the node was not read.
    """
    return _routes(cluster).mtu(sender, receiver, network, is_haip=address == "haip")


def _whole(wire_bytes: int) -> _Packet:
    return _WHOLE, (wire_bytes, wire_bytes)


class _Routes:
    """The MTUs of the routes of a cluster, each looked up once."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        networks = cluster.read_networks()
        self._nodes = {node.name: node for node in cluster.read_nodes()}
        self._networks = {network.name: network for network in networks}
        self._over = {n.name: among(m.name for m in networks if m.subnet == n.subnet) for n in networks}
        self._mtus: dict[tuple[str, str, str, bool], int | None] = {}
        for of in cluster.effective_routes if isinstance(cluster.effective_routes, tuple) else ():
            node = self._nodes.get(of.node)
            for route in () if isinstance(of.routes, Unknown) or node is None else of.routes:
                interface = node.interface(route.interface) if node else None
                if mtu := route.mtu or (interface.mtu if interface else None):
                    key = (of.node, route.to_node, route.network, route.destination_ip.startswith("169.254."))
                    self._mtus[key] = min(mtu, self._mtus.get(key) or mtu)

    def over(self, network: str) -> tuple[str, ...]:
        return self._over.get(network, (network,))

    def version(self, network: str) -> int:
        return ip_version(getattr(self._networks.get(network), "subnet", ""))

    def mtu(self, sender: str, receiver: str, network: str, *, is_haip: bool) -> int | None:
        key = (sender, receiver, network, is_haip)
        if key not in self._mtus:
            node, at = self._nodes.get(sender), self._networks.get(network)
            self._mtus[key] = _by_interface(node, at, receiver, is_haip=is_haip) if node and at else None
        return self._mtus[key]


def _by_interface(node: Node, network: PrivateNetwork, receiver: str, *, is_haip: bool) -> int | None:
    """Return the MTU of the route in the main table, or else of the interface: the route in use is not known."""
    port, peer = network.port(node.name), network.port(receiver)
    interface = node.interface(port.interface) if port else None
    if interface is None:
        return None
    route = route_to(node, peer.ip) if peer and not is_haip and any(r.mtu for r in node.routes) else None
    return route.mtu if route and route.mtu else interface.mtu


_latest: list[_Routes] = []


def _routes(cluster: Cluster) -> _Routes:
    """Return the routes of a cluster. Those of the latest are kept: they serve the packets of hundreds of paths."""
    routes = _latest[0] if _latest else None
    if routes is None or routes.cluster is not cluster:
        routes = _Routes(cluster)
        _latest[:] = [routes]
    return routes
