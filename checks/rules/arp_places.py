"""Who answered the ARP probes of this run, and on which private networks each private NIC answered."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import AddressProbe, AddressProbes, Cluster, Port, Unknown
from checks.model.networks import layers_of


@dataclass(frozen=True)
class HeardNic:
    """A private NIC that is on another private network than its own, or on both."""

    port: Port
    network: str
    on: tuple[str, ...]
    """The other private networks."""
    is_at_home: bool
    """Whether it is on its own network too: then the networks are one broadcast domain there."""
    is_home_heard: bool
    """Whether another NIC answered on its own network: else its silence there shows nothing of the NIC."""
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
    unheard: tuple[Port, ...] = ()
    """The other ports of peers that answered no probe."""

    @property
    def misplaced(self) -> tuple[HeardNic, ...]:
        """The NICs that are on another network alone, but for two of a node that are on each other's: their cables
        are crossed."""
        return tuple(heard for heard in self._away if heard.is_home_heard)

    @property
    def astray(self) -> tuple[HeardNic, ...]:
        """The NICs that are on another network, of which it is not known whether they are on their own too."""
        return tuple(heard for heard in self._away if not heard.is_home_heard)

    @property
    def _away(self) -> tuple[HeardNic, ...]:
        away = [heard for heard in self.elsewhere if not heard.is_at_home]
        return tuple(
            one
            for one in away
            if not any(o.port.node == one.port.node and o.network in one.on and one.network in o.on for o in away)
        )

    def explains(self, network: str, nodes: tuple[str, str]) -> bool:
        """Return whether joined networks, or a misplaced NIC, make one of these nodes have the MAC address of another
        NIC of the other one."""
        return any(h.is_at_home and network in (h.network, *h.on) for h in self.elsewhere) or any(
            h.port.node in nodes for h in self.misplaced
        )


def answers(cluster: Cluster) -> dict[str, tuple[str, ...]]:
    """Return who answered for each address that was probed on its own network, as MAC addresses by IP address."""
    return {probe.ip: tuple(mac.casefold() for mac in probe.macs) for probe in _sent(cluster)}


def places(cluster: Cluster) -> Places:
    """Return on which networks the private NICs answered.

    A kernel answers for each of its addresses on each NIC where arp_ignore is 0, with the MAC address of the NIC that
    the request came in on. So the MAC address in an answer shows which NIC is on the network of the sender.
    """
    owners = cluster.owners
    networks = cluster.read_networks()
    if not isinstance(owners, AddressProbes) or len(networks) < 2:
        return Places()
    own = {port.interface: n.name for n in networks for port in n.ports if port.node == owners.node}
    ports = [(n, port) for n in networks for port in n.ports if cluster.interface(port)]
    macs = {port: macs_of(cluster, port) for _, port in ports}
    alike = tuple(
        port
        for n, port in ports
        if any(n is not m and port.node == other.node and macs[port] & macs[other] for m, other in ports)
    )
    sent = tuple(p for p in (*_sent(cluster), *(owners.across or ())) if p.interface in own)
    sent = tuple(sorted(sent, key=lambda p: p.node == owners.node))  # peers are the better examples
    heard = {
        port: tuple(p for p in sent if macs[port] & {mac.casefold() for mac in p.macs})
        for _, port in ports
        if port not in alike
    }
    # A NIC of this node is on its own network where it hears a peer's NIC of that network.
    at_home = {
        n.name
        for n, port in ports
        if port.node != owners.node and any(own[p.interface] == n.name for p in heard.get(port, ()))
    }
    subnets = {n.name: n.subnet for n in networks}
    found = []
    for network, port in ports:
        mine = port.node == owners.node
        if mine and network.name not in at_home:
            # It hears the NICs of the network that it is on.
            lines = [
                (n.name, _line(owners.node, p))
                for n, other in ports
                if n is not network and other.node != owners.node
                for p in heard.get(other, ())
                if own[p.interface] == network.name
            ]
        else:
            lines = [
                (own[p.interface], _line(owners.node, p))
                for p in heard.get(port, ())
                if own[p.interface] in at_home and own[p.interface] != network.name
            ]
        lines = [(name, line) for name, line in lines if subnets[name] != network.subnet and port not in alike]
        if lines:
            is_home = network.name in at_home if mine else any(own[p.interface] == network.name for p in heard[port])
            names = tuple(dict.fromkeys(name for name, _ in lines))
            texts = tuple(dict.fromkeys(line for _, line in lines))
            found.append(HeardNic(port, network.name, names, is_home, network.name in at_home, texts))
    of_ipv6 = {n.name for n in networks if ":" in n.subnet}
    asked = tuple(
        pair
        for pair in dict.fromkeys((own[p.interface], p.network) for p in owners.across or () if p.interface in own)
        if of_ipv6.isdisjoint(pair)
    )
    unheard = tuple(p for p, answered in heard.items() if not answered and p.node != owners.node and ":" not in p.ip)
    return Places(tuple(found), asked, alike, unheard)


def macs_of(cluster: Cluster, port: Port) -> frozenset[str]:
    """Return the MAC addresses with which a port can answer: its own, and those of the members of a bond."""
    node, top = cluster.node(port.node), cluster.interface(port)
    if node is None or top is None:
        return frozenset()
    layers = [*layers_of(node, top)]
    return frozenset(i.mac_address.casefold() for i in layers if i.mac_address.strip("0:"))


def _sent(cluster: Cluster) -> tuple[AddressProbe, ...]:
    owners = cluster.owners
    return owners.probes if isinstance(owners, AddressProbes) and not isinstance(owners.probes, Unknown) else ()


def _line(sender: str, probe: AddressProbe) -> str:
    return f"{sender} asked on {probe.interface} for {probe.ip} of {probe.node}: answers from {', '.join(probe.macs)}"
