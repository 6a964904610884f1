"""The facts that racwire would gather from a simulated cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

from msgspec.structs import replace

from checks.model.facts import (
    Activity,
    ActivityGap,
    AddressProbe,
    AddressProbes,
    BlockTransfer,
    Cluster,
    Clusterware,
    CounterChange,
    CounterChanges,
    CounterGroup,
    Database,
    InstancePing,
    InterconnectInUse,
    KernelCounters,
    Node,
    Parameter,
    Port,
    PrivateNetwork,
    TrackedConnections,
    UnaskedInstance,
    Unknown,
)
from checks.model.networks import private_networks
from tests.cases import healthy_facts
from tests.fixtures.clusters import clusterware
from tests.fixtures.databases import BLOCKS, activity, change, counters, database, device, history, own_activity, pings
from tests.simulator.faults import NETWORKS, Fault
from tests.simulator.hosts import instantly, probe
from tests.simulator.node_facts import (
    STRANGE_MAC,
    bridging,
    haip,
    index,
    node_facts,
    own_ip,
    own_mac,
    setup_facts,
)
from tests.simulator.world import World

_CR_SHARE = 8_400 / BLOCKS
_CARRIER_CHANGES = 6
"""Of a port that loses its link three times within the interval."""
_MOST_CONNECTIONS = 262_144
_CONNECTIONS = TrackedConnections(1_900, _MOST_CONNECTIONS)
"""Of a node whose packet filter tracks few connections."""
_HUNG = "A query of all instances did not end within its time limit of 10 s."


def facts_of(
    faults: Sequence[Fault], *, nodes: int = 3, mtu: int = 9000, seed: int = 1, is_lucky: bool = False
) -> Cluster:
    """Return the facts of a cluster with these faults."""
    return gathered(World(faults, nodes=nodes, mtu=mtu, seed=seed, is_lucky=is_lucky))


def gathered(world: World) -> Cluster:
    """Return the facts of a simulated cluster. What is probed is sent in the order in which racwire sends it."""
    read = tuple(node_facts(world, name) for name in world.names)
    grid = _clusterware(world)
    networks = private_networks(grid, (), [n for n in read if isinstance(n, Node)])
    assert isinstance(networks, tuple)
    known = Cluster(
        local_node=world.names[0],
        taken_at="2026-11-20T14:02:31.000+01:00",
        clusterware=grid,
        nodes=read,
        networks=networks,
        setups=tuple(setup_facts(world, n) for n in read),
        database=_database(world),
    )
    known = replace(known, **instantly(probe(world, known)))
    blocks = _activity(world) if _answering(world) else Unknown(_HUNG)
    return replace(
        known,
        owners=_owners(world, networks),
        activity=blocks,
        counters=_counters(world, known),
        history=history(
            len(world.names),
            devices=tuple(
                device(index(n), f"eth{network}", world.nic_mtu(n, network))
                for n in world.names
                for network in NETWORKS
            ),
        ),
    )


def _clusterware(world: World) -> Clusterware:
    built = clusterware(len(world.names))
    assert isinstance(built.members, tuple)
    down = [replace(m, status="Inactive") if world.is_down(m.name) else m for m in built.members]
    return replace(built, members=tuple(down))


# --- the database -----------------------------------------------------------------------------------------------------


def _live(world: World) -> list[str]:
    return [name for name in world.names if not world.is_down(name)]


def _answering(world: World) -> list[str]:
    """Return the nodes whose instances answer: where one hangs, the one to which racwire is connected answers alone."""
    live, hung = _live(world), [f.node for f in world.of_kind("hung-instance")]
    return [name for name in live if name not in hung][:1] if set(hung) & set(live) else live


def _database(world: World) -> Database | Unknown:
    built = database(len(world.names))
    answering = _answering(world)
    if not answering:
        return Unknown(_HUNG)
    numbers = [index(name) for name in answering]
    return replace(
        built,
        connected_instance=numbers[0],
        instances=tuple(i for i in built.instances if i.number in numbers),
        unasked=tuple(
            UnaskedInstance(index(name), f"prod{index(name)}", _HUNG, host=name, is_late=True)
            for name in _live(world)
            if name not in answering
        ),
        interconnects=tuple(use for name in answering for use in _interconnects(world, name)),
        parameters=tuple(
            Parameter(index(name), "cluster_interconnects", ":".join(_fixed(world, name))) for name in answering
        ),
    )


def _fixed(world: World, name: str) -> tuple[str, ...]:
    """The addresses of the parameter cluster_interconnects; empty where it is not set."""
    is_set = world.has("cluster-interconnects-set", name)
    return tuple(own_ip(world, name, network) for network in NETWORKS) if is_set else ()


def _interconnects(world: World, name: str) -> list[InterconnectInUse]:
    if fixed := _fixed(world, name):
        return [
            InterconnectInUse(index(name), f"eth{network}", ip, False, "cluster_interconnects parameter")
            for network, ip in zip(NETWORKS, fixed, strict=True)
        ]
    on = [(network, world.haip_network(network)) for network in NETWORKS]
    return [
        InterconnectInUse(index(name), f"eth{nic}:{1 if nic == network else 2}", haip(name, network), None, "")
        for network, nic in on
    ]


def _lost_blocks(world: World, sender: str, receiver: str) -> int:
    """Send the blocks of the interval over the networks that the receiver uses in turn; return how many are lost."""
    fixed = bool(_fixed(world, receiver))
    used = [(n, "private") if fixed else (world.haip_network(n), "haip") for n in NETWORKS]
    each = BLOCKS // (len(world.names) - 1) // len(used)
    return sum(world.blocks(network, sender, receiver, address, each) for network, address in used)


def _activity(world: World) -> Activity:
    pairs = [(s, r) for s, r in permutations(_live(world), 2)]
    lost = {(index(r), index(s)): _lost_blocks(world, s, r) for s, r in pairs}
    due = BLOCKS // (len(world.names) - 1)
    silent = {index(name) for name in _live(world)} - {index(name) for name in _answering(world)}
    own = [
        ActivityGap(number, _HUNG)
        if number in silent
        else own_activity(
            number,
            {
                "gc blocks lost": (all_lost := sum(n for (r, _), n in lost.items() if r == number)),
                "gc cr blocks received": round(_CR_SHARE * (BLOCKS - all_lost)),
                "gc current blocks received": BLOCKS - all_lost - round(_CR_SHARE * (BLOCKS - all_lost)),
                "gc cr block receive time": round(0.04 * _CR_SHARE * (BLOCKS - all_lost)),
                "gc current block receive time": round(0.04 * (1 - _CR_SHARE) * (BLOCKS - all_lost)),
            },
        )
        for number in map(index, _live(world))
    ]
    return replace(
        activity(len(world.names)),
        instances=tuple(own),
        transfers=tuple(_transfer(r, s, n, due) for (r, s), n in sorted(lost.items()) if r not in silent),
        pings=tuple(_ping(p, lost.get((p.target, p.instance), 0) >= due or lost.get((p.instance, p.target), 0) >= due)
                    for p in pings(len(world.names)) if (p.target, p.instance) in lost and p.instance not in silent),
    )  # fmt: skip


def _transfer(receiver: int, sender: int, lost: int, due: int) -> BlockTransfer:
    arrived = max(0, due - lost)
    cr = round(_CR_SHARE * arrived)
    return BlockTransfer(receiver, sender, cr, arrived - cr, lost)


def _ping(ping: InstancePing, is_cut: bool) -> InstancePing:
    if not is_cut:
        return ping
    return replace(ping, **{name: 0 for name in ping.__struct_fields__ if name not in ("instance", "target")})


# --- counters ---------------------------------------------------------------------------------------------------------


def _counters(world: World, cluster: Cluster) -> CounterChanges:
    made = [_change(world, node) for node in cluster.read_nodes()]
    unread = {n.name: Unknown(n.reason) for n in cluster.unread_nodes()}
    return replace(counters(len(world.names)), nodes=tuple(made), unread=unread)


def _change(world: World, node: Node) -> CounterChange:
    built = change(node.name)
    groups = {name: dict(values) for name, values in built.counters.groups.items()}
    machine = healthy_facts.system(node)
    assert isinstance(machine.nics, tuple)
    nics = {nic.name: dict(nic.counts) for nic in machine.nics}
    for f in world.of_kind("port-flaps"):
        if f.node == node.name:
            nics[f"eth{f.network}"]["carrier_changes"] = _CARRIER_CHANGES
    for (name, counter), number in world.counted.items():
        if name == node.name:
            group, _, key = counter.partition(".")
            into = nics[group] if group in nics else groups[group]
            into[key] = into.get(key, 0) + number
    if world.mtu > 1500:
        groups["Ip"] |= {"InReceives": groups["Ip"]["InReceives"] - 5_000}  # no block is cut
        groups["Ip"] |= {"ReasmReqds": groups["Ip"]["ReasmReqds"] - 6_000, "ReasmOKs": groups["Ip"]["ReasmOKs"] - 1_000}
    down = [i.name for i in node.interfaces if not i.is_up]
    counted = tuple(CounterGroup(name, dict.fromkeys(c, 0) if name in down else c) for name, c in nics.items())
    full = Fault("conntrack-full", 0, node.name)
    table = replace(_CONNECTIONS, entries=_MOST_CONNECTIONS, dropped=1 + world.lost_to[full])
    machine = replace(machine, nics=counted, connections=table if full in world.faults else _CONNECTIONS)
    return replace(built, counters=KernelCounters(groups), machine=machine)


def _answers(world: World, here: str, owner: str, network: int) -> list[str]:
    """The MAC addresses with which a node answers ARP: where two networks are one, those of both NICs."""
    nics = NETWORKS if world.has("joined-networks") else [world.way(here, owner, network).arrives]
    return [own_mac(world, owner, nic) for nic in nics]


def _owners(world: World, networks: Sequence[PrivateNetwork]) -> AddressProbes:
    """The ARP probes of the first node for private and HAIP addresses, and who answers: a node does not answer itself.

    A node answers for all of its addresses on each NIC, also for those of another network.
    """
    here = world.names[0]
    probes, across = list[AddressProbe](), list[AddressProbe]()
    for asking, asked in product(zip(NETWORKS, networks, strict=True), zip(NETWORKS, networks, strict=True)):
        (on, source), (number, network) = asking, asked
        own = source.port(here)
        assert own is not None
        for port in network.ports:
            haips = [haip(port.node, n) for n in NETWORKS if world.haip_network(n) == on] if on == number else []
            for ip in (port.ip, *haips):
                macs = tuple(sorted(_heard(world, port, ip, on)))
                probe = AddressProbe(network.name, port.node, ip, own.interface, 2, macs)
                (probes if on == number else across).append(probe)
    return AddressProbes(here, tuple(probes), tuple(across))


def _heard(world: World, port: Port, ip: str, on: int) -> set[str]:
    """The MAC addresses that the first node hears from the NIC of a network when it asks for an address of a port."""
    here = world.names[0]
    owners = [name for name in world.names if ip in (own_ip(world, name, n) for n in NETWORKS)] or [port.node]
    answering = [n for n in owners if n != here and world.answers_probe(here, n, on)]
    found = {mac for n in answering for mac in _answers(world, here, n, on)}
    bridge = bridging(world, port.node, on) if ip == port.ip else ""
    if bridge and bridge != here:
        found.add(own_mac(world, bridge, world.way(here, bridge, on).arrives))
    if ip == haip(port.node, on) and world.has("haip-stranger", port.node, on):
        found.add(STRANGE_MAC)
    return found
