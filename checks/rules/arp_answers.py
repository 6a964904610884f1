"""Whether a node answers ARP requests for its private addresses, from its interfaces and kernel settings.

The rules are those of the kernel (net/ipv4/arp.c: arp_rcv, arp_ignore, arp_filter; documentation: ip-sysctl).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from checks.model.facts import Address, Cluster, Interface, Node, Port, Unknown
from checks.rules.sysctls_at_boot import effective

_WITHOUT_ARP = frozenset({"dummy", "gre", "ipip", "ipvlan", "loopback", "ppp", "sit", "tun", "vti", "wireguard"})
"""Kinds of interfaces that do no ARP by their nature."""
_ON_THIS_NIC, _SAME_SUBNET, _NEVER = 1, 2, 8
_OF_SCOPE = 3
"""arp_ignore 3: not for addresses of scope host, which racwire does not read."""


@dataclass(frozen=True)
class ArpSilence:
    """A private address for which a node does not answer the ARP requests of peers."""

    node: str
    interface: str
    """The interface on which the requests arrive."""
    network: str
    ip: str
    setting: str
    """`NOARP`, `arp_ignore` or `arp_filter`."""
    value: int
    peers: tuple[str, ...]
    """The peers that get no answer."""
    nic: str = ""
    """The interface that has the address, where it is another one."""


@dataclass(frozen=True)
class ArpReading:
    """The private NICs by what is known of them."""

    silent: tuple[ArpSilence, ...]
    judged: tuple[tuple[str, str], ...]
    """Node and network of each NIC of which flag and settings are known."""
    unread: tuple[tuple[str, str], ...]
    """Node and interface of the others."""


def arp_reading(cluster: Cluster) -> ArpReading:
    """Return which private addresses the nodes answer for, as far as flags and settings are known."""
    silent: list[ArpSilence] = []
    judged, unread = [], []
    for network in cluster.read_networks():
        for port in network.ports:
            node, own = cluster.node(port.node), cluster.interface(port)
            if node is None or own is None or own.kind in _WITHOUT_ARP or ":" in port.ip:
                continue
            if own.noarp is None or effective(cluster, node.name, own.name, "arp_ignore") in (None, _OF_SCOPE):
                unread.append((node.name, own.name))
                continue
            judged.append((node.name, network.name))
            peers = tuple(p for p in network.ports if p.node != port.node)
            silent += _of_port(cluster, node, own, network.name, port, peers)
    return ArpReading(tuple(silent), tuple(dict.fromkeys(judged)), tuple(dict.fromkeys(unread)))


def _of_port(
    cluster: Cluster, node: Node, own: Interface, network: str, port: Port, peers: tuple[Port, ...]
) -> Iterator[ArpSilence]:
    names = tuple(p.node for p in peers)
    if own.noarp:
        yield ArpSilence(node.name, own.name, network, port.ip, "NOARP", 1, names)
        return
    ignore = effective(cluster, node.name, own.name, "arp_ignore") or 0
    for nic, address in _asked_here(cluster, node, own, port, peers):
        without = tuple(
            p.node for p in peers if not _answers(ignore, address, nic is own, _sources(cluster, p, address))
        )
        if without:
            other = "" if nic is own else nic.name
            yield ArpSilence(node.name, own.name, network, address.ip, "arp_ignore", ignore, without, other)
    if effective(cluster, node.name, own.name, "arp_filter"):
        astray = _other_way(cluster, node.name, network, own.name)
        if without := tuple(p.node for p in peers if p.node in astray):
            yield ArpSilence(node.name, own.name, network, port.ip, "arp_filter", 1, without)


def _asked_here(
    cluster: Cluster, node: Node, own: Interface, port: Port, peers: tuple[Port, ...]
) -> Iterator[tuple[Interface, Address]]:
    """Yield the addresses of a node for which its peers ask on the network of this NIC: the private one, those of HAIP
    on it, and those of HAIP on another NIC that are in the range which the peers have here."""
    ranges = {
        a.network for p in peers if (interface := cluster.interface(p)) for a in interface.addresses if a.is_link_local
    }
    for nic in node.interfaces:
        for address in nic.addresses:
            is_here = nic is own and (address.ip == port.ip or address.is_link_local)
            is_elsewhere = nic is not own and address.is_link_local and not any(a.is_link_local for a in own.addresses)
            if is_here or (is_elsewhere and any(ipaddress.ip_address(address.ip) in r for r in ranges)):
                yield nic, address


def _answers(ignore: int, address: Address, is_on_it: bool, sources: list[str]) -> bool:
    if ignore == _NEVER:
        return False
    if ignore not in (_ON_THIS_NIC, _SAME_SUBNET):
        return True
    if not is_on_it:
        return False
    return ignore == _ON_THIS_NIC or not sources or any(ipaddress.ip_address(s) in address.network for s in sources)


def _sources(cluster: Cluster, peer: Port, address: Address) -> list[str]:
    """Return the addresses from which a peer asks: those of its NIC of the same kind."""
    interface = cluster.interface(peer)
    return [
        a.ip
        for a in (interface.addresses if interface else ())
        if ":" not in a.ip and a.is_link_local == address.is_link_local
    ]


def _other_way(cluster: Cluster, node: str, network: str, interface: str) -> set[str]:
    """Return the peers to which the kernel of a node sends by another interface."""
    routes = () if isinstance(cluster.effective_routes, Unknown) else cluster.effective_routes
    return {
        r.to_node
        for of_node in routes
        if of_node.node == node and not isinstance(of_node.routes, Unknown)
        for r in of_node.routes
        if r.network == network and r.interface != interface and not r.destination_ip.startswith("169.254.")
    }
