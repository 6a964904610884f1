"""The parts of a case about the surroundings of the private networks: neighbours, routes, LLDP, and storage mounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from checks.model.facts import (
    AddressProbe,
    AddressProbes,
    Cluster,
    Node,
    NodeRoutes,
    NodeSetup,
    RouteInUse,
    StorageMount,
    StorageUse,
)
from checks.rules.table_routes import route_to
from checks.sources.nodes.sections import Section
from checks.sources.nodes.setup_text import parse_lldp


class NeighbourOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A neighbour entry of some nodes."""

    node: str | tuple[str, ...]
    ip: str
    interface: str
    mac: str
    state: str = "reachable"
    confirmed_s: int | None = None


class AnswerOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"asked_on": "on"}):
    """Who answers the ARP probes of rac1 for an address, or a HAIP address for which it asks too."""

    ip: str
    macs: tuple[str, ...]
    asked_on: str = ""
    """The NIC of rac1; empty for that of the address's own network."""
    owner: str = ""
    """The node that has the address; with it the address is asked for, too."""


def with_answers(owners: AddressProbes, declared: Sequence[AnswerOf]) -> AddressProbes:
    """Return the ARP probes with these answers."""
    assert isinstance(owners.probes, tuple)
    networks = {probe.interface: probe.network for probe in owners.probes}
    probes, across = list(owners.probes), list(owners.across or ())
    for one in declared:
        if one.owner:
            probes.append(AddressProbe(networks[one.asked_on], one.owner, one.ip, one.asked_on, 2, one.macs))
            continue
        for group in (probes, across):
            for number, probe in enumerate(group):
                is_own = networks[probe.interface] == probe.network
                if probe.ip == one.ip and (probe.interface == one.asked_on or (is_own and not one.asked_on)):
                    group[number] = msgspec.structs.replace(probe, macs=one.macs)
    return msgspec.structs.replace(owners, probes=tuple(probes), across=tuple(across) or None)


class RouteOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A route of a node, which replaces the one with the same destination and metric."""

    node: str | tuple[str, ...]
    to: str
    interface: str
    gateway: str = ""
    mtu: int | None = None
    mtu_locked: bool = False
    metric: int = 0


class RouteInUseOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"to_node": "to"}):
    """Changes of the answer of `ip route get` on a node, for the addresses of its peers on one network."""

    node: str
    network: str = "eth2"
    """The network, by its interface in oifcfg."""
    to_node: str = ""
    """The peer; empty for all."""
    interface: str | None = None
    gateway: str | None = None
    mtu: int | None = None
    expires_s: int | None = None
    unbound_source: str | None = None
    refusal: str | None = None

    def changed(self, route: RouteInUse) -> RouteInUse:
        """Return the answer with the changes."""
        names = ("interface", "gateway", "mtu", "expires_s", "unbound_source", "refusal")
        changes = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.refusal:
            changes["interface"] = ""
        return msgspec.structs.replace(route, **changes)


def routes_in_use(cluster: Cluster, declared: Sequence[RouteInUseOf]) -> tuple[NodeRoutes, ...]:
    """Return the routes in use: those of the main table, but for the changes."""
    return tuple(NodeRoutes(node.name, tuple(_of(cluster, node, declared))) for node in cluster.read_nodes())


def _of(cluster: Cluster, node: Node, declared: Sequence[RouteInUseOf]) -> Iterator[RouteInUse]:
    assert isinstance(cluster.networks, tuple)
    for network in cluster.networks:
        own = network.port(node.name)
        for port in network.ports if own else ():
            if own is None or port.node == node.name:
                continue
            table = route_to(node, port.ip)
            route = RouteInUse(network.name, own.ip, port.node, port.ip, refusal="Network is unreachable")
            if table:
                route = RouteInUse(
                    network.name, own.ip, port.node, port.ip, table.interface, table.gateway, table.mtu,
                    table.mtu_locked, unbound_source=own.ip if table.interface == own.interface else "",
                )  # fmt: skip
            for one in declared:
                if (one.node, one.network) == (node.name, network.interface) and one.to_node in ("", port.node):
                    route = one.changed(route)
            yield route


def with_lldp(setup: NodeSetup, text: str) -> NodeSetup:
    """Return the setup with the neighbours of an output of `lldpctl -f keyvalue`."""
    return msgspec.structs.replace(setup, lldp=parse_lldp(Section(text, 0)), lacks_lldpd=False)


def storage_of(mounts: Sequence[str]) -> StorageUse:
    """Return the mounts from lines such as `/backup udp 10.1.1.9`: directory, transport, server."""
    return StorageUse((), tuple(StorageMount(m, server, protocol) for m, protocol, server in map(str.split, mounts)))
