"""Neighbour entries for private addresses of peers, against the NICs that have these addresses."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from checks.model.facts import AddressProbes, Cluster, Interface, Neighbour, Node, PrivateNetwork, Unknown
from checks.model.finding import Status
from checks.model.networks import layers_below, layers_of
from checks.rules.arp_places import answers
from checks.rules.private_ways import shares_subnet

IN_USE = ("reachable", "permanent", "noarp", "delay", "probe")
"""States of an entry that is in use; a stale entry may be of a NIC that was replaced."""
_BY_HAND = ("permanent", "noarp")
_NO_ANSWER = ("failed", "incomplete")


class Whose(Enum):
    """Whose MAC address an entry has."""

    OWN = "the peer's own NIC"
    OTHER_NIC = "another NIC of the peer"
    SET = "entered by hand"
    STRANGER = "no NIC of the peer"


@dataclass(frozen=True)
class NeighbourEntry:
    """What a node has for a private address of a peer."""

    node: str
    interface: str
    ip: str
    mac: str
    state: str
    network: str
    peer: str
    peer_nic: str
    peer_mac: str
    whose: Whose
    other_nic: str = ""
    """The other NIC of the peer that has the MAC address."""
    confirmed_s: int | None = None
    """Seconds since the entry was confirmed, where that was read."""
    answered_now: bool | None = None
    """Whether the MAC address answered for the address after the nodes were read; False where ARP
    probes had no answer from it, None where that is not known."""

    @property
    def is_in_use(self) -> bool:
        """Whether the entry is in use now."""
        return self.state in IN_USE

    @property
    def is_proof(self) -> bool:
        """Whether the entry shows who has the address now. One that was set by hand is in use in any case."""
        return bool(self.answered_now) or self.state in _BY_HAND

    @property
    def is_history(self) -> bool:
        """Whether the entry can be that of an earlier MAC address: no host answers with it now, or that is not known
        and the kernel has not had it confirmed lately."""
        return not self.is_proof and (self.answered_now is False or self.state != "reachable")

    @property
    def line(self) -> str:
        """The entry and the MAC address that it should have, as one line."""
        there = f"{self.peer_nic} of {self.peer} has {self.peer_mac}"
        also = f", {self.other_nic} has {self.mac}" if self.other_nic else ""
        is_right = self.whose is Whose.OWN
        age = "" if self.confirmed_s is None or is_right else f", confirmed {self.confirmed_s} s before it was read"
        return f"{self.node}: {self.ip} has {self.mac} ({self.state}{age}) on {self.interface}; {there}{also}"


def entries_status(wrong: Iterable[NeighbourEntry]) -> Status:
    """Return the status of entries with a wrong MAC address: a failure where one is in use now."""
    return Status.FAIL if any(entry.is_in_use for entry in wrong) else Status.WARN


def neighbour_entries(cluster: Cluster) -> tuple[NeighbourEntry, ...]:
    """Return the entries for private addresses of peers that one node has, those in use after the pings first.

    Left out are the addresses that several nodes have, entries on another NIC than that of the network, which a route
    makes (private-routes), and peers with two private NICs in one subnet, where each NIC
    answers for all addresses (ip-sysctl, arp_ignore).
    """
    found = {(e.node, e.ip): e for e in _entries(cluster)}
    return tuple(found.values())


def _entries(cluster: Cluster) -> Iterator[NeighbourEntry]:
    owners = dict(_owners(cluster))
    answered = answers(cluster)
    known: list[tuple[str, str, str, str, str, int | None, bool | None]] = [
        (node.name, entry.interface, entry.ip, entry.mac_address, entry.state, entry.confirmed_s, None)
        for node in cluster.read_nodes()
        for entry in node.neighbours
        if _is_usable(node, entry)
    ]
    # Later ones replace earlier ones: the nodes were read before the pings.
    states = {(node, ip): state for node, _, ip, _, state, *_ in known if state in _BY_HAND}
    for path in cluster.read_paths():
        if path.neighbour_mac and (port := _port(cluster, path.network, path.from_node)):
            state = states.get((path.from_node, path.destination_ip), "reachable")
            confirmed = path.neighbour_is_new or None
            known.append((path.from_node, port, path.destination_ip, path.neighbour_mac, state, None, confirmed))
    for name, interface, ip, mac, state, confirmed_s, is_new in known:
        if ip not in owners or not mac or state in _NO_ANSWER:
            continue
        network, peer, nic = owners[ip]
        own = network.port(name)
        if own and interface != own.interface and not ip.startswith("169.254."):
            continue
        if peer.name != name:
            whose, other = _whose(peer, nic, mac.casefold(), state)
            if whose is Whose.OTHER_NIC and shares_subnet(cluster, network):
                continue
            yield NeighbourEntry(
                name, interface, ip, mac.casefold(), state, network.name, peer.name, nic.name,
                nic.mac_address.casefold(), whose, other, confirmed_s,
                is_new or _answered_now(cluster, answered.get(ip), name, peer.name, mac.casefold(), whose),
            )  # fmt: skip


def _answered_now(
    cluster: Cluster, macs: tuple[str, ...] | None, node: str, peer: str, mac: str, whose: Whose
) -> bool | None:
    """Return whether a MAC address was among the answers. The node that asks does not answer its own probes, and what
    it does not hear of a peer's other NIC, a node with crossed cables can hear."""
    if macs is None or mac in macs:
        return None if macs is None else True
    asker = cluster.owners.node if isinstance(cluster.owners, AddressProbes) else ""
    is_own = peer == asker and any(i.mac_address.casefold() == mac for i in _interfaces(cluster, peer))
    return None if is_own or (whose is not Whose.STRANGER and node != asker) else False


def _interfaces(cluster: Cluster, name: str) -> tuple[Interface, ...]:
    node = cluster.node(name)
    return node.interfaces if node else ()


def _is_usable(node: Node, entry: Neighbour) -> bool:
    """Return whether the node can use an entry. After a HAIP moved, the old NIC keeps entries for the range of HAIP."""
    interface = node.interface(entry.interface)
    if interface is None or not entry.ip.startswith("169.254."):
        return True
    try:
        ip = ipaddress.IPv4Address(entry.ip)
        own = [ipaddress.IPv4Interface(f"{a.ip}/{a.prefix_length}").network for a in interface.addresses if "." in a.ip]
    except ValueError:
        return True
    return any(ip in network for network in own)


def _owners(cluster: Cluster) -> Iterator[tuple[str, tuple[PrivateNetwork, Node, Interface]]]:
    found = [
        (address.ip, (network, node, interface))
        for network in ([] if isinstance(cluster.networks, Unknown) else cluster.networks)
        for port in network.ports
        if (node := cluster.node(port.node)) and (interface := node.interface(port.interface))
        if interface.mac_address
        for address in interface.addresses
    ]
    nodes = Counter(ip for ip, _ in {(ip, node.name) for ip, (_, node, _) in found})
    yield from (pair for pair in found if nodes[pair[0]] == 1)


def _whose(peer: Node, nic: Interface, mac: str, state: str) -> tuple[Whose, str]:
    # The members of a bond answer with MAC addresses of their own in mode balance-alb, and after a failover with
    # fail_over_mac.
    # What lies on the NIC, such as a macvlan, is on the same cable, and the kernel answers there too (arp_ignore 0).
    upon = [i for i in peer.interfaces if any(lower.name == nic.name for _, lower in layers_below(peer, i))]
    own = [*layers_of(peer, nic), *upon]
    if mac in (i.mac_address.casefold() for i in own):
        return Whose.OWN, ""
    other = next((i.name for i in peer.interfaces if i.mac_address.casefold() == mac), "")
    if other:
        return Whose.OTHER_NIC, other
    return (Whose.SET if state in _BY_HAND else Whose.STRANGER), ""


def _port(cluster: Cluster, network: str, node: str) -> str:
    found = cluster.network(network)
    port = found.port(node) if found else None
    return port.interface if port else ""
