"""The paths on which a measurement sends: from this node to its peers, on the private networks."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from checks.measure.measure_error import MeasureError
from checks.model.facts import Address, Cluster, Interface, Node, NotGathered, Port, PrivateNetwork, Unknown
from checks.model.measured_rate import PublicMtu
from checks.model.measurement import MeasuredPath
from checks.model.networks import in_subnet
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
        yield _path(cluster, network.name, here, port)


def instance_paths(cluster: Cluster, private: Sequence[MeasuredPath]) -> tuple[MeasuredPath, ...]:
    """Return the paths between the addresses that the instances use: the HAIPs, or else these private paths.

    A HAIP has no interface of its own: it moves, and its packets go where the routes lead. Raises MeasureError where
    another node has the address too, or where it is in the range of an interface that is not private.
    """
    found: list[MeasuredPath] = []
    for path in private:
        for _, source in _haips(cluster, path.source_node, path.interface):
            for _, target in _haips(cluster, path.target_node, path.target_interface):
                if source.network == target.network:
                    _assert_haip(cluster, path.source_node, target)
                    _assert_haip(cluster, path.target_node, source)
                    found.append(
                        replace(path, network=str(source.network), source=source.ip, target=target.ip, is_haip=True)
                    )
    with_haip = {path.target_node for path in found}
    return (*found, *(path for path in private if path.target_node not in with_haip))


def _haips(cluster: Cluster, name: str, interface: str) -> Iterator[tuple[str, Address]]:
    """Yield the HAIPs on a private interface of a node, with the interface."""
    node = cluster.node(name)
    for one in node.interfaces if node is not None else ():
        if interface in ("", one.name):
            yield from ((one.name, address) for address in one.addresses if address.is_link_local)


def _assert_haip(cluster: Cluster, sender: str, target: Address) -> None:
    """Raise MeasureError unless one node has the HAIP, and the sender reaches it by its private interfaces alone."""
    owners = [
        node.name for node in cluster.read_nodes() for _, one in _haips(cluster, node.name, "") if one.ip == target.ip
    ]
    if len(owners) > 1:
        raise MeasureError(f"Nothing is sent to the HAIP {target.ip}: {listed(owners)} have this address.")
    private = {port.interface for network in cluster.read_networks() for port in network.ports if port.node == sender}
    for interface, one in _haips(cluster, sender, ""):
        if interface not in private and ipaddress.ip_address(target.ip) in one.network:
            raise MeasureError(
                f"Nothing is sent to the HAIP {target.ip}: {interface} of {sender}, which is not private, has {one.ip} "
                "in the same range."
            )


def public_paths(cluster: Cluster, private: Sequence[MeasuredPath]) -> tuple[MeasuredPath, ...]:
    """Return a path on the first public network for the first of these private paths, for `measure rate --public`.

    Raises MeasureError where a node has no address there.
    """
    first = private[0]
    subnet = _public_subnet(cluster)
    here, there = (_public_port(cluster, node, subnet) for node in (first.source_node, first.target_node))
    return (replace(_path(cluster, subnet, here, there), is_public=True),)


def public_mtus(cluster: Cluster) -> tuple[PublicMtu, ...]:
    """Return the MTU of each node on the first public network. Raises MeasureError where there is none."""
    subnet = _public_subnet(cluster)
    return tuple(
        PublicMtu(
            node.name,
            next((i.mtu for i in node.interfaces if any(in_subnet(one, subnet) for one in i.addresses)), None)
            if isinstance(node, Node)
            else None,
        )
        for node in (() if isinstance(cluster.nodes, Unknown | NotGathered) else cluster.nodes)
    )


def _public_subnet(cluster: Cluster) -> str:
    clusterware = cluster.clusterware
    if isinstance(clusterware, Unknown) or isinstance(clusterware.configuration, Unknown):
        raise MeasureError("The public network is not known: oifcfg could not be read.")
    subnet = next((entry.subnet for entry in clusterware.configuration.interfaces if entry.is_public), None)
    if subnet is None:
        raise MeasureError("oifcfg names no public network.")
    return subnet


def _public_port(cluster: Cluster, name: str, subnet: str) -> Port:
    """Return the interface of a node on a public network, with its first address there: VIPs come after it."""
    for node in cluster.read_nodes():
        for interface in node.interfaces if node.name == name else ():
            for address in interface.addresses:
                if in_subnet(address, subnet) and ipaddress.ip_address(address.ip).version == 4:
                    return Port(name, interface.name, address.ip)
    raise MeasureError(f"{name} has no IPv4 address on the public network {subnet}.")


def _path(cluster: Cluster, network: str, here: Port, there: Port) -> MeasuredPath:
    """Return the path between two ports, with the smaller MTU and speed of both."""
    ends = [_interface(cluster, port) for port in (here, there)]
    return MeasuredPath(
        network=network,
        source_node=here.node,
        source=here.ip,
        target_node=there.node,
        target=there.ip,
        interface=here.interface,
        target_interface=there.interface,
        mtu=min(one.mtu for one in ends),
        speed_mbps=min((one.speed_mbps for one in ends if isinstance(one.speed_mbps, int)), default=None),
    )


def _interface(cluster: Cluster, port: Port) -> Interface:
    found = cluster.interface(port)
    if found is None:
        raise MeasureError(f"The interface {port.interface} of {port.node} is not among its interfaces.")
    return found
