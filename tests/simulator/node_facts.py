"""The nodes of a simulated cluster as their readers return them: NICs, routes, neighbours, settings, other users."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from checks.model.facts import (
    Address,
    Interface,
    KeptMtu,
    Neighbour,
    Node,
    NodeSetup,
    PrivateUse,
    Route,
    UnreadNode,
)
from tests.cases import healthy_facts
from tests.fixtures.clusters import SUBNETS, interface, node, setup
from tests.simulator.faults import NETWORKS, Fault, before, misled
from tests.simulator.world import World

_NO_NIC = "02:de:ad:00:00:01"
_FOREIGN_MAC = "02:ff:00:00:00:c8"
STRANGE_MAC = "02:ff:00:00:00:c9"
"""Of a strange host that has the HAIP of a node."""
_FRESH_S, _OLD_S = 4, 50
_AGES_S = {"reachable": _FRESH_S, "stale": _OLD_S}
"""Seconds since an entry was confirmed, by its state."""
_SMALL_REASSEMBLY_BYTES = "4096"
_BRIDGE = "br-5f1c2d"
"""The name that Docker gives to a bridge of its own: `br-` and a number."""


def index(name: str) -> int:
    """Return the number of a node."""
    return int(name.removeprefix("rac"))


def private_ip(name: str, network: int) -> str:
    """Return the planned address of a node on a private network."""
    return f"{SUBNETS[f'eth{network}'].removesuffix('0')}{index(name)}"


def gateway(network: int) -> str:
    """Return the address of the gateway that clouds' scripts name, and that no host has."""
    return f"{SUBNETS[f'eth{network}'].removesuffix('0')}254"


def haip(name: str, network: int) -> str:
    """Return the HAIP of a node for a private network, as `tests.fixtures.databases.haip` has it."""
    return f"169.254.{10 + (network - 1) * 128}.{index(name)}"


def own_ip(world: World, name: str, network: int) -> str:
    """Return the address that a node has on a private network."""
    is_double = world.has("duplicate-address", name, network)
    return private_ip(before(name, world.names) if is_double else name, network)


def own_mac(world: World, name: str, network: int) -> str:
    """Return the MAC address of a private NIC."""
    owner = before(name, world.names) if world.has("duplicate-mac", name, network) else name
    return f"02:72:61:63:{network:02x}:{index(owner):02x}"


def node_facts(world: World, name: str) -> Node | UnreadNode:
    """Return the facts of a node."""
    if world.is_down(name):
        reason = f"this node cannot reach {name}: no answer from its port 22 within 10 s"
        return UnreadNode(name, reason, is_silent=True)
    built = node(index(name), world.mtu)
    sysctls = {**healthy_facts.SYSCTLS, "net.ipv4.icmp_echo_ignore_all": "0", "net.ipv4.ipfrag_time": "30"}
    sysctls |= {f"net.ipv4.conf.{nic}.rp_filter": "0" for nic in ("all", *SUBNETS)}
    if world.has("strict-rp-filter", name):
        sysctls["net.ipv4.conf.all.rp_filter"] = "1"
    if world.has("small-reassembly-memory", name):
        sysctls["net.ipv4.ipfrag_high_thresh"] = _SMALL_REASSEMBLY_BYTES
    public = next(i for i in built.interfaces if i.name not in SUBNETS)
    public = replace(public, mac_address=f"02:72:61:63:00:{index(name):02x}")
    return replace(
        built,
        interfaces=(public, *(_interface(world, built, network) for network in NETWORKS), *_bridges(world, name)),
        routes=tuple(_routes(world, name)),
        neighbours=tuple(_neighbours(world, name)),
        sysctls=dict(sysctls),
    )


def _interface(world: World, built: Node, network: int) -> Interface:
    found = built.interface(f"eth{network}")
    assert found is not None
    haips = [n for n in NETWORKS if world.haip_network(n) == network]
    return replace(
        found,
        mtu=world.nic_mtu(built.name, network),
        mac_address=own_mac(world, built.name, network),
        noarp=world.has("arp-off", built.name, network),
        operational_state="down" if world.has("link-down", built.name, network) else "up",
        addresses=(
            Address(own_ip(world, built.name, network), 24),
            *(Address(haip(built.name, n), 17, f"eth{network}:{1 if n == network else 2}") for n in haips),
            *(Address(ip, 24) for ip in _of_another_network(world, built.name, network)),
        ),
    )


def _bridges(world: World, name: str) -> Iterator[Interface]:
    for f in world.of_kind("local-bridge"):
        if f.node == name:
            ip = private_ip(f.peer, f.network)
            yield interface(_BRIDGE, ip, 1500, kind="bridge", mac_address=f"02:42:00:00:00:{index(name):02x}")


def _of_another_network(world: World, name: str, network: int) -> Iterator[str]:
    """The address that a NIC has of the other private network: a free one there."""
    if world.has("other-network-address", name, network):
        other = next(n for n in NETWORKS if n != network)
        yield f"{SUBNETS[f'eth{other}'].removesuffix('0')}{100 + index(name)}"


def _routes(world: World, name: str) -> Iterator[Route]:
    yield Route("default", "eth0", "10.20.0.254")
    yield Route("10.20.0.0/24", "eth0", source=f"10.20.0.{index(name)}")
    for network in NETWORKS:
        nic = f"eth{network}"
        yield Route(f"{SUBNETS[nic]}/24", nic, source=own_ip(world, name, network))
        on = world.out(name, world.haip_network(network), "haip")
        mtu = world.route_mtu(name, world.haip_network(network), "haip")
        yield Route(f"169.254.{(network - 1) * 128}.0/17", f"eth{on}", source=haip(name, network), mtu=mtu)
        if world.has("route-over-private", name, network):
            yield Route("default", nic, gateway(network), metric=100 + network)
    # The kernel prefers the older route of several alike.
    for network in NETWORKS:
        for ip in _of_another_network(world, name, network):
            yield Route(f"{ip.rpartition('.')[0]}.0/24", f"eth{network}", source=ip)
    for f in world.of_kind("local-bridge"):
        if f.node == name:
            yield Route(f"{SUBNETS[f'eth{f.network}']}/24", _BRIDGE, source=private_ip(f.peer, f.network))


def _neighbours(world: World, name: str) -> Iterator[Neighbour]:
    for network in NETWORKS:
        nic = f"eth{network}"
        for peer in world.names:
            if peer == name:
                continue
            is_private = own_ip(world, peer, network) == private_ip(peer, network) != own_ip(world, name, network)
            if is_private and not world.is_local(name, peer, network, "private"):
                yield from _neighbour(world, name, peer, network, "private")
            for n in NETWORKS:
                if world.out(name, world.haip_network(n), "haip") == network:
                    yield from _neighbour(world, name, peer, n, "haip")
        if world.has("policy-gateway", name, network):
            yield Neighbour(gateway(network), nic, "", "failed")
        is_cut = world.has("link-down", name, network) or world.has("port-dead", name, network)
        if world.has("foreign-host", "", world.cable(name, network)) and not is_cut:
            yield Neighbour(f"{SUBNETS[nic].removesuffix('0')}200", nic, _FOREIGN_MAC, "reachable")


def _neighbour(world: World, name: str, peer: str, network: int, address: str) -> Iterator[Neighbour]:
    """The entry of a node for an address of a peer, if it has one."""
    on = network if address == "private" else world.haip_network(network)
    ip = private_ip(peer, network) if address == "private" else haip(peer, network)
    if address == "private" and Fault("wrong-neighbour", on, name, peer) in world.faults:
        yield Neighbour(ip, f"eth{on}", _NO_NIC, "permanent", _FRESH_S)
        return
    state, out = world.entry(name, peer, on, address), world.out(name, on, address)
    mac = "" if state == "failed" else own_mac(world, peer, world.way(name, peer, out).arrives)
    if address == "haip" and state != "failed" and is_strange(world, name, peer, on):
        mac = STRANGE_MAC
    if address == "private" and (bridge := bridging(world, peer, on)) and name != bridge and mac and index(name) % 2:
        mac = own_mac(world, bridge, on)  # the bridge's node answers for this address too, and the last answer stays
    if state:
        yield Neighbour(ip, f"eth{out}", mac, state, confirmed_s=_AGES_S.get(state))


def is_strange(world: World, name: str, peer: str, network: int) -> bool:
    """Return whether a node takes a strange host for the owner of the HAIP of its peer."""
    return world.has("haip-stranger", peer, network) and name == misled(peer, world.names)


def bridging(world: World, peer: str, network: int) -> str:
    """Return the node that has the address of a peer on a bridge of its own; empty where none has."""
    found = [f.node for f in world.of_kind("local-bridge") if (f.network, f.peer) == (network, peer)]
    return found[0] if found else ""


def setup_facts(world: World, of: Node | UnreadNode) -> NodeSetup | UnreadNode:
    """Return the setup of a node: its files have the MTU of the network, and its logs no line."""
    built = setup(of)
    if isinstance(built, UnreadNode) or isinstance(of, UnreadNode):
        return built
    assert isinstance(built.kept, tuple)
    kept = tuple(replace(k, mtu=world.mtu if world.mtu != 1500 else None) if _is_private(k) else k for k in built.kept)
    instance = f"prod{index(of.name)}"
    host = healthy_facts.host(of, instance)
    return replace(
        built,
        kept=kept,
        instances=(f"+ASM{index(of.name)}", instance),
        host=replace(host, others=tuple(_others(world, of.name)), is_virtual=world.is_virtual),
        logs=healthy_facts.logs(of, instance),
    )


def _is_private(kept: KeptMtu) -> bool:
    return kept.interface in SUBNETS


def _others(world: World, name: str) -> Iterator[PrivateUse]:
    """The copies of files over a private network: their server is the node of the fault, the client its peer."""
    for f in world.of_kind("stranger-traffic"):
        if name in (f.node, f.peer):
            other = f.peer if name == f.node else f.node
            mount = "/backup" if name == f.peer else ""
            yield PrivateUse("NFS", private_ip(name, f.network), private_ip(other, f.network), 1, mount)
