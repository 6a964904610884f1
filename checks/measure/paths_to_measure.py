"""The paths on which a measurement sends: from this node to its peers, on the private networks."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator

from checks.measure.measure_error import MeasureError
from checks.model.facts import Cluster, Node, PrivateNetwork, Unknown
from checks.model.measurement import MeasuredPath
from checks.model.wording import continued, listed
from checks.sources.probes.path import Path
from checks.sources.probes.safety import UnsafePathError, assert_private, public_overlap, public_subnets, two_owners


def paths_to_measure(
    cluster: Cluster, *, networks: Collection[str] = (), peers: Collection[str] = ()
) -> tuple[MeasuredPath, ...]:
    """Return the paths from this node, all of them or those to the named peers on the named networks.

    Raises MeasureError where there is none, where a name is not known, or where a path is not a private one.
    """
    if isinstance(cluster.networks, Unknown):
        raise MeasureError(f"The private networks are not known: {continued(cluster.networks.reason)}")
    if isinstance(cluster.nodes, Unknown):
        raise MeasureError(f"racwire sends only between nodes that it can read: {continued(cluster.nodes.reason)}")
    if unread := [node for node in cluster.nodes if not isinstance(node, Node)]:
        raise MeasureError(
            f"racwire sends only between nodes that it can read; not {listed(node.name for node in unread)}: "
            f"{continued(unread[0].reason)}"
        )
    if len(cluster.nodes) < 2:
        raise MeasureError("This cluster has one node, so there is no path to measure.")
    known = [network.name for network in cluster.networks]
    for name in networks:
        if name not in known:
            raise MeasureError(f"There is no private network {name}; there are {listed(known)}.")
    names = [node.name for node in cluster.nodes if node.name != cluster.local_node]
    for name in peers:
        if name not in names:
            raise MeasureError(f"There is no peer {name}; there are {listed(names)}.")
    found = tuple(
        path
        for network in cluster.networks
        if not networks or network.name in networks
        for path in _paths(cluster, network, peers)
    )
    if not found:
        raise MeasureError("No private network has a port of this node and of a peer.")
    return found


def _paths(cluster: Cluster, network: PrivateNetwork, peers: Collection[str]) -> Iterator[MeasuredPath]:
    here = network.port(cluster.local_node)
    subnets = public_subnets(cluster)
    if here is None or isinstance(network.mtu, Unknown):
        return
    if overlap := public_overlap(network, subnets):
        raise MeasureError(f"{overlap}; name other networks with --network.")
    for port in network.ports:
        if port.node == cluster.local_node or (peers and port.node not in peers):
            continue
        if ipaddress.ip_address(port.ip).version != 4:
            raise MeasureError(f"{network.name} uses IPv6, over which racwire measures nothing yet; use --network.")
        path = Path(network, here, port, network.mtu)
        if owners := two_owners(path):
            raise MeasureError(f"Nothing is sent on {network.name}: {owners}.")
        try:
            assert_private(path, subnets)
        except UnsafePathError as error:
            raise MeasureError(f"Nothing is sent on {network.name}: {error}.") from None
        ends = [_end(cluster, one.node, one.interface) for one in (here, port)]
        speeds = [speed for _, speed in ends if speed is not None]
        yield MeasuredPath(
            network=network.name,
            source_node=here.node,
            source=here.ip,
            target_node=port.node,
            target=port.ip,
            interface=here.interface,
            mtu=min(mtu for mtu, _ in ends),
            speed_mbps=min(speeds, default=None),
            target_interface=port.interface,
        )


def _end(cluster: Cluster, node: str, name: str) -> tuple[int, int | None]:
    """Return the MTU and the speed of an interface."""
    found = next(
        (one for n in cluster.read_nodes() if n.name == node for one in n.interfaces if one.name == name), None
    )
    if found is None:
        raise MeasureError(f"The interface {name} of {node} is not among its interfaces.")
    return found.mtu, None if isinstance(found.speed_mbps, Unknown) else found.speed_mbps
