"""Which route of a node's main table serves an address."""

from __future__ import annotations

import ipaddress

from checks.model.facts import Node, Route


def route_to(node: Node, ip: str) -> Route | None:
    """Return the route that the kernel uses, unless it is the default route.

    That is the most specific one, then the one with the lowest metric, then the first one.
    """
    host = ipaddress.ip_address(ip)
    found = [
        (-network.prefixlen, route.metric, route)
        for route in node.routes
        if (network := network_of(route.destination)) and node.interface(route.interface) and host in network
        if network.prefixlen > 0
    ]
    return min(found, key=lambda one: one[:2])[2] if found else None


def network_of(destination: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the addresses of a destination; None for the default route and for what is no address."""
    try:
        return ipaddress.ip_network(destination, strict=False)
    except ValueError:
        return None
