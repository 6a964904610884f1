"""Where the interconnects that an instance uses lie: on which private network, by its address or by a HAIP's alias."""

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
class Place:
    """One interconnect of one instance, and where it lies."""

    used: InterconnectInUse
    network: PrivateNetwork | None
    """None where it is on none of those known."""
    public: str
    """Why it is public; empty where nothing says so."""

    @property
    def is_haip(self) -> bool:
        """Whether it is an address that Clusterware put there: from 169.254.0.0/16 (MOS 1210883.1)."""
        return Address(self.used.ip, 32).is_haip

    @property
    def from_parameter(self) -> bool:
        """Whether the instance has it from the parameter; its wording differs between releases."""
        return PARAMETER in self.used.source.casefold()

    def __str__(self) -> str:
        """`eth1:1 169.254.10.1`, with where the instance says it has it from."""
        source = f" (from {self.used.source})" if self.used.source else ""
        return f"{self.used.name} {self.used.ip}{source}"


def places(cluster: Cluster, used: tuple[InterconnectInUse, ...]) -> tuple[Place, ...]:
    """Where these interconnects lie."""
    return tuple(Place(one, network_of(cluster, one), _public(cluster, one)) for one in used)


def known_networks(cluster: Cluster) -> tuple[PrivateNetwork, ...]:
    """The private networks, where they are known."""
    return () if isinstance(cluster.networks, Unknown) else cluster.networks


def network_of(cluster: Cluster, used: InterconnectInUse) -> PrivateNetwork | None:
    """By the node's own addresses; else by the subnet; a HAIP address by the interface below its alias."""
    networks, node = known_networks(cluster), node_of(cluster, used.instance)
    interface = used.name.partition(":")[0]
    if Address(used.ip, 32).is_haip:
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
        return "the instance says so (IS_PUBLIC)"
    for subnet in _public_subnets(cluster):
        if _lies_in(used.ip, subnet):
            return f"it lies in the public network {subnet}"
    return ""


def _public_subnets(cluster: Cluster) -> Iterator[str]:
    """Those that oifcfg names public and not private as well, with the length that the nodes' addresses have."""
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
