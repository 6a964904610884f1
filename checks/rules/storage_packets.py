"""Rules for connections to storage: what limits the size of their packets, and how many segments they send again."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from checks.model.facts import Interface, Node, Route, StorageConnection, Thresholds, Unknown
from checks.model.finding import Status

_HEADERS = {4: 20 + 20 + 12, 6: 40 + 20 + 12}
"""Bytes of IP and TCP with the option of timestamps, which `mss` of `ss` leaves out (RFC 7323)."""
_FEW_RETRANSMITS = 10
"""Fewer segments that were sent again are no fault: Linux also does so where an answer is late. Ours."""


class PacketLimit(Enum):
    """What keeps the packets of a connection smaller than the MTU of the interface."""

    SERVER = "server"
    """The server offered smaller segments, or a device on the path rewrote its offer: the path MTU is not lowered."""
    PATH = "path"
    """The kernel lowered the path MTU of the connection: a router reported a smaller one by ICMP."""
    ROUTE = "route"
    """A route of the node has a smaller MTU."""
    OFFER = "offer"
    """The node itself offered smaller segments when the connection was opened: the server's packets are small."""
    NOT_KNOWN = "not known"
    """The node's `ss` does not show the path MTU, so the limit is the server's or that of the path."""


@dataclass(frozen=True)
class StorageFlow:
    """The connections of one node to one server that have the same packet sizes, with the interface that has them."""

    node: str
    interface: str
    mtu: int
    connection: StorageConnection
    packet_bytes: int
    """The largest packet that the node sends."""
    offered_bytes: int
    """The largest packet that the node offered to receive; the MTU where that is not known."""
    limit: PacketLimit | None
    """None where both are about as large as the interface permits."""
    retransmit_status: Status
    """PASS also where the connections could not be compared."""

    @property
    def smaller_bytes(self) -> int:
        """The largest packet in the direction with the smaller packets."""
        return min(self.packet_bytes, self.offered_bytes)

    @property
    def retransmit_percent(self) -> float | None:
        """Segments sent again in percent of those sent; None where one of the two is not known."""
        sent, again = self.connection.segments, self.connection.retransmits
        return None if not sent or again is None else 100 * again / sent


def storage_flow(node: Node, connection: StorageConnection, limits: Thresholds) -> StorageFlow | Unknown | None:
    """Return the connection with its interface and its limit; None for a connection of the node to itself.

    The interface is the one with the local address. Unknown where the node has no such interface, or the sizes are not
    known.
    """
    interface = _with_address(node.interfaces, connection.local_ip)
    if _with_address(node.interfaces, connection.remote_ip) or (interface and interface.kind == "loopback"):
        return None
    if interface is None:
        return Unknown(f"{node.name} has no interface with the address {connection.local_ip}.")
    if connection.mss is None:
        return Unknown(f"The ss of {node.name} does not show the packet sizes of connections.")
    version = ipaddress.ip_address(connection.local_ip).version
    packet, offered = (
        interface.mtu if mss is None else min(interface.mtu, mss + _HEADERS[version])
        for mss in (connection.mss, connection.advertised_mss)
    )
    return StorageFlow(
        node.name,
        interface.name,
        interface.mtu,
        connection,
        packet,
        offered,
        _limit(node, interface, connection, packet, offered, limits),
        _retransmit_status(connection, limits),
    )


def _limit(
    node: Node, interface: Interface, connection: StorageConnection, packet: int, offered: int, limits: Thresholds
) -> PacketLimit | None:
    def is_small(size: int) -> bool:
        return 100 * size < limits.storage_packet_warn_percent * interface.mtu

    route = _route(node.routes, connection.remote_ip)
    if not is_small(packet) and not is_small(offered):
        return None
    if route and route.mtu and is_small(route.mtu):
        return PacketLimit.ROUTE
    if not is_small(packet):
        return PacketLimit.OFFER
    if connection.path_mtu is None:
        return PacketLimit.NOT_KNOWN
    return PacketLimit.PATH if is_small(connection.path_mtu) else PacketLimit.SERVER


def _retransmit_status(connection: StorageConnection, limits: Thresholds) -> Status:
    if connection.stalled:
        return Status.WARN
    again = connection.retransmits or 0
    if again < _FEW_RETRANSMITS:
        return Status.PASS
    if connection.segments is None:
        return Status.INFO
    return Status.WARN if 100 * again > limits.storage_retransmit_warn_percent * connection.segments else Status.PASS


def smaller_than_others(flows: Sequence[StorageFlow]) -> list[tuple[StorageFlow, StorageFlow]]:
    """Return the flows whose interface has a smaller MTU than packets of another node to the same server, with those.

    The offer of a server does not show where the node's own MTU is the limit; the other node shows it.
    """
    pairs = []
    for flow in flows:
        ends = (flow.connection.service, flow.connection.remote_ip)
        others = [o for o in flows if o.node != flow.node and (o.connection.service, o.connection.remote_ip) == ends]
        largest = max(others, key=lambda other: other.smaller_bytes, default=None)
        if flow.limit is None and largest and largest.smaller_bytes > flow.mtu:
            pairs.append((flow, largest))
    return pairs


def _with_address(interfaces: Iterable[Interface], ip: str) -> Interface | None:
    return next((i for i in interfaces if any(address.ip == ip for address in i.addresses)), None)


def _route(routes: Iterable[Route], ip: str) -> Route | None:
    """The route with the longest prefix to an address, of those with the lowest metric."""
    address = ipaddress.ip_address(ip)
    everything = "::/0" if address.version == 6 else "0.0.0.0/0"
    found: list[tuple[int, int, Route]] = []
    for route in routes:
        try:
            network = ipaddress.ip_network(everything if route.destination == "default" else route.destination)
        except ValueError:
            continue
        if network.version == address.version and address in network:
            found.append((network.prefixlen, -route.metric, route))
    return max(found, key=lambda each: each[:2])[2] if found else None
