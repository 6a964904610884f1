"""The cluster that a case makes: the tables below `[make]` of a case file.

`README.md` in this directory explains the format.
"""

from __future__ import annotations

import ipaddress
from typing import Any

import msgspec

from checks.model.facts import (
    Activity,
    Address,
    AddressProbes,
    Cluster,
    Clusterware,
    ConfiguredInterface,
    CounterChange,
    DriverCounters,
    Haip,
    Interface,
    InterfaceConfiguration,
    Neighbour,
    NicAddresses,
    NicState,
    Node,
    NodeSetup,
    NotAsked,
    Route,
    Unknown,
    UnreadNode,
)
from checks.sources.nodes.ip_text import parse_routes
from tests.cases import healthy_facts
from tests.cases.any_fact import with_values
from tests.cases.host_parts import DriverOf, HostOf
from tests.cases.log_case import LogLineOf, logs_of
from tests.cases.network_parts import (
    AnswerOf,
    NeighbourOf,
    RouteInUseOf,
    RouteOf,
    routes_in_use,
    storage_of,
    with_answers,
    with_lldp,
)
from tests.cases.path_parts import BootOf, PathOf, Table, several
from tests.fixtures.clusters import cluster, clusterware, interface, node, with_paths
from tests.fixtures.databases import (
    activity,
    asked,
    change,
    counters,
    database,
    device,
    history,
    own_activity,
    pings,
    system,
)
from tests.fixtures.databases import past_loss as loss_of_the_past
from tests.fixtures.databases import transfers as transfers_of
from tests.fixtures.probed import probed

NOT_REQUESTED = NotAsked("No database was named.")


class InterfaceOf(Table, frozen=True, kw_only=True):
    """A changed or an additional interface on some nodes."""

    node: str | tuple[str, ...]
    name: str
    mtu: int | None = None
    renamed: str | None = None
    kind: str | None = None
    mac: str | None = None
    master: str | None = None
    parent: str | None = None
    members: tuple[str, ...] | None = None
    addresses: tuple[str, ...] | None = None
    speed: int | str | None = None
    """In Mbit/s; a text is the reason why it is not known."""
    duplex: str | None = None
    link: str | None = None
    """The link state of the kernel: `down`, `lowerlayerdown`."""
    noarp: bool | None = None
    off: bool = False
    """Whether the administrator has switched the interface off."""

    def changed(self, old: Interface | None) -> Interface:
        """Return the interface with the changes of the case."""
        fields = {
            "name": self.renamed,
            "mtu": self.mtu,
            "kind": self.kind,
            "mac_address": self.mac,
            "master": self.master,
            "parent": self.parent,
            "members": self.members,
            "operational_state": self.link,
            "noarp": self.noarp,
            "administratively_up": False if self.off else None,
            "speed_mbps": Unknown(self.speed) if isinstance(self.speed, str) else self.speed,
            "duplex": Unknown(self.speed) if isinstance(self.speed, str) else self.duplex,
        }
        if self.addresses is not None:
            fields["addresses"] = tuple(_address(text) for text in self.addresses)
        base = old or interface(self.name, "")
        return msgspec.structs.replace(base, **{key: value for key, value in fields.items() if value is not None})


def _connected(routes: tuple[Route, ...], nic: Interface) -> tuple[Route, ...]:
    """Return the routes as a kernel has them after the addresses of a NIC changed."""
    others = tuple(r for r in routes if r.interface != nic.name or not (r.source or ":" in r.destination))
    own = {
        str(ipaddress.ip_network(f"{a.ip}/{a.prefix_length}", strict=False)): a.ip
        for a in nic.addresses
        if ":" not in a.ip
    }
    of_ipv6 = {str(a.network) for a in nic.addresses if ":" in a.ip and not a.ip.startswith("fe80:")}
    new = [*(Route(subnet, nic.name, source=ip) for subnet, ip in own.items()), *(Route(s, nic.name) for s in of_ipv6)]
    return (*others, *(new if nic.is_up else ()))


def _address(text: str) -> Address:
    """Return an address from `169.254.47.99/17`, which a label such as `eth1:1` may follow."""
    with_length, _, label = text.partition(" ")
    ip, _, length = with_length.partition("/")
    return Address(ip, int(length), label)


class LostBlocks(Table, frozen=True, kw_only=True):
    """Blocks that one instance lost from another one, as in GV$INSTANCE_CACHE_TRANSFER."""

    receiver: int
    sender: int
    blocks: int


class PingOf(Table, frozen=True, kw_only=True):
    """The pings of one instance to another."""

    from_: int
    to: int
    small_us: int
    large_us: int


class PastLoss(Table, frozen=True, kw_only=True):
    """Blocks that AWR counts as lost since 18 November."""

    instance: int
    blocks: int
    last: str = "2026-11-20T14:00:00"


class Make(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the case is made: from facts of a healthy cluster, or by faults of the practice cluster."""

    nodes: int = 2
    mtu: int = 9000
    database: str = ""
    """The release of the database; empty when no database was queried."""

    unread: dict[str, str] = {}
    oifcfg: tuple[str, ...] = ()
    haip: str = "ONLINE"
    interface: tuple[InterfaceOf, ...] = ()
    neighbour: tuple[NeighbourOf, ...] = ()
    answer: tuple[AnswerOf, ...] = ()
    """Who answers the ARP probes of rac1, where it is not the owner alone."""
    route: tuple[RouteOf, ...] = ()
    route_in_use: tuple[RouteInUseOf, ...] = ()
    rules: dict[str, tuple[str, ...]] = {}
    """Policy rules as `ip rule show` prints them, by node."""
    lldp: dict[str, str] = {}
    """Outputs of `lldpctl -f keyvalue`, by node."""
    mounts: dict[str, tuple[str, ...]] = {}
    """NFS mounts, by node: `/backup udp 10.1.1.9`."""
    log: tuple[LogLineOf, ...] = ()
    """Lines of alert logs; where there is one, the logs of all nodes were read."""
    inactive: tuple[str, ...] = ()
    """The nodes that olsnodes shows as Inactive."""
    path: tuple[PathOf, ...] = ()
    boot: tuple[BootOf, ...] = ()
    host: dict[str, HostOf] = {}
    """Changes of the setup outside Clusterware, by node."""
    sysctl: dict[str, dict[str, str]] = {}
    counted: dict[str, dict[str, dict[str, int]]] = {}
    system: dict[str, dict[str, dict[str, int]]] = {}
    ended: dict[str, dict[str, NicState]] = {}
    """MTU and state of NICs at the end of the run, by node and NIC."""
    ended_addresses: dict[str, dict[str, tuple[str, ...]]] = {}
    """The addresses of NICs at the end of the run, by node and NIC."""
    ended_routes: dict[str, tuple[str, ...]] = {}
    """The routes at the end of the run, by node, as `ip -4 route show` prints them."""
    driver: dict[str, dict[str, DriverOf]] = {}
    """What the drivers of NICs counted, by node and NIC."""
    statistics: dict[str, dict[str, int]] = {}
    lost: tuple[LostBlocks, ...] = ()
    ping: tuple[PingOf, ...] = ()
    past_loss: tuple[PastLoss, ...] = ()
    silent: bool = False
    """Whether no instance gets a block or a ping of another one."""
    facts: dict[str, Any] = {}
    """Any other values, set last: `any_fact.py`."""
    thresholds: dict[str, float] = {}

    lab: tuple[str, ...] | None = None
    """Faults of the practice cluster, as `racwire lab break` takes them; None for a case of facts."""
    interval_s: int = 1
    checks: tuple[str, ...] = ()
    """The checks to run; empty for all of them."""

    def cluster(self) -> Cluster:
        """Return the cluster made of facts."""
        nodes = [self._node(number) for number in range(1, self.nodes + 1)]
        built = cluster(nodes, self._clusterware())
        assert isinstance(built.networks, tuple)
        built = with_paths(built, *(probe for declared in self.path for probe in declared.probes(built.networks)))
        built = probed(built)
        asked_of = built.owners
        assert isinstance(asked_of, AddressProbes)
        built = msgspec.structs.replace(
            built,
            effective_routes=routes_in_use(built, self.route_in_use, self.rules),
            owners=with_answers(asked_of, self.answer),
            setups=tuple(self._with_host(self._setup(setup), built) for setup in built.setups),
            thresholds=msgspec.structs.replace(built.thresholds, **self.thresholds),
        )
        numbers = range(1, self.nodes + 1)
        built = asked(
            built,
            counters=counters(self.nodes, *(self._counted(node) for node in built.read_nodes())),
            database=database(self.nodes, self.database) if self.database else NOT_REQUESTED,
            activity=self._activity() if self.database else NOT_REQUESTED,
            history=history(
                self.nodes,
                [loss_of_the_past(loss.instance, loss.blocks, loss.last) for loss in self.past_loss],
                devices=tuple(device(n, nic, self.mtu) for n in numbers for nic in ("eth1", "eth2")),
            )
            if self.database
            else NOT_REQUESTED,
        )
        return with_values(built, self.facts)

    def _node(self, number: int) -> Node | UnreadNode:
        built = node(number, self.mtu)
        if built.name in self.unread:
            return UnreadNode(built.name, self.unread[built.name])
        for declared in self.interface:
            if built.name in several(declared.node):
                new = declared.changed(built.interface(declared.name))
                others = tuple(new if i.name == declared.name else i for i in built.interfaces)
                added = () if built.interface(declared.name) else (new,)
                built = msgspec.structs.replace(built, interfaces=(*others, *added))
                if declared.addresses is not None:
                    built = msgspec.structs.replace(built, routes=_connected(built.routes, new))
        for route in self.route:
            if built.name in several(route.node):
                hops = tuple(
                    Route(route.to, nic, route.gateway, route.mtu, route.mtu_locked, metric=route.metric)
                    for nic in several(route.interface)
                )
                others = tuple(r for r in built.routes if (r.destination, r.metric) != (route.to, route.metric))
                built = msgspec.structs.replace(built, routes=(*others, *hops))
        entries = [n for n in self.neighbour if built.name in several(n.node)]
        neighbours = tuple(Neighbour(n.ip, n.interface, n.mac, n.state, n.confirmed_s) for n in entries)
        built = msgspec.structs.replace(built, neighbours=(*built.neighbours, *neighbours))
        return msgspec.structs.replace(
            built, sysctls={**healthy_facts.SYSCTLS, **built.sysctls, **self.sysctl.get(built.name, {})}
        )

    def _clusterware(self) -> Clusterware:
        facts = clusterware(self.nodes)
        changes: dict[str, object] = {}
        if self.oifcfg:
            words = [line.split() for line in self.oifcfg]
            entries = tuple(ConfiguredInterface(n, net, scope, tuple(r.split(","))) for n, net, scope, r in words)
            changes["configuration"] = InterfaceConfiguration(entries)
        if self.inactive and isinstance(facts.members, tuple):
            changes["members"] = tuple(
                msgspec.structs.replace(m, status="Inactive") if m.name in self.inactive else m for m in facts.members
            )
        if self.haip != "ONLINE":
            changes["haip"] = Haip(False) if self.haip == "absent" else Haip(True, "ONLINE", self.haip)
        return msgspec.structs.replace(facts, **changes)

    def _with_host(self, setup: NodeSetup | UnreadNode, built: Cluster) -> NodeSetup | UnreadNode:
        node = built.node(setup.name)
        if isinstance(setup, UnreadNode) or node is None:
            return setup
        instance = f"prod{setup.name.removeprefix('rac')}" if self.database else ""
        logs = setup.logs if self.log else healthy_facts.logs(node, instance)
        host = healthy_facts.host(node, instance)
        changed = self.host[setup.name].applied(host) if setup.name in self.host else host
        return msgspec.structs.replace(setup, host=changed, logs=logs)

    def _setup(self, setup: NodeSetup | UnreadNode) -> NodeSetup | UnreadNode:
        declared = {boot.interface: boot for boot in self.boot if boot.node == setup.name}
        if self.log and isinstance(setup, NodeSetup):
            setup = msgspec.structs.replace(setup, logs=logs_of(setup.name, self.log))
        if setup.name in self.lldp and isinstance(setup, NodeSetup):
            setup = with_lldp(setup, self.lldp[setup.name])
        if isinstance(setup, UnreadNode) or not declared:
            return setup
        assert isinstance(setup.kept, tuple)
        entries = [b.kept() for b in declared.values()]
        return msgspec.structs.replace(setup, kept=(*(k for k in setup.kept if k.interface not in declared), *entries))

    def _counted(self, node: Node) -> CounterChange:
        groups = self.counted.get(node.name, {})
        flat = {f"{group}_{n}": value for group, values in groups.items() for n, value in values.items()}
        names = [i.name for i in node.interfaces]
        is_set = node.name in self.system
        machine = system(self.system[node.name], names) if is_set else healthy_facts.system(node)
        if drivers := self.driver.get(node.name):
            of_drivers = tuple(DriverCounters(nic, of.counts, of.driver) for nic, of in drivers.items())
            machine = msgspec.structs.replace(machine, drivers=of_drivers)
        states = tuple(
            self.ended.get(node.name, {}).get(i.name, NicState(i.name, i.mtu, i.operational_state))
            for i in node.interfaces
        )
        machine = msgspec.structs.replace(machine, states=states)
        counted = msgspec.structs.replace(
            change(node.name, **flat),
            machine=machine,
            addresses=self._addresses_at_the_end(node),
            routes=self._routes_at_the_end(node),
        )
        mounts = self.mounts.get(node.name)
        return msgspec.structs.replace(counted, storage=storage_of(mounts)) if mounts else counted

    def _addresses_at_the_end(self, node: Node) -> tuple[NicAddresses, ...]:
        changed = {nic: tuple(map(_address, texts)) for nic, texts in self.ended_addresses.get(node.name, {}).items()}
        return tuple(NicAddresses(i.name, changed.get(i.name, i.addresses)) for i in node.interfaces)

    def _routes_at_the_end(self, node: Node) -> tuple[Route, ...]:
        if (lines := self.ended_routes.get(node.name)) is not None:
            return parse_routes("\n".join(lines))
        return tuple(r for r in node.routes if ":" not in r.destination)

    def _activity(self) -> Activity:
        own: dict[int, dict[str, int]] = {}
        for loss in self.lost:
            statistics = own.setdefault(loss.receiver, {"gc blocks lost": 0})
            statistics["gc blocks lost"] += loss.blocks
        for name, statistics in self.statistics.items():
            own.setdefault(int(name.removeprefix("prod")), {}).update(statistics)
        if self.silent:
            none = dict.fromkeys(("gc cr blocks received", "gc current blocks received"), 0)
            return activity(
                self.nodes,
                *(own_activity(number, none, events=()) for number in range(1, self.nodes + 1)),
                transfers=tuple(
                    msgspec.structs.replace(t, cr_blocks=0, current_blocks=0) for t in transfers_of(self.nodes)
                ),
                pings=pings(self.nodes, count=0),
            )
        matrix = {(loss.receiver, loss.sender): loss.blocks for loss in self.lost}
        times = {(p.from_, p.to): (p.small_us, p.large_us) for p in self.ping}
        return activity(
            self.nodes,
            *(own_activity(number, statistics) for number, statistics in own.items()),
            transfers=transfers_of(self.nodes, matrix),
            pings=pings(self.nodes, times),
        )
