"""The parts of a case about the surroundings of the private networks: neighbours, routes, LLDP, and storage mounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
from checks.rules.private_ways import private_ways
from checks.rules.table_routes import route_to
from checks.sources.nodes.sections import OutputSection
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
    interface: str | tuple[str, ...]
    """Several: the next hops of one route."""
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
    is_haip: bool = False
    """Whether it is the answer for the HAIP addresses, not for the private ones."""
    interface: str | None = None
    gateway: str | None = None
    mtu: int | None = None
    expires_s: int | None = None
    unbound_source: str | None = None
    refusal: str | None = None
    table: str | None = None

    def changed(self, route: RouteInUse) -> RouteInUse:
        """Return the answer with the changes."""
        names = ("interface", "gateway", "mtu", "expires_s", "unbound_source", "refusal", "table")
        changes = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.refusal:
            changes["interface"] = ""
        return msgspec.structs.replace(route, **changes)


def routes_in_use(
    cluster: Cluster, declared: Sequence[RouteInUseOf], rules: Mapping[str, Sequence[str]]
) -> tuple[NodeRoutes, ...]:
    """Return the routes in use: those of the main table, but for the changes; and the policy rules by node."""
    return tuple(
        NodeRoutes(node.name, tuple(_of(cluster, node, declared)), tuple(rules.get(node.name, ())))
        for node in cluster.read_nodes()
    )


def _of(cluster: Cluster, node: Node, declared: Sequence[RouteInUseOf]) -> Iterator[RouteInUse]:
    for way in private_ways(cluster, node.name):
        own, table = way.network.port(node.name), route_to(node, way.destination_ip)
        assert own is not None
        ends = way.network.name, way.source_ip, way.to_node, way.destination_ip
        route = RouteInUse(*ends, refusal="Network is unreachable")
        if way.is_haip and table is None:
            route = RouteInUse(*ends, own.interface, unbound_source=way.source_ip)
        elif table:
            route = RouteInUse(
                *ends, table.interface, table.gateway, table.mtu, table.mtu_locked,
                unbound_source=way.source_ip if table.interface == own.interface else "",
            )  # fmt: skip
        for one in declared:
            if (one.node, one.network) != (node.name, way.network.interface) or one.is_haip != way.is_haip:
                continue
            if one.to_node in ("", way.to_node):
                route = one.changed(route)
        yield route


def with_lldp(setup: NodeSetup, text: str) -> NodeSetup:
    """Return the setup with the neighbours of an output of `lldpctl -f keyvalue`."""
    return msgspec.structs.replace(setup, lldp=parse_lldp(OutputSection(text, 0)), lacks_lldpd=False)


def storage_of(mounts: Sequence[str]) -> StorageUse:
    """Return the mounts from lines such as `/backup udp 10.1.1.9`: directory, transport, server."""
    return StorageUse((), tuple(StorageMount(m, server, protocol) for m, protocol, server in map(str.split, mounts)))
