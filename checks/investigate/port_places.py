"""Which switch port leads to which node: by a person, by the MAC table, by LLDP, by its description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

import msgspec

from checks.investigate.outputs.port_names import port_name
from checks.model.facts import AddressProbes, Cluster, LldpNeighbour, Unknown
from checks.model.networks import nics_of
from checks.model.pasted import Pasted
from checks.rules.arp_places import macs_of


class PortFoundBy(Enum):
    """How it is known to which node a port leads. The order is that of trust."""

    PERSON = "a person named the port"
    MAC_TABLE = "the switch learned the node's MAC address there"
    LLDP = "the switch announces the port to the node"
    DESCRIPTION = "its description names the node"


class NodePlace(msgspec.Struct, frozen=True, kw_only=True):
    """One node on one private network."""

    network: str
    node: str
    nics: tuple[str, ...]
    """Its interface there, with the members of a bond."""
    macs: frozenset[str]
    addresses: frozenset[str]
    mtu: int | None
    neighbours: tuple[LldpNeighbour, ...] = ()
    """The switch ports that LLDP shows at these NICs."""
    strange_macs: frozenset[str] = frozenset()
    """MAC addresses that are not the node's, and answered for one of its private addresses."""


class LeadingPort(msgspec.Struct, frozen=True, kw_only=True):
    """A switch port that leads to a node, its port-channel, or a member."""

    device: str
    port: str
    by: PortFoundBy
    vlan: str = ""
    """The VLAN in which the switch learned the node there."""

    @property
    def key(self) -> tuple[str, str]:
        """Device and name."""
        return self.device, self.port.casefold()


def node_places(cluster: Cluster) -> tuple[NodePlace, ...]:
    """Return each node on each private network, as the facts have it."""
    return tuple(_places(cluster))


def _places(cluster: Cluster) -> Iterator[NodePlace]:
    for network in cluster.read_networks():
        for port in network.ports:
            top = cluster.interface(port)
            nics = tuple(dict.fromkeys((port.interface, *nics_of(cluster, port))))
            setup = cluster.setup(port.node)
            lldp = () if setup is None or isinstance(setup.lldp, Unknown) else setup.lldp
            own = macs_of(cluster, port)
            yield NodePlace(
                network=network.name,
                node=port.node,
                nics=nics,
                macs=own,
                addresses=frozenset({port.ip, *((a.ip for a in top.addresses) if top else ())}),
                mtu=top.mtu if top else None,
                neighbours=tuple(one for one in lldp if one.interface in nics),
                strange_macs=frozenset(_answered(cluster, network.name, port.node)) - own,
            )


def _answered(cluster: Cluster, network: str, node: str) -> Iterator[str]:
    owners = cluster.owners
    if isinstance(owners, AddressProbes) and not isinstance(owners.probes, Unknown):
        for probe in owners.probes:
            if (probe.network, probe.node) == (network, node):
                yield from (mac.casefold() for mac in probe.macs)


def port_of_node(
    pasted: Pasted,
    place: NodePlace,
    others: Iterable[NodePlace] = (),
    said: Mapping[tuple[str, str], str] | None = None,
) -> tuple[LeadingPort, ...]:
    """Return the ports of a paste that lead to one node on one network; empty: not known, and a person has to name it.

    `others`: the other places of the cluster. A port at which the switch learned several nodes is a trunk, and leads to
    none of them alone. `said`: port by network and node, as a person named it.
    """
    if said and (named := said.get((place.network, place.node))):
        found = [_leading(pasted, port_name(named), PortFoundBy.PERSON)]
    else:
        rest = [one for one in others if (one.network, one.node) != (place.network, place.node)]
        found = (
            _by_macs(pasted, place, rest)
            or [
                _leading(pasted, port_name(one.port), PortFoundBy.LLDP, one.switch)
                for one in place.neighbours
                if one.port and (not _devices(pasted) or _short(one.switch).casefold() in _devices(pasted))
            ]
            or _by_description(pasted, place, rest)
        )
    return tuple(dict.fromkeys((*found, *(member for one in found for member in _members(pasted, one)))))


def _leading(pasted: Pasted, port: str, by: PortFoundBy, switch: str = "") -> LeadingPort:
    """The port, on the device of that name where the paste names devices."""
    devices = (
        (one.device for one in pasted.ports),
        (one.device for one in pasted.members),
        (t.device for t in pasted.trees),
    )
    device = next((name for names in devices for name in names if not switch or _is_named(name, switch)), "")
    return LeadingPort(device=device, port=port, by=by)


def _by_macs(pasted: Pasted, place: NodePlace, others: list[NodePlace]) -> list[LeadingPort]:
    of_others = {mac for one in others if one.node != place.node for mac in one.macs}
    shared = {(entry.device, entry.port) for entry in pasted.macs if entry.mac in of_others}
    return [
        LeadingPort(device=entry.device, port=entry.port, by=PortFoundBy.MAC_TABLE, vlan=entry.vlan)
        for entry in pasted.macs
        if entry.mac in place.macs and entry.is_learned and (entry.device, entry.port) not in shared
    ]


def _by_description(pasted: Pasted, place: NodePlace, others: list[NodePlace]) -> list[LeadingPort]:
    """The port whose description names the node, and a NIC of the node where it has several private networks."""
    has_several = any(one.node == place.node for one in others)
    named = [
        port
        for port in pasted.ports
        if _names(port.description, _short(place.node))
        and (not has_several or any(_names(port.description, nic) for nic in place.nics))
    ]
    if len(named) != 1:
        return []
    return [LeadingPort(device=named[0].device, port=named[0].name, by=PortFoundBy.DESCRIPTION)]


def _names(description: str, name: str) -> bool:
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])", description, re.IGNORECASE) is not None


def _members(pasted: Pasted, port: LeadingPort) -> Iterator[LeadingPort]:
    """The members of a port-channel, and the port-channel of a member."""
    for member in pasted.members:
        if member.device == port.device and member.channel.casefold() == port.port.casefold():
            yield LeadingPort(device=member.device, port=member.port, by=port.by, vlan=port.vlan)
        elif member.device == port.device and member.port.casefold() == port.port.casefold() and member.channel:
            yield LeadingPort(device=member.device, port=member.channel, by=port.by, vlan=port.vlan)


def _short(host: str) -> str:
    return host.partition(".")[0]


def _is_named(device: str, switch: str) -> bool:
    return not device or _short(device).casefold() == _short(switch).casefold()


def _devices(pasted: Pasted) -> frozenset[str]:
    return frozenset(_short(port.device).casefold() for port in pasted.ports) - {""}
