"""Who answered the ARP probes of this run, and on which private networks each private NIC was heard."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import AddressProbe, AddressProbes, Cluster, Interface, Port, Unknown
from checks.model.networks import layers_below


@dataclass(frozen=True)
class HeardNic:
    """A private NIC whose own MAC address answered ARP probes on other networks than its own."""

    port: Port
    network: str
    on: tuple[str, ...]
    """The other private networks on which it answered."""
    is_at_home: bool
    """Whether it answered on its own network too, or was not asked there, as this node's own NICs are not."""
    lines: tuple[str, ...]
    """What was sent where, and who answered."""


@dataclass(frozen=True)
class Places:
    """What the probes show of the broadcast domains of the private networks."""

    elsewhere: tuple[HeardNic, ...] = ()
    asked: tuple[tuple[str, str], ...] = ()
    """The pairs of networks between which probes were sent: from the NIC of the first, for addresses of the second."""
    alike: tuple[Port, ...] = ()
    """The ports that have a MAC address in common with another private port of their node: an answer does not tell
    which of them it is."""

    @property
    def joined(self) -> tuple[HeardNic, ...]:
        """Return the NICs that are on two networks at once: these are one broadcast domain there."""
        return tuple(heard for heard in self.elsewhere if heard.is_at_home)


def answers(cluster: Cluster) -> dict[str, tuple[str, ...]]:
    """Return who answered for each address that was asked for on its own network, as MAC addresses by IP address."""
    return {probe.ip: tuple(mac.casefold() for mac in probe.macs) for probe in _sent(cluster)}


def places(cluster: Cluster) -> Places:
    """Return on which networks the private NICs answered.

    A kernel answers for each of its addresses on each NIC where arp_ignore is 0, with the MAC address of the NIC that
    the request came in on. So the MAC address in an answer tells which NIC is on the network of the sender.
    """
    owners = cluster.owners
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    if not isinstance(owners, AddressProbes) or len(networks) < 2:
        return Places()
    own = {(port.interface): n.name for n in networks for port in n.ports if port.node == owners.node}
    ports = [(n, port) for n in networks for port in n.ports if cluster.interface(port)]
    macs = {port: macs_of(cluster, port) for _, port in ports}
    alike = {
        port
        for n, port in ports
        for m, other in ports
        if n is not m and port.node == other.node and (port.interface == other.interface or macs[port] & macs[other])
    }
    subnets = {n.name: n.subnet for n in networks}
    found = []
    sent = (*_sent(cluster), *(owners.across or ()))
    for network, port in ports:
        if port in alike:
            continue
        heard = [
            (p, own[p.interface]) for p in sent if p.interface in own and macs[port] & {m.casefold() for m in p.macs}
        ]
        others = dict.fromkeys(name for _, name in heard if subnets[name] != network.subnet)
        if others:
            at_home = port.node == owners.node or any(name == network.name for _, name in heard)
            lines = [_line(owners.node, p) for p, name in heard if name != network.name]
            found.append(HeardNic(port, network.name, tuple(others), at_home, tuple(lines)))
    asked = tuple(dict.fromkeys((own[p.interface], p.network) for p in owners.across or () if p.interface in own))
    return Places(tuple(found), asked, tuple(alike))


def macs_of(cluster: Cluster, port: Port) -> frozenset[str]:
    """Return the MAC addresses with which a port can answer: its own, and those of the members of a bond."""
    node, top = cluster.node(port.node), cluster.interface(port)
    if node is None or top is None:
        return frozenset()
    layers: list[Interface] = [top, *(lower for _, lower, _ in layers_below(node, top))]
    return frozenset(i.mac_address.casefold() for i in layers if i.mac_address.strip("0:"))


def _sent(cluster: Cluster) -> tuple[AddressProbe, ...]:
    owners = cluster.owners
    return owners.probes if isinstance(owners, AddressProbes) and not isinstance(owners.probes, Unknown) else ()


def _line(sender: str, probe: AddressProbe) -> str:
    return f"{sender} asked on {probe.interface} for {probe.ip} of {probe.node}: answers from {', '.join(probe.macs)}"
