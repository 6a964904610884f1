"""The ways between private addresses: which exist, and which of them the main table sends over another NIC."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from checks.model.facts import Cluster, Node, Port, PrivateNetwork, Route
from checks.rules.table_routes import route_to


@dataclass(frozen=True)
class PrivateWay:
    """The packets from one address of a node on a private network to one address of a peer there."""

    network: PrivateNetwork
    source_ip: str
    to_node: str
    destination_ip: str

    @property
    def is_haip(self) -> bool:
        """Whether the packets are those between HAIP addresses."""
        return self.source_ip.startswith("169.254.") and all(self.source_ip != port.ip for port in self.network.ports)


def private_ways(cluster: Cluster, node: str) -> Iterator[PrivateWay]:
    """Yield the ways of a node: from its address on each private network to those of all peers there, and from each
    HAIP address to those of the peers in its subnet."""
    for network in cluster.read_networks():
        yield from _of_network(cluster, network, node)


def _of_network(cluster: Cluster, network: PrivateNetwork, node: str) -> Iterator[PrivateWay]:
    port, read = network.port(node), cluster.node(node)
    interface = cluster.interface(port) if port else None
    if port is None or read is None or interface is None:
        return
    own = {a.ip for i in read.interfaces for a in i.addresses}
    for address in interface.addresses:
        if address.ip != port.ip and not address.is_link_local:
            continue
        for peer in network.ports:
            for ip in () if peer.node == node else _ips(cluster, peer):
                is_known = address.ip == port.ip and ip == peer.ip
                if ip not in own and (is_known or ipaddress.ip_address(ip) in address.network):
                    yield PrivateWay(network, address.ip, peer.node, ip)


def _ips(cluster: Cluster, peer: Port) -> list[str]:
    interface = cluster.interface(peer)
    haip = [a.ip for a in interface.addresses if a.is_link_local and a.ip != peer.ip] if interface else []
    return [peer.ip, *haip]


def shares_subnet(cluster: Cluster, network: PrivateNetwork) -> bool:
    """Return whether another private network has the same subnet: one route serves both."""
    return sum(n.subnet == network.subnet for n in cluster.read_networks()) > 1


def is_connected(node: Node, interface: str, network: PrivateNetwork) -> bool:
    """Return whether the main table has the route of a private network over its NIC."""
    return any((r.destination, r.interface) == (network.subnet, interface) for r in node.routes)


def should_have_route(node: Node, interface: str, network: PrivateNetwork) -> bool:
    """Return whether a NIC is up and has an address with the netmask of its network, so its kernel made a route."""
    nic = node.interface(interface)
    if nic is None or not nic.is_up or not node.routes:
        return is_connected(node, interface, network)
    subnets = {str(ipaddress.ip_network(f"{a.ip}/{a.prefix_length}", strict=False)) for a in nic.addresses}
    return network.subnet in subnets


def led_astray(node: Node, interface: str, network: PrivateNetwork) -> list[tuple[Port, Route]]:
    """Return the peers on a private network whose private address has a route over another NIC in the main table."""
    return [
        (port, route)
        for port in network.ports
        if port.node != node.name and (route := route_to(node, port.ip)) and route.interface != interface
    ]


def next_hops(node: Node, network: PrivateNetwork) -> list[Route]:
    """Return the routes of the main table for a private network that are next hops of one route, over several NICs.

    Two NICs with addresses in one subnet have a route each, with a source of its own: the kernel uses the first.
    """
    found = [r for r in node.routes if r.destination == network.subnet]
    same = [r for r in found if (r.metric, r.source) == (found[0].metric, found[0].source)]
    return same if len({r.interface for r in same}) > 1 else []


def lacks_route(node: Node, interface: str, network: PrivateNetwork) -> bool:
    """Return whether the main table has no route to any peer on a private network, but for the default route."""
    peers = [port for port in network.ports if port.node != node.name]
    return (
        bool(peers)
        and not is_connected(node, interface, network)
        and not any(route_to(node, port.ip) for port in peers)
    )
