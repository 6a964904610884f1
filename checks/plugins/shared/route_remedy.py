"""What to do about a route with an MTU of its own, without adding a second route."""

from __future__ import annotations

from checks.model.facts import Cluster, NetworkService, Node, Route
from checks.model.finding import NextStep
from checks.model.shell_command import shell

_PLACES = {
    NetworkService.NETWORK_MANAGER: "ipv4.routes of NetworkManager's connection {connection}",
    NetworkService.IFCFG_NETWORK_MANAGER: "/etc/sysconfig/network-scripts/route-{interface}",
    NetworkService.IFCFG: "/etc/sysconfig/network-scripts/route-{interface}",
    NetworkService.WICKED: "/etc/sysconfig/network/ifroute-{interface}",
    NetworkService.NETWORKD: "[Route] of {file}",
    NetworkService.NETPLAN: "routes of {interface} in {file}",
}
"""Where each network service keeps the routes of an interface."""


def without_mtu(cluster: Cluster, node: Node, route: Route) -> NextStep:
    """Return the step that removes the MTU of a route.

    `ip route change` with the route's own metric changes that route. `replace` without the metric would add a
    second route, which the kernel prefers.
    """
    setup = cluster.setup(node.name)
    kept = setup.kept_mtu(route.interface) if setup else None
    place = _PLACES.get(kept.network_service, "") if kept else ""
    names = {"connection": kept.connection, "file": kept.file} if kept else {}
    where = place.format(interface=route.interface, **names) if place else "the file that sets it"
    return NextStep(
        f"Change the route to one without an MTU, and remove the MTU from {where}.",
        (shell("ip route change {route}", route=route.words),),
        f"root on {node.name}",
        is_change=True,
    )
