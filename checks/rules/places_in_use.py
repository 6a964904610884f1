"""The private networks of the interconnects that an instance uses, found by address or by the alias of a HAIP."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from checks.model.facts import Address, Cluster, Clusterware, InterconnectInUse, PrivateNetwork, Unknown
from checks.model.known_instances import node_of
from checks.model.networks import in_subnet

PARAMETER = "cluster_interconnects"


@dataclass(frozen=True)
class UsedPlace:
    """One interconnect of one instance, and its network."""

    used: InterconnectInUse
    network: PrivateNetwork | None
    """None where the address is on no known private network."""
    public: str
    """The reason why it is public; empty where it is not known to be public."""

    @property
    def is_haip(self) -> bool:
        """Whether Clusterware assigned the address: from 169.254.0.0/16 (MOS 1210883.1)."""
        return Address(self.used.ip, 32).is_link_local

    @property
    def from_parameter(self) -> bool:
        """Whether the instance has the address from the parameter; the wording differs between releases."""
        return PARAMETER in self.used.source.casefold()

    def __str__(self) -> str:
        """Return `eth1:1 169.254.10.1`, with the source that the instance reports."""
        source = f" (from {self.used.source})" if self.used.source else ""
        return f"{self.used.name} {self.used.ip}{source}"


def places(cluster: Cluster, used: tuple[InterconnectInUse, ...]) -> tuple[UsedPlace, ...]:
    """Return these interconnects with their networks."""
    return tuple(UsedPlace(one, network_of(cluster, one), _public(cluster, one)) for one in used)


def network_of(cluster: Cluster, used: InterconnectInUse) -> PrivateNetwork | None:
    """Return the private network of an interconnect, or None.

    It is found by the node's own addresses, else by the subnet; for a HAIP address by the interface below its alias.
    """
    networks, node = cluster.read_networks(), node_of(cluster, used.instance)
    interface = used.name.partition(":")[0]
    if Address(used.ip, 32).is_link_local:
        read = cluster.node(node)
        holders = [i.name for i in read.interfaces if any(a.ip == used.ip for a in i.addresses)] if read else []
        interface = holders[0] if holders else interface
        by_port = [n for n in networks if (port := n.port(node)) and port.interface == interface]
        by_name = [n for n in networks if n.port(node) is None and fnmatchcase(interface, n.interface)]
        return next(iter((*by_port, *by_name)), None)
    by_port = [n for n in networks if (port := n.port(node)) and port.ip == used.ip]
    by_subnet = [n for n in networks if _lies_in(used.ip, n.subnet)]
    named = [n for n in by_subnet if (port := n.port(node)) and port.interface == interface]
    return next(iter((*by_port, *named, *by_subnet)), None)


def _public(cluster: Cluster, used: InterconnectInUse) -> str:
    if used.is_public:
        return "the instance reports it (IS_PUBLIC)"
    for subnet in _public_subnets(cluster):
        if _lies_in(used.ip, subnet):
            return f"it is in the public network {subnet}"
    return ""


def _public_subnets(cluster: Cluster) -> Iterator[str]:
    """Yield the subnets that oifcfg names only public, with the prefix length of the nodes' addresses."""
    clusterware = cluster.clusterware
    if not isinstance(clusterware, Clusterware) or isinstance(clusterware.configuration, Unknown):
        return
    named = [e.subnet for e in clusterware.configuration.interfaces if e.is_public and not e.is_private]
    addresses = (a for node in cluster.read_nodes() for i in node.interfaces for a in i.addresses)
    yield from sorted({str(a.network) for a in addresses if any(in_subnet(a, subnet) for subnet in named)})


def _lies_in(ip: str, subnet: str) -> bool:
    try:
        return ipaddress.ip_address(ip) in ipaddress.ip_network(subnet, strict=False)
    except (ValueError, TypeError):
        return False
