"""Packets between HAIP addresses that vanish, while those between the private addresses of the same NICs pass."""

from __future__ import annotations

from checks.model.facts import Cluster, HaipPath, PathProbe, PrivateNetwork, Verdict
from checks.model.networks import layers_of

_BY_CHANCE = 0.01
"""The probability from which on chance explains that no ping of one path was answered. It is ours."""


def is_filtered_haip(cluster: Cluster, network: PrivateNetwork, path: HaipPath) -> bool:
    """Return whether no ping between two HAIP addresses was answered, small ones included, while pings between the
    private addresses of the same NICs pass both ways, or so few are lost that chance does not lose all those between
    the HAIP addresses; its kernel sends them over that NIC, and it has no MAC address for the HAIP but that of the
    peer's NIC."""
    if not path.small_sent or path.small_answered or path.full_answered:
        return False
    ends = {path.from_node, path.to_node}
    private = [p for p in cluster.read_paths() if p.network == network.name and {p.from_node, p.to_node} == ends]
    passes = len(private) > 1 and all(p.verdict in (Verdict.PASSES, Verdict.LOSS) for p in private)
    sent = path.small_sent + path.full_sent
    return (
        passes
        and max(map(_share_lost, private)) ** sent < _BY_CHANCE
        and _is_over_nic(cluster, network, path)
        and _is_of_peer(cluster, network, path)
    )


def _share_lost(path: PathProbe) -> float:
    series = [s for s in path.series if s.sent and not s.refused_locally]
    return max((1 - s.received / s.sent for s in series), default=0.0)


def _is_over_nic(cluster: Cluster, network: PrivateNetwork, path: HaipPath) -> bool:
    """Return whether the routes in use, where they are known, lead both ways over the NICs of the network, without a
    gateway."""
    wanted = {(path.source_ip, path.destination_ip), (path.destination_ip, path.source_ip)}
    return all(
        not route.gateway and (port := network.port(of.node)) is not None and route.interface == port.interface
        for of in (cluster.effective_routes if isinstance(cluster.effective_routes, tuple) else ())
        if isinstance(of.routes, tuple)
        for route in of.routes
        if (route.source_ip, route.destination_ip) in wanted
    )


def _is_of_peer(cluster: Cluster, network: PrivateNetwork, path: HaipPath) -> bool:
    node, port = cluster.node(path.to_node), network.port(path.to_node)
    top = node.interface(port.interface) if node and port else None
    if not path.neighbour_mac:
        return True
    if node is None or top is None:
        return False
    own = layers_of(node, top)
    return path.neighbour_mac in {nic.mac_address.casefold() for nic in own}
