"""The packets that a datagram is on the wire: one that is whole, or the fragments into which its sender's kernel cuts
it, by the MTU of the route in use."""

from __future__ import annotations

from typing import TypedDict, Unpack

from checks.model.facts import Cluster, Node, PrivateNetwork, RouteInUse, Unknown
from checks.model.packet_sizes import IP_HEADER
from checks.model.traffic import SMALL, Address, End, Form, Protocol, Traffic
from checks.rules.table_routes import route_to

FRAGMENT_HEADER = {4: 0, 6: 8}
"""Bytes of the extension header of a fragment (RFC 8200, 4.5); IPv4 has these fields in its header."""

_Packet = tuple[tuple[Form, ...] | None, tuple[int, int]]
"""The form of a packet, and the least and the most bytes of it on the wire."""
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
    """
    kind: Address = "haip" if "haip" in (same.get("addresses") or ()) else "private"
    cut = ((_WHOLE, (wire_bytes, wire_bytes)),) if df else packets(cluster, sender, receiver, network, kind, wire_bytes)
    return tuple(
        Traffic(networks=(network,), senders=(sender,), receivers=(receiver,), forms=forms, sizes=sizes, **same)
        for forms, sizes in cut
    )


def packets(
    cluster: Cluster, sender: str, receiver: str, network: str, address: Address, wire_bytes: int
) -> tuple[_Packet, ...]:
    """Return form and size of each kind of packet of a datagram without Don't Fragment.

    Where the MTU of the route is not known, that is one packet of unknown form and of any size up to the whole.
    """
    whole = ((_WHOLE, (wire_bytes, wire_bytes)),)
    if wire_bytes <= SMALL:
        return whole
    mtu = route_mtu(cluster, sender, receiver, network, address)
    if mtu is not None and wire_bytes <= mtu:
        return whole
    if mtu is None:
        return ((None, (0, wire_bytes)),)
    at = _network(cluster, network)
    return fragments(wire_bytes, mtu, 6 if address == "private" and at and ":" in at.subnet else 4)


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
    node, at = cluster.node(sender), _network(cluster, network)
    port, peer = (at.port(sender), at.port(receiver)) if at else (None, None)
    interface = node.interface(port.interface) if node and port else None
    if node is None or interface is None:
        return None
    is_haip = address == "haip"
    mtus = [
        _mtu_of(node, route, interface.mtu)
        for route in _routes(cluster, sender)
        if route.to_node == receiver and route.network == network and route.interface
        if route.destination_ip.startswith("169.254.") == is_haip
    ]
    if mtus:
        return min(mtus)
    route = route_to(node, peer.ip) if peer and not is_haip and any(r.mtu for r in node.routes) else None
    return route.mtu if route and route.mtu else interface.mtu


def _mtu_of(node: Node, route: RouteInUse, usual: int) -> int:
    interface = node.interface(route.interface)
    return route.mtu or (interface.mtu if interface else usual)


def _routes(cluster: Cluster, node: str) -> tuple[RouteInUse, ...]:
    found = cluster.effective_routes if isinstance(cluster.effective_routes, tuple) else ()
    own = next((of.routes for of in found if of.node == node), ())
    return () if isinstance(own, Unknown) else own


def _network(cluster: Cluster, name: str) -> PrivateNetwork | None:
    networks = cluster.networks if isinstance(cluster.networks, tuple) else ()
    return next((network for network in networks if network.name == name), None)
