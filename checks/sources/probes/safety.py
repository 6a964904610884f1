"""Check before sending that a path is between private addresses of the cluster's own nodes."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from checks.model.facts import Cluster, IPNetwork, Port, PrivateNetwork, Unknown
from checks.model.networks import in_subnet
from checks.model.wording import listed
from checks.sources.probes.path import Path


class UnsafePathError(ValueError):
    """A path is not on a private network. This is a fault of racwire, not of the cluster."""


def public_subnets(cluster: Cluster) -> tuple[str, ...]:
    """The public networks, which clients use. racwire never sends anything there."""
    if isinstance(cluster.clusterware, Unknown) or isinstance(cluster.clusterware.configuration, Unknown):
        return ()
    named = [entry.subnet for entry in cluster.clusterware.configuration.interfaces if entry.is_public]
    # oifcfg prints no netmask: the nodes' own addresses on a public network have it.
    reach = {
        str(address.network)
        for node in cluster.read_nodes()
        for interface in node.interfaces
        for address in interface.addresses
        if any(in_subnet(address, subnet) for subnet in named)
    }
    return (*named, *sorted(reach))


def public_overlap(network: PrivateNetwork, public_subnets: Iterable[str]) -> str:
    """Why nothing may be sent on a network: a public network overlaps it. Empty where none does."""
    subnet = _subnet(network.subnet)
    for public in public_subnets:
        if _subnet(public).version == subnet.version and _subnet(public).overlaps(subnet):
            return f"{network.name} overlaps the public network {public}, where nothing is ever sent"
    return ""


def two_owners(path: Path) -> str:
    """Why a path is not measured: another node has one of its addresses too. Empty where none has."""
    for end in (path.source, path.destination):
        others = [port.node for port in path.network.ports if port.ip == end.ip]
        if len(set(others)) > 1:
            return f"{listed(dict.fromkeys(others))} have the address {end.ip}: which of them answers is not known"
    return ""


def assert_private(path: Path, public_subnets: Iterable[str] = ()) -> None:
    """Raise UnsafePathError unless both ends are ports of the private network, inside its subnet and no public one."""
    if overlap := public_overlap(path.network, public_subnets):
        raise UnsafePathError(overlap)
    subnet = _subnet(path.network.subnet)
    for port in (path.source, path.destination):
        _assert_on(port, path.network, subnet)
    if path.source.node == path.destination.node or path.source.ip == path.destination.ip:
        raise UnsafePathError(f"{path.source.ip} to {path.destination.ip} is no path between two nodes")


def _assert_on(port: Port, network: PrivateNetwork, subnet: IPNetwork) -> None:
    if port not in network.ports:
        raise UnsafePathError(f"{port.ip} of {port.node} is no port of {network.name}")
    address = ipaddress.ip_address(port.ip)
    if address.version != subnet.version or address not in subnet:
        raise UnsafePathError(f"{port.ip} of {port.node} is outside of {network.subnet}")
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        raise UnsafePathError(f"{port.ip} of {port.node} is no address of one node")
    if address.version == 4 and subnet.prefixlen < 31 and address in (subnet[0], subnet[-1]):
        raise UnsafePathError(f"{port.ip} of {port.node} is the broadcast or network address of {network.subnet}")


def _subnet(text: str) -> IPNetwork:
    try:
        return ipaddress.ip_network(text, strict=True)
    except ValueError as error:
        raise UnsafePathError(f"{text} is no subnet: {error}") from error
