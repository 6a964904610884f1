"""A model of a cluster for walks over a change: what its nodes and switch ports are, and what can be read of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import permutations

import msgspec

from checks.change.plan.change_plan import Layer, Plan, Step
from checks.model.facts import (
    Changing,
    Cluster,
    ConfiguredInterface,
    Interface,
    InterfaceConfiguration,
    KeptMtu,
    Managed,
    NetworkService,
    Node,
    NodeSetup,
    PathProbe,
    PingSeries,
    Unknown,
    UnreadNode,
    Verdict,
)
from checks.model.networks import private_networks
from tests.fixtures.change_plans import PROD, node_plan_for, plan_for
from tests.fixtures.clusters import SUBNETS, cluster, clusterware, interface
from tests.unit.change_support import DAEMONS, ONLINE

NODES = ("rac1", "rac2", "rac3")
SMALL, JUMBO, SWITCH = 1500, 9000, 9216
MODELLED = frozenset(
    {
        *("stack-down", "autostart-off", "mtu-untouched", "running-mtu", "kept-mtu", "rebooted", "df-ping"),
        *("one-byte-more", "stack-up", "autostart-on", "instances-up"),
    }
)
"""The gates whose facts the model has."""
_STEPS = frozenset(
    {
        *("agree", "stack-down", "set-mtu", "survives-boot", "prove-paths", "first-node", "other-nodes", "databases"),
        *("untouched", "sign-off", "services-elsewhere", "node-up", "instances"),
    }
)
_HOME = "/u01/app/19.0.0/grid"
_REASON = Unknown("the node did not answer")


class Silence(StrEnum):
    """What of a node cannot be read."""

    NOTHING = ""
    PROCESSES = "processes"
    SETUP = "setup"
    ALL = "all"


def modelled(plan: Plan) -> Plan:
    """Return the plan with the steps and gates that the model has facts for."""
    steps = (step for step in plan.steps if step.id in _STEPS)
    return msgspec.structs.replace(plan, steps=tuple(map(_modelled, steps)))


def _modelled(step: Step) -> Step:
    gates = tuple(gate for gate in step.gates if gate.check in MODELLED)
    return msgspec.structs.replace(step, gates=gates, commands=())


def _two_networks(number: int, mtus: Mapping[str, int]) -> tuple[Interface, ...]:
    return tuple(interface(nic, f"{net.removesuffix('0')}{number}", mtus[nic]) for nic, net in SUBNETS.items())


def _vlan(number: int, mtus: Mapping[str, int]) -> tuple[Interface, ...]:
    """One private network, on a VLAN."""
    return (
        interface("eth1", "", mtus["eth1"]),
        interface("eth1.100", f"192.168.10.{number}", mtus["eth1.100"], kind="vlan", parent="eth1"),
    )


@dataclass(frozen=True)
class Shape:
    """How the private networks of the nodes are built."""

    name: str
    interfaces: Callable[[int, Mapping[str, int]], tuple[Interface, ...]] = field(repr=False)
    nics: tuple[str, ...]
    """The interfaces, each after the one that it is stacked on."""
    ports: Mapping[str, str] = field(repr=False)
    """The interface of each private network, by subnet."""
    below: Mapping[str, str] = field(repr=False)
    """The interface that an interface is stacked on."""
    apart: str = ""
    """The one node with another MTU than all others, which have jumbo frames; empty where all have a small MTU."""

    def mtu(self, node: str) -> int:
        """Return the MTU of a node's interfaces before the plan."""
        return JUMBO if self.apart not in ("", node) else SMALL


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("two networks", _two_networks, ("eth1", "eth2"), {f"{n}/24": nic for nic, n in SUBNETS.items()}, {}),
        Shape("one apart", _two_networks, ("eth1", "eth2"), {f"{n}/24": nic for nic, n in SUBNETS.items()}, {}, "rac2"),
        Shape("vlan", _vlan, ("eth1", "eth1.100"), {"192.168.10.0/24": "eth1.100"}, {"eth1.100": "eth1"}),
    )
}


@cache
def plan_of(name: str) -> Plan:
    """Return racwire's own plan for the cluster of this shape, as far as the model has facts for it."""
    world = World(SHAPES[name])
    nodes = [_node(name, node, world.mtus_of(node), public=True) for node in NODES]
    setups = tuple(_setup(node, world.facts_of(node)) for node in NODES)
    facts = clusterware(len(NODES))
    private = (
        ConfiguredInterface(nic, subnet.removesuffix("/24"), "global", ("cluster_interconnect",))
        for subnet, nic in SHAPES[name].ports.items()
    )
    configured = InterfaceConfiguration((ConfiguredInterface("eth0", "10.20.0.0", "global", ("public",)), *private))
    facts = msgspec.structs.replace(facts, configuration=configured)
    managed = Managed((PROD,), None)
    built = msgspec.structs.replace(cluster(nodes, facts), setups=setups, managed=managed, paths=world.facts().paths)
    return modelled(node_plan_for(built) if world.shape.apart else plan_for(built))


Of = tuple[str, str]
"""A node and an interface."""


@dataclass
class World:
    """The nodes as they are."""

    shape: Shape
    mtu: dict[Of, int] = field(default_factory=dict)
    kept: dict[Of, int | None] = field(default_factory=dict)
    """The MTU that a file sets; None for a file without one."""
    runs: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(NODES, True))
    starts: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(NODES, True))
    boots: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NODES, 0))
    silent: dict[str, Silence] = field(default_factory=lambda: dict.fromkeys(NODES, Silence.NOTHING))
    switch: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NODES, SWITCH))
    """The MTU of the switch ports of a node."""

    def __post_init__(self) -> None:
        for node in NODES:
            for nic in self.shape.nics:
                self.mtu.setdefault((node, nic), self.shape.mtu(node))
                is_set = node != "rac3" or self.shape.apart
                self.kept.setdefault((node, nic), self.shape.mtu(node) if is_set else None)

    def copy(self) -> World:
        """Return the same world, to be changed apart."""
        parts = (self.mtu, self.kept, self.runs, self.starts, self.boots, self.silent, self.switch)
        return World(self.shape, *(dict(part) for part in parts))  # type: ignore[arg-type]

    # --- what people and nodes do -------------------------------------------------------------------------------------

    def set(self, node: str, nic: str, mtu: int) -> None:
        """Set the MTU as the kernel does: no interface has a larger MTU than the one it is stacked on."""
        below = self.shape.below.get(nic)
        if below is not None and mtu > self.mtu[node, below]:
            return
        self.mtu[node, nic] = mtu
        for above, own in self.shape.below.items():
            if own == nic:
                self.mtu[node, above] = min(self.mtu[node, above], mtu)

    def boot(self, node: str) -> None:
        """Boot a node: the files decide the MTU, and the autostart whether Clusterware runs."""
        self.boots[node] += 1
        for nic in self.shape.nics:
            self.mtu[node, nic] = self.after_boot(node, nic)
        self.runs[node] = self.starts[node]

    def after_boot(self, node: str, nic: str) -> int:
        """Return the MTU that an interface comes up with."""
        own = self.kept[node, nic]
        below = self.shape.below.get(nic)
        if below is None:
            return own or SMALL
        lower = self.after_boot(node, below)
        return min(own or lower, lower)

    def follow(self, plan: Plan, step: str, node: str) -> None:
        """Do on a node what a step of the plan asks for."""
        if plan.node not in ("", node):
            return
        first = next(n for s in plan.steps for g in s.gates if g.check == "stack-up" for n in g.nodes or (NODES[0],))
        match step:
            case "stack-down":
                self.runs[node] = self.starts[node] = False
            case "set-mtu":
                self._set_as_planned(plan, node)
            case "survives-boot":
                self.boot(node)
            case "first-node":
                self.runs[node] = node == first
            case "node-up":
                self.runs[node] = True
            case "instances":
                self.starts[node] = True
            case "other-nodes" | "databases":
                self.runs[node] = True
                # The rollback of a change that only stopped Clusterware has one step for all of this.
                if step == "databases" or all(own.id != "databases" for own in plan.steps):
                    self.starts[node] = True

    def _set_as_planned(self, plan: Plan, node: str) -> None:
        layers = [layer for layer in plan.layers if layer.node == node]
        is_back = plan.mtu_after == SMALL
        for nic in self.shape.nics if not is_back else reversed(self.shape.nics):
            layer = next(layer for layer in layers if layer.interface == nic)
            self.set(node, nic, layer.mtu_after)
            self.kept[node, nic] = layer.kept_before if is_back else layer.mtu_after

    # --- what is so ---------------------------------------------------------------------------------------------------

    def mtus_of(self, node: str) -> tuple[int, ...]:
        """Return the MTUs of a node, in the order of `Shape.nics`."""
        return tuple(self.mtu[node, nic] for nic in self.shape.nics)

    def port_mtus(self) -> dict[str, set[int]]:
        """Return the MTUs of the ports of each private network."""
        return {subnet: {self.mtu[node, nic] for node in NODES} for subnet, nic in self.shape.ports.items()}

    def is_mixed(self, nodes: Collection[str] = NODES) -> bool:
        """Whether ports of one private network have different MTUs, among these nodes."""
        return any(len({self.mtu[n, nic] for n in nodes}) > 1 for nic in self.shape.ports.values())

    def carries(self, size: int) -> bool:
        """Whether every port sends, receives and carries packets of exactly this size at most."""
        return all(mtus == {size} for mtus in self.port_mtus().values()) and min(self.switch.values()) >= size

    def reads_mtus(self, node: str) -> bool:
        """Whether the interfaces of a node can be read."""
        return self.silent[node] is not Silence.ALL

    def reads_setup(self, node: str) -> bool:
        """Whether the boot, the files and the autostart of a node can be read."""
        return self.silent[node] in (Silence.NOTHING, Silence.PROCESSES)

    def reads_runs(self, node: str) -> bool:
        """Whether it can be read what runs on a node."""
        return self.silent[node] is Silence.NOTHING

    # --- what is read -------------------------------------------------------------------------------------------------

    def facts_of(self, node: str) -> tuple[object, ...]:
        """Return all that the setup of a node depends on."""
        kept = tuple((nic, self.kept[node, nic]) for nic in self.shape.nics)
        return (self.runs[node], self.starts[node], self.boots[node], kept, self.silent[node])

    def facts(self) -> Cluster:
        """Return what racwire reads."""
        mtus = tuple(self.mtus_of(node) if self.reads_mtus(node) else None for node in NODES)
        nodes, networks = _networks(self.shape.name, mtus)
        return Cluster(
            local_node="rac1",
            taken_at="2026-11-20T19:00:00.000+01:00",
            nodes=nodes,
            networks=networks,
            setups=tuple(_setup(node, self.facts_of(node)) for node in NODES),
            paths=_paths(self.shape.name, mtus, tuple(self.switch.values())),
            changing=Changing(),
        )


@cache
def _node(shape: str, node: str, mtus: tuple[int, ...], *, public: bool = False) -> Node:
    own = SHAPES[shape]
    number = NODES.index(node) + 1
    nics = own.interfaces(number, dict(zip(own.nics, mtus, strict=True)))
    first = (interface("eth0", f"10.20.0.{number}", SMALL),) if public else ()
    return Node(name=node, read_by="ssh", interfaces=(*first, *nics))


@cache
def _setup(node: str, facts: tuple[object, ...]) -> NodeSetup | UnreadNode:
    runs, starts, boots, kept, silence = facts
    if silence in (Silence.ALL, Silence.SETUP):
        return UnreadNode(node, _REASON.reason)
    number = NODES.index(node) + 1
    is_read = silence is not Silence.PROCESSES
    file = "/etc/NetworkManager/system-connections/{}.nmconnection"
    network_service = NetworkService.NETWORK_MANAGER
    assert isinstance(kept, tuple)
    return NodeSetup(
        name=node,
        boot_id=f"{node}-{boots}",
        booted_at="2026-11-20T18:30:00+00:00",
        grid_home=_HOME,
        daemons=(DAEMONS if runs else ()) if is_read else _REASON,
        instances=((f"+ASM{number}", *(name for name, own in PROD.instances if own == node)) if runs else ())
        if is_read
        else _REASON,
        services=(ONLINE if runs else ("CRS-4639: Could not contact Oracle High Availability Services",))
        if is_read
        else _REASON,
        autostart=bool(starts),
        network_services=(network_service,),
        kept=tuple(KeptMtu(nic, network_service, file.format(nic), nic, mtu) for nic, mtu in kept),
    )


@cache
def _networks(shape: str, mtus: tuple[tuple[int, ...] | None, ...]) -> tuple[tuple[Node | UnreadNode, ...], tuple]:  # type: ignore[type-arg]
    nodes = tuple(
        UnreadNode(node, _REASON.reason) if own is None else _node(shape, node, own)
        for node, own in zip(NODES, mtus, strict=True)
    )
    read = [node for node in nodes if isinstance(node, Node)]
    found = private_networks(_REASON, tuple(SHAPES[shape].ports), read)
    assert isinstance(found, tuple)
    return nodes, found


@cache
def _paths(shape: str, mtus: tuple[tuple[int, ...] | None, ...], switch: tuple[int, ...]) -> tuple[PathProbe, ...]:
    return tuple(_probes(shape, mtus, dict(zip(NODES, switch, strict=True))))


def _probes(shape: str, mtus: tuple[tuple[int, ...] | None, ...], switch: dict[str, int]) -> Iterator[PathProbe]:
    _, networks = _networks(shape, mtus)
    place = {nic: n for n, nic in enumerate(SHAPES[shape].nics)}
    now = dict(zip(NODES, mtus, strict=True))
    for network in networks:
        if not isinstance(network.mtu, int):
            continue
        for one, other in permutations(network.ports, 2):
            here, there = (now[port.node][place[port.interface]] for port in (one, other))
            carried = min(here, there, switch[one.node], switch[other.node])
            series = tuple(_series(size, here, carried) for size in (84, network.mtu, network.mtu + 1))
            full = series[1]
            verdict = Verdict.PASSES if full.received else Verdict.BLACK_HOLE
            yield PathProbe(
                network=network.name,
                from_node=one.node,
                to_node=other.node,
                source_ip=one.ip,
                destination_ip=other.ip,
                expected_mtu=network.mtu,
                verdict=Verdict.LOCAL_MTU if full.refused_locally else verdict,
                path_mtu=carried,
                series=series,
            )


def _series(size: int, here: int, carried: int) -> PingSeries:
    if size > here:
        return PingSeries(size - 28, 20, 0, refused_locally=20, local_mtu=here)
    return PingSeries(size - 28, 20, 20 if size <= carried else 0)


def ports_of(plan: Plan) -> tuple[Layer, ...]:
    """Return the layers that hold the private addresses."""
    return tuple(layer for layer in plan.layers if layer.role == "port")
