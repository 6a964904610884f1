"""The ports that the nodes have on the configured private networks: pure functions of facts."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from checks.model.check import UnknownKind
from checks.model.facts import (
    Address,
    Cluster,
    Clusterware,
    ConfiguredInterface,
    Interface,
    IPAddress,
    IPNetwork,
    Node,
    Port,
    PrivateNetwork,
    Unknown,
)

NO_GRID_HOME = UnknownKind(
    "IC-GRID-007",
    "No usable Grid home was found on this node",
    "racwire queries Clusterware for the private networks and nodes. Without Clusterware you must name them.",
)
"""Of the check of Clusterware, and of every other check that needs what only Clusterware says."""


def private_networks(
    clusterware: Clusterware | Unknown, named_subnets: Sequence[str], nodes: Iterable[Node]
) -> tuple[PrivateNetwork, ...] | Unknown:
    """Return the private networks: those of the settings if there are any, else those of oifcfg.

    oifcfg prints no netmask, so a network's prefix length is that of the interfaces found on it.
    """
    read = tuple(nodes)
    if named_subnets:
        wanted = tuple(ConfiguredInterface("*", s, "global", ("cluster_interconnect",)) for s in named_subnets)
        return _resolve_all(wanted, read, "settings")
    if isinstance(clusterware, Unknown):
        return clusterware
    if isinstance(clusterware.configuration, Unknown):
        return clusterware.configuration
    entries = _without_repeats(e for e in clusterware.configuration.interfaces if e.is_private)
    return _resolve_all(entries, read, "oifcfg")


def subnet_of(text: str) -> IPNetwork | IPAddress | None:
    """Return a subnet as an operator or oifcfg writes it: a network where it has a prefix length, else an address."""
    try:
        return ipaddress.ip_network(text) if "/" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


def in_subnet(address: Address, subnet: str) -> bool:
    """Return whether an address is in a subnet; a subnet without a prefix length gets that of the address."""
    wanted = subnet_of(subnet)
    if wanted is None:
        return False
    if isinstance(wanted, IPNetwork):
        return ipaddress.ip_address(address.ip) in wanted
    return address.network.network_address == wanted


def _without_repeats(entries: Iterable[ConfiguredInterface]) -> tuple[ConfiguredInterface, ...]:
    return tuple({(e.name, e.subnet): e for e in entries}.values())


def _resolve_all(
    entries: Sequence[ConfiguredInterface], nodes: Sequence[Node], named_by: str
) -> tuple[PrivateNetwork, ...]:
    found = [[(node, *place) for node in nodes if (place := _place(node, entry, entries))] for entry in entries]
    order = [node.name for node in nodes]
    found = [sorted(places + _strays(places, nodes), key=lambda p: order.index(p[0].name)) for places in found]
    mtus = [[interface.mtu for _, interface, _ in places] for places in found]
    elsewhere = [[mtu for j, others in enumerate(mtus) if j != i for mtu in others] for i in range(len(mtus))]
    networks = []
    for i, entry in enumerate(entries):
        cidr = str(_usual_subnet(found[i])) if found[i] and "/" not in entry.subnet else entry.subnet
        shared = sum(e.subnet == entry.subnet for e in entries) > 1
        networks.append(
            PrivateNetwork(
                name=f"{entry.name} {cidr}" if shared else cidr,
                interface=entry.name,
                subnet=cidr,
                named_by=named_by,
                ports=tuple(Port(node.name, interface.name, address.ip) for node, interface, address in found[i]),
                mtu=usual_mtu(mtus[i], elsewhere[i]),
            )
        )
    return tuple(networks)


def _usual_subnet(places: Sequence[tuple[Node, Interface, Address]]) -> IPNetwork:
    """Return the subnet of most of the addresses: one node's netmask may be wrong."""
    return Counter(address.network for _, _, address in places).most_common(1)[0][0]


def _strays(
    places: Sequence[tuple[Node, Interface, Address]], nodes: Sequence[Node]
) -> list[tuple[Node, Interface, Address]]:
    """Return the nodes whose address is in the subnet of the others although their own netmask gives another subnet.

    An address with the right netmask is not included: it belongs to another network in the same subnet.
    """
    if not places:
        return []
    subnet = _usual_subnet(places)
    there = {node.name for node, _, _ in places}
    strays = {
        node.name: (node, interface, address)
        for node in nodes
        if node.name not in there
        for interface in node.interfaces
        for address in interface.addresses
        if not address.is_link_local and ipaddress.ip_address(address.ip) in subnet and address.network != subnet
    }
    return list(strays.values())


def _place(
    node: Node, entry: ConfiguredInterface, entries: Sequence[ConfiguredInterface]
) -> tuple[Interface, Address] | None:
    """Return the interface and address of a node on a network, by subnet; the name decides only between several."""
    places = [
        (interface, address)
        for interface in node.interfaces
        for address in interface.addresses
        if not is_haip(address, entry.subnet) and in_subnet(address, entry.subnet)
    ]
    named = [place for place in places if fnmatchcase(place[0].name, entry.name)]
    if named:
        return named[0]
    others = [e.name for e in entries if e.subnet == entry.subnet and e.name != entry.name]
    left = [place for place in places if not any(fnmatchcase(place[0].name, name) for name in others)]
    return left[0] if left else None


def is_haip(address: Address, subnet: str) -> bool:
    """Return whether an address is that of a HAIP: one in 169.254.0.0/16, unless the private network lies there and the
    address has no alias, which those of Clusterware have (`eth1:1`)."""
    return address.is_link_local and not (subnet.startswith("169.254.") and not address.label)


def usual_mtu(mtus: Sequence[int], elsewhere: Sequence[int]) -> int | Unknown:
    """Return the MTU of most ports; in a tie the MTU of most ports on other private networks, then the larger one."""
    if not mtus:
        return Unknown("no node that could be read has a port on this network")
    counted, others = Counter(mtus), Counter(elsewhere)
    return max(counted, key=lambda mtu: (counted[mtu], others[mtu], mtu))


def subnets_found(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return each IPv4 subnet of these nodes, with its interface and MTU: the private networks are among them."""
    # An interface has several addresses of one subnet where it holds a VIP.
    found = dict.fromkeys(
        f"{address.network} ({interface.name}, MTU {interface.mtu})"
        for node in nodes
        for interface in node.interfaces
        for address in interface.addresses
        if interface.kind != "loopback" and ":" not in address.ip and not address.is_link_local
    )
    return tuple(found)


def layers_below(node: Node, top: Interface) -> Iterator[tuple[str, Interface]]:
    """Yield the layers below an interface: the relation, and the lower interface."""
    seen, below = {top.name}, [top]
    while below:
        upper = below.pop()
        member = "a member" if upper.kind in ("bond", "team") else "a port"
        lower = [(f"{member} of {upper.name}", name) for name in upper.members]
        if upper.parent:
            lower.append((f"the parent of {upper.name}", upper.parent))
        for relation, name in lower:
            interface = node.interface(name)
            if interface is not None and name not in seen:
                seen.add(name)
                yield relation, interface
                below.append(interface)


def layers_of(node: Node, top: Interface) -> tuple[Interface, ...]:
    """Return an interface and all layers below it: bond members, the parents of VLANs, the ports of bridges."""
    return top, *(lower for _, lower in layers_below(node, top))


def nics_of(cluster: Cluster, port: Port) -> Iterator[str]:
    """Yield the NICs of a port: its own interface, or the members of its bond."""
    node, top = cluster.node(port.node), cluster.interface(port)
    below = layers_of(node, top) if node and top else ()
    known = {interface.name for interface in below}
    lowest = [i.name for i in below if not known.intersection((*i.members, i.parent))]
    yield from lowest or [port.interface]


def private_layers(networks: Iterable[PrivateNetwork], nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    """Return the private interfaces of each node, with all layers below them: bond members, the parents of VLANs."""
    by_node: dict[str, dict[str, None]] = {node.name: {} for node in nodes}
    read = {node.name: node for node in nodes}
    for port in (port for network in networks for port in network.ports if port.node in read):
        top = read[port.node].interface(port.interface)
        layers = layers_of(read[port.node], top) if top else ()
        by_node[port.node] |= dict.fromkeys([port.interface, *(layer.name for layer in layers)])
    return {name: tuple(names) for name, names in by_node.items()}


def private_nics_of(cluster: Cluster, node: str) -> tuple[str, ...]:
    """Return the NICs of a node that carry its private networks, each once: the members of bonds, not the bonds."""
    ports = [port for network in cluster.read_networks() for port in network.ports if port.node == node]
    return tuple(dict.fromkeys(nic for port in ports for nic in nics_of(cluster, port)))


def private_addresses(networks: Iterable[PrivateNetwork], nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    """Return the addresses of the private interfaces of each node, those of HAIPs included; without those that belong
    to one link (fe80::/10)."""
    read = {node.name: node for node in nodes}
    by_node: dict[str, dict[str, None]] = {}
    for port in (port for network in networks for port in network.ports if port.node in read):
        top = read[port.node].interface(port.interface)
        own = [a.ip for a in top.addresses if not a.ip.startswith("fe80:")] if top else []
        by_node.setdefault(port.node, {}).update(dict.fromkeys(own))
    return {name: tuple(addresses) for name, addresses in by_node.items()}
