"""Compute the desired state of the cluster from its shape and its active faults, as a pure function.

Breaking and fixing never undo each other's steps. Each computes the desired state before and after, and carries out the
difference only. So faults combine, and each can be fixed exactly and in any order.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from racwire_lab.cluster import layer2
from racwire_lab.cluster.aggregation import lag_rules
from racwire_lab.cluster.boot_faults import NextBoot, next_boots
from racwire_lab.cluster.counted_faults import GrownFile, damage_rules, grown_files
from racwire_lab.cluster.drop_rules import DropRule, named
from racwire_lab.cluster.far_end import Interpreters, interpreters
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.foreign_hosts import ForeignHost, NoisyHost, foreign_hosts, noisy_hosts
from racwire_lab.cluster.frame_counters import frame_names
from racwire_lab.cluster.hands import Cabling, Hand
from racwire_lab.cluster.host_faults import HostState, host_state
from racwire_lab.cluster.hypervisor_faults import (
    TUNNEL_MTU,
    hidden_rules,
    hypervisor_rules,
    is_behind_tunnel,
    newly_unknown,
)
from racwire_lab.cluster.instances import DesiredInstance, instances
from racwire_lab.cluster.layer2 import Trunk
from racwire_lab.cluster.live_faults import Alternation, alternations
from racwire_lab.cluster.login_faults import SshLogin, login_of
from racwire_lab.cluster.networks import Network
from racwire_lab.cluster.nics import Nic, nic
from racwire_lab.cluster.port_faults import optics, port_rules, share_of
from racwire_lab.cluster.port_queues import PortQueue, port_queues
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.cluster.second_hosts import SecondHost, second_hosts
from racwire_lab.cluster.storage_server import StorageServer, storage_server
from racwire_lab.cluster.switch_side import switch_steps
from racwire_lab.cluster.topology import STANDARD_MTU, SWITCH_MTU, PortId, Shape, index_of

_ONE_IN_FRAGMENTS = 50
_FRAGMENT = "ip frag-off & 0x3fff != 0"
"""Match every fragment of a packet: more fragments follow, or the offset is not 0."""
_FILTERS = {
    "drop-fragments": f"{_FRAGMENT} numgen random mod {_ONE_IN_FRAGMENTS} 0",
    "fragments-filtered": _FRAGMENT,
    "udp-policed": "ip protocol udp limit rate over 50 kbytes/second burst 5 kbytes",
    "icmp-policed": "ip protocol icmp limit rate over 20/second burst 5 packets",
    "icmp-size-filtered": f"ip protocol icmp ip length > {STANDARD_MTU}",
}
"""Faults of the switch of a network: which packets that enter from a node are dropped."""
_REASSEMBLY_BYTES, _SMALL_REASSEMBLY_BYTES = 4_194_304, 4096
"""The kernel's own default; and less than two fragments."""
_SLOW_TOOLS_S = 3
_ABSENT_SUBNET = "192.168.77.0"
_ECHO = "icmp type { echo-request, echo-reply }"


@dataclass(frozen=True)
class Router:
    """A router in the path of one NIC, with the hosts behind the router and the subnets in front."""

    address: str
    behind: tuple[str, ...]
    before: tuple[str, ...]


@dataclass(frozen=True)
class Cable:
    """The path between a NIC and the switch of its network."""

    bridge: str
    """The switch; empty for a NIC without a switch."""
    plugged: bool
    uplink_mtu: int | None
    """MTU in bytes of the uplink behind the switch port. Larger packets are lost. None for a healthy port."""
    router: Router | None


def uplink(port: PortId) -> tuple[str, str]:
    """Return the names of the two ends of the link behind a switch port with a small MTU."""
    return f"{port.name}-up", f"{port.name}-dn"


@dataclass(frozen=True)
class Desired:
    """The desired state of the whole cluster."""

    networks: tuple[Network, ...]
    nics: dict[PortId, Nic]
    cables: dict[PortId, Cable]
    trunks: tuple[Trunk, ...]
    """The switches in two halves."""
    foreign: tuple[ForeignHost, ...]
    noisy: frozenset[NoisyHost]
    second: frozenset[SecondHost]
    """The hosts behind other switches with the address of a node."""
    switch_rules: tuple[DropRule, ...]
    node_rules: dict[str, tuple[DropRule, ...]]
    hypervisor_rules: dict[str, tuple[DropRule, ...]]
    """The rules of the bridge family before each node that is behind a hypervisor."""
    unknown_macs: frozenset[PortId]
    """The NICs whose MAC addresses their hypervisor does not know."""
    reassembly_bytes: dict[str, int]
    """Memory of each node for the reassembly of fragments, in bytes: net.ipv4.ipfrag_high_thresh."""
    hosts: dict[str, HostState]
    interpreters: dict[str, Interpreters]
    frame_names: dict[tuple[str, str], str]
    """Which names the counters of frames by size have, by node and NIC."""
    logins: dict[str, SshLogin]
    tools_wait_s: dict[str, int]
    """Seconds that each tool of a node's Grid home waits before it answers."""
    getif: tuple[str, ...]
    members: tuple[str, ...]
    private: tuple[str, ...]
    """One line a node for the ping of Clusterware: the node, `answers` or `silent`, its private addresses."""
    past_lines: dict[str, str]
    """The nodes whose alert logs have lines of some hours ago, with the version of the database."""
    instances: dict[str, DesiredInstance]
    """The database instance of each node; empty when the cluster has no database."""
    storage: StorageServer | None
    """None in a cluster without storage."""
    queues: frozenset[PortQueue]
    """The queues at the ends of cables; other ends have none."""
    prioritised_packets: int
    """How many packets of each flow leave the private switch ports first."""
    grown_files: frozenset[GrownFile]
    """The files of the nodes' kernels with grown counters."""
    optics: dict[tuple[str, str], float]
    """The optical power in dBm that NICs receive, by node and NIC; the others have cables of copper."""
    switch_steps: tuple[tuple[str, str], ...]
    """`ip` commands that make a fault in the switch, each with the one that ends it."""
    alternations: frozenset[Alternation]
    next_boots: dict[PortId, NextBoot]
    """What the nodes' network services keep for the private NICs."""


def desired(
    shape: Shape,
    faults: Collection[ActiveFault],
    port_mtus: Mapping[PortId, int] = MappingProxyType({}),
    blocks_per_s: int | None = None,
    prioritised_packets: int = 0,
    hands: tuple[Hand, ...] = (),
) -> Desired:
    """Return the desired state of a cluster of this shape with these faults, MTUs of switch ports, load and priority,
    and what people did at the switch.

    A port that is not in port_mtus has the MTU with which the cluster started. The load is that of all instances
    together; None for their usual one.
    """
    broken = frozenset(faults)
    nics = {port: nic(shape, port, broken) for port in shape.ports}
    cables = {
        port: _cable(
            port,
            shape.networks[port.network],
            nics[port],
            port_mtus.get(port, shape.port_mtu(port)),
            layer2.bridge(shape, port, broken),
            broken,
        )
        for port in shape.ports
    }
    trunks = layer2.trunks(shape, broken)
    return Desired(
        networks=shape.networks,
        nics=nics,
        cables=cables,
        trunks=trunks,
        foreign=foreign_hosts(shape, broken),
        noisy=noisy_hosts(shape, nics, broken),
        second=second_hosts(shape, nics, broken),
        switch_rules=tuple(_switch_rules(shape, nics, cables, trunks, broken, Cabling(hands))),
        node_rules={node: _node_rules(shape, node, broken) for node in shape.nodes},
        hypervisor_rules={node: hypervisor_rules(shape, node, broken) for node in shape.hypervisor},
        unknown_macs=newly_unknown(nics, broken),
        reassembly_bytes={node: _reassembly_bytes(node, broken) for node in shape.nodes},
        hosts={node: host_state(shape, node, nics, broken) for node in shape.nodes},
        interpreters={node: interpreters(node, broken) for node in shape.nodes},
        frame_names=frame_names(nics, broken),
        logins={node: login_of(node, broken) for node in shape.nodes},
        tools_wait_s={
            node: _SLOW_TOOLS_S if ActiveFault("slow-clusterware", node, None) in broken else 0 for node in shape.nodes
        },
        getif=tuple(_getif(shape, broken)),
        members=tuple(_member(shape, node, broken) for node in shape.nodes),
        private=tuple(_private(shape, node, nics, broken) for node in shape.nodes),
        past_lines={node: shape.database for node in shape.nodes if ActiveFault("log-lines", node, None) in broken},
        instances=instances(shape, nics, broken, blocks_per_s),
        storage=storage_server(shape, broken),
        queues=port_queues(shape, nics, broken),
        prioritised_packets=prioritised_packets,
        grown_files=grown_files(shape, nics, broken, Cabling(hands)),
        optics=optics(shape, nics, Cabling(hands), broken),
        switch_steps=tuple(switch_steps(shape, broken)),
        alternations=alternations(nics, [port for port, cable in cables.items() if cable.plugged], broken),
        next_boots=next_boots(shape, broken),
    )


def _cable(
    port: PortId, network: Network, nic: Nic, port_mtu: int, bridge: str, broken: frozenset[ActiveFault]
) -> Cable:
    if ActiveFault("switch-mtu", *port) in broken:
        port_mtu = min(port_mtu, STANDARD_MTU)
    if is_behind_tunnel(port, broken):
        port_mtu = min(port_mtu, TUNNEL_MTU)
    unplugged = {ActiveFault("peer-down", port.node, None), ActiveFault("link-down", *port)}
    if network.private:
        unplugged.add(ActiveFault("evicted-node", port.node, None))
    return Cable(
        bridge=bridge,
        plugged=broken.isdisjoint(unplugged),
        uplink_mtu=port_mtu if port_mtu < SWITCH_MTU else None,
        router=_router(port, network, nic) if ActiveFault("routed", *port) in broken else None,
    )


def _router(port: PortId, network: Network, nic: Nic) -> Router:
    prefix = nic.address.rpartition(".")[0]
    behind = [nic.address.partition("/")[0]]
    before = [str(ipaddress.ip_interface(nic.address).network)]
    if nic.haip and network.haip_subnet:
        behind.append(nic.haip.partition("/")[0])
        before.append(f"{network.haip_subnet}/17")
    # With two routers of one address, each would reject the packets of the other as forged.
    index = index_of(port.node)
    octet = 252 + index if index <= 2 else 255 - index
    return Router(f"{prefix}.{octet}", tuple(behind), tuple(before))


def _switch_rules(
    shape: Shape,
    nics: Mapping[PortId, Nic],
    cables: Mapping[PortId, Cable],
    trunks: Iterable[Trunk],
    broken: frozenset[ActiveFault],
    cabling: Cabling,
) -> Iterator[DropRule]:
    """Yield the rules of the bridge family in the switch."""
    yield from damage_rules(nics, broken)
    yield from port_rules(shape, nics, cabling, broken)
    yield from lag_rules(shape, cabling, broken)
    yield from hidden_rules(shape, broken)
    for network in shape.private_networks:
        # Match the nodes' own ports: each packet enters one of them once, however many switches and routers follow.
        ports = ", ".join(f'"{port.name}"' for port in shape.ports if port.network == network.number)
        for name, match in _FILTERS.items():
            if ActiveFault(name, None, network.number) in broken:
                yield DropRule(named(name, network.nic), "prerouting", f"iifname {{ {ports} }} {match}")
        for fault in (f for f in broken if (f.fault, f.network) == ("loss", network.number)):
            yield DropRule(named("loss", network.nic), "prerouting", f"iifname {{ {ports} }} {share_of(fault)}")
    for fault in sorted(broken, key=str):
        if fault.fault == "switch-mtu-one-way" and fault.node and fault.network:
            port = PortId(fault.node, fault.network)
            yield _too_large(named(fault.fault, fault.node, nics[port].name), [port.name], STANDARD_MTU, drops=True)
    for port, cable in cables.items():
        if cable.uplink_mtu:
            kind = "switch-mtu" if ActiveFault("switch-mtu", *port) in broken else "port-mtu"
            kind = "tunnel-mtu" if is_behind_tunnel(port, broken) else kind
            yield _too_large(named(kind, port.node, nics[port].name), uplink(port), cable.uplink_mtu)
    for port, end in nics.items():
        if ActiveFault("node-mtu", *port) in broken:
            yield _too_large(named("node-mtu", port.node, end.name), [port.name], end.mtu)
    for trunk in trunks:
        if trunk.mtu:
            yield _too_large(named("split-switch-mtu", trunk.bridge), trunk.ends, trunk.mtu)


def _too_large(name: str, ports: Iterable[str], mtu: int, *, drops: bool = False) -> DropRule:
    """The rule for packets that leave the switch by one of these ports and are larger than its MTU."""
    names = ", ".join(f'"{port}"' for port in ports)
    return DropRule(name, "forward", f"oifname {{ {names} }} ip length > {mtu}", drops)


def _node_rules(shape: Shape, node: str, broken: frozenset[ActiveFault]) -> tuple[DropRule, ...]:
    rules = []
    if ActiveFault("icmp-filtered", node, None) in broken:
        rules.append(DropRule(named("icmp-filtered", node), "input", f'iifname != "lo" {_ECHO}'))
    for network in shape.private_networks:
        if ActiveFault("udp-filtered", node, network.number) in broken:
            name = named("udp-filtered", node, network.nic)
            rules.append(DropRule(name, "input", f'iifname "{network.nic}" meta l4proto udp'))
    return tuple(rules)


def _reassembly_bytes(node: str, broken: frozenset[ActiveFault]) -> int:
    if ActiveFault("small-reassembly-memory", node, None) in broken:
        return _SMALL_REASSEMBLY_BYTES
    return _REASSEMBLY_BYTES


def _getif(shape: Shape, broken: frozenset[ActiveFault]) -> list[str]:
    public, private = shape.networks[0], shape.private_networks
    roles = "cluster_interconnect,asm" if profile_named(shape.like).has_asm_network else "cluster_interconnect"
    lines = [f"{public.nic}  {public.subnet}  global  public"]
    for network in private:
        subnet = network.subnet
        if network.number == 2 and _cluster_wide("duplicate-subnet") in broken:
            subnet = private[0].subnet
        if ActiveFault("wrong-subnet", None, network.number) in broken:
            subnet = _ABSENT_SUBNET
        lines.append(f"{network.nic}  {subnet}  global  {roles}")
    return lines


def _member(shape: Shape, node: str, broken: frozenset[ActiveFault]) -> str:
    """A node's line for olsnodes: name, number, VIP, status, pinning, address on the first private network."""
    index = index_of(node)
    status = "Inactive" if ActiveFault("peer-down", node, None) in broken else "Active"
    return f"{node} {index} {node}-vip {status} Unpinned {shape.private_networks[0].address(index)}"


def _private(shape: Shape, node: str, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]) -> str:
    kind = "silent" if ActiveFault("icmp-filtered", node, None) in broken else "answers"
    addresses = [nics[port].address for port in shape.private_ports if port.node == node]
    return " ".join([node, kind, *(address.partition("/")[0] for address in addresses)])


def _cluster_wide(fault: str) -> ActiveFault:
    return ActiveFault(fault, None, None)
