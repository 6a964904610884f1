"""Compute the desired state of each database instance from the cluster's shape and its faults, as a pure function.

The state is written as JSON into each node's directory. Both programs of an instance follow it: its Cache Fusion daemon
(`programs/cache_fusion`) and its server (`database/instance_server.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from racwire_lab.cluster.database_kinds import SINGLE
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.nics import Nic, is_up
from racwire_lab.cluster.profiles import profile_named
from racwire_lab.cluster.storage_server import storage_server
from racwire_lab.cluster.topology import DATABASE_VERSIONS, PortId, Shape, index_of

_FAILOVER_SLOW, _SLOW_FAILOVER = ActiveFault("failover-slow", None, None), 1.5
"""The fault, and the delay of HAIP with it as a multiple of misscount."""
_HAIP_STAYS, _A_DAY_S = ActiveFault("haip-stays", None, None), 86_400.0
_FALSE_LOSSES = ActiveFault("false-lost-12.1", None, None)
FULL_MESH_NODES = 8
"""With up to so many nodes, every pair of instances uses both networks. In larger clusters each pair uses one network:
the kernels of all nodes share one table of neighbours, of 1,024 entries, and drop packets when it is full."""
EVICTED_AFTER_S = 3.0
"""Misscount in seconds while the fault evicted-node is active, so that a test need not wait for half a minute."""
_FROM_REGISTRY = "Oracle Cluster Repository"
_FROM_PARAMETER = "CLUSTER_INTERCONNECTS parameter"


@dataclass(frozen=True)
class DesiredInterconnect:
    """An address that an instance uses for Cache Fusion, with its columns of V$CLUSTER_INTERCONNECTS."""

    network: int
    ip: str
    is_public: str
    source: str


@dataclass(frozen=True)
class DesiredInstance:
    """The desired state of an instance."""

    number: int
    name: str
    host: str
    version: str
    is_open: bool
    """Whether the node is on. The instance is open when also Clusterware runs there and the database is enabled."""
    interconnects: tuple[DesiredInterconnect, ...]
    peers: dict[int, dict[int, str]]
    """The addresses of the other instances by number and network; instances on powered-off nodes are left out."""
    hosts: dict[int, str]
    """The node names of the other instances, by number."""
    asks_by_way_of_others: bool
    """Whether the instance also requests blocks that a third instance sends on; all three must share a network."""
    parameters: dict[str, str]
    usual_mtu: int
    """The MTU of the private NICs in the healthy cluster, in bytes; the AWR history of the instance is made with it."""
    receive_buffer_bytes: int | None
    """The size of the receive buffer of the sockets that receive blocks; None for a sufficient default."""
    restart_every_s: float | None
    counts_false_losses: bool
    hangs: bool
    """Whether the instance answers no query."""
    blocks_per_s: int | None
    """The blocks that all open instances together request in a second; None for their usual load."""
    ping_every_s: float
    """Seconds in which the instance pings each other one once with each size."""
    address: str
    """The address of the instance for clients, on the public network."""
    like: str
    """The name of the cluster's profile."""
    listens: bool
    scan_nodes: tuple[str, ...]
    """The nodes that may hold the SCAN; the first of them on which Clusterware runs holds it."""
    scan_listens: bool
    scan_targets: dict[str, str]
    """The addresses by node to which the SCAN sends clients while the instance there is open."""
    services: dict[str, tuple[tuple[str, str], ...]]
    """The services of each node with their instances; while the instance there is closed, those of others only."""
    others: tuple[str, ...]
    """The instances of other databases on this node."""
    nfs_server: str
    """The address of the storage server; empty without one."""
    asm: int
    """The number of the ASM instance that the instance uses."""
    role: str
    open_mode: str
    has_grants: bool
    """Whether the user RACWIRE has more than CREATE SESSION."""
    has_ic_clients: bool
    """Whether a DBA has created the view of the users of the interconnect."""
    members: dict[int, tuple[str, dict[int, str]]]
    """The other nodes by number: the name and the private addresses; empty where CSS sends no heartbeat."""
    private: dict[int, tuple[str, str]]
    """The node's private NICs by network: name and address."""
    haips: dict[int, str]
    powered_off: tuple[str, ...]
    misscount_s: float
    haip_after_s: float
    stale_arp_of: tuple[str, ...]
    """The nodes whose HAIPs announce no move, and whose old MAC addresses the other nodes keep for some seconds."""
    ipc_timeout_s: float


def instances(
    shape: Shape, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault], blocks_per_s: int | None = None
) -> dict[str, DesiredInstance]:
    """Return the desired instance of every node; an empty dict when the cluster has no database."""
    if not shape.database:
        return {}
    interconnects = {node: _interconnects(shape, node, nics, broken) for node in shape.nodes}
    found = {node: _instance(shape, node, interconnects, broken) for node in shape.nodes}
    return {
        node: replace(_with_css(shape, instance, nics), blocks_per_s=blocks_per_s) for node, instance in found.items()
    }


def _with_css(shape: Shape, instance: DesiredInstance, nics: Mapping[PortId, Nic]) -> DesiredInstance:
    """Add what CSS and HAIP need. In a large cluster the kernels' table of neighbours has no room for heartbeats."""
    node = instance.host
    own = {network.number: nics[PortId(node, network.number)] for network in shape.networks if network.is_fast}
    others = [other for other in shape.nodes if other != node] if shape.size <= FULL_MESH_NODES else []
    return replace(
        instance,
        members={
            index_of(other): (other, {number: _bare(nics[PortId(other, number)].address) for number in own})
            for other in others
        },
        private={number: (nic.name, _bare(nic.address)) for number, nic in own.items()},
        haips={number: nic.haip for number, nic in own.items() if nic.haip},
    )


def _instance(
    shape: Shape,
    node: str,
    interconnects: Mapping[str, tuple[DesiredInterconnect, ...]],
    broken: frozenset[ActiveFault],
) -> DesiredInstance:
    listening = [other for other in shape.nodes if _listens(other, broken)]
    # An instance that hangs or restarts does not register with the SCAN.
    ready = [n for n in listening if broken.isdisjoint(_at(n, "hung-instance", "instance-restart"))]
    others = [other for other in shape.nodes if other != node and is_up(other, broken) and is_up(node, broken)]
    return DesiredInstance(
        number=index_of(node),
        name=shape.instance_of(node),
        host=node,
        version=DATABASE_VERSIONS["12.1"] if _FALSE_LOSSES in broken else shape.database,
        is_open=is_up(node, broken) and shape.has_instance(node) and not _is_stopped(node, broken),
        interconnects=interconnects[node],
        peers={index_of(other): _peer(shape, node, other, interconnects[other]) for other in others},
        hosts={index_of(other): other for other in others},
        asks_by_way_of_others=shape.size <= FULL_MESH_NODES,
        parameters=_parameters(shape, node, interconnects[node], broken),
        usual_mtu=shape.mtu,
        receive_buffer_bytes=4096 if ActiveFault("small-receive-buffer", node, None) in broken else None,
        restart_every_s=3.0 if ActiveFault("instance-restart", node, None) in broken else None,
        counts_false_losses=_FALSE_LOSSES in broken,
        hangs=ActiveFault("hung-instance", node, None) in broken,
        blocks_per_s=None,
        ping_every_s=shape.ping_every_s,
        address=shape.networks[0].address(index_of(node)),
        like=shape.like,
        listens=node in listening,
        scan_nodes=tuple(other for other in shape.nodes if is_up(other, broken)),
        scan_listens=ActiveFault("listener-down", None, None) not in broken,
        scan_targets={other: shape.networks[0].address(index_of(other)) for other in ready},
        services={other: shape.default_services(other) for other in shape.nodes},
        others=shape.others_on(node),
        nfs_server=storage.address if (storage := storage_server(shape, broken)) else "",
        asm=_asm_of(shape, node, broken),
        role=shape.kind.role,
        open_mode=shape.kind.open_mode,
        has_grants=ActiveFault("no-grants", None, None) not in broken,
        has_ic_clients=ActiveFault("no-ic-clients", None, None) not in broken,
        members={},
        private={},
        haips={},
        powered_off=tuple(other for other in shape.nodes if not is_up(other, broken)),
        misscount_s=min(shape.misscount_s, EVICTED_AFTER_S) if _evicts(broken) else shape.misscount_s,
        haip_after_s=_haip_after_s(shape, broken),
        stale_arp_of=tuple(other for other in shape.nodes if not broken.isdisjoint(_at(other, "stale-arp-after-move"))),
        ipc_timeout_s=shape.ipc_timeout_s,
    )


def _haip_after_s(shape: Shape, broken: frozenset[ActiveFault]) -> float:
    if _HAIP_STAYS in broken:
        return _A_DAY_S
    return shape.misscount_s * _SLOW_FAILOVER if _FAILOVER_SLOW in broken else shape.haip_after_s


def _evicts(broken: frozenset[ActiveFault]) -> bool:
    return any(fault.fault == "evicted-node" for fault in broken)


def _interconnects(
    shape: Shape, node: str, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]
) -> tuple[DesiredInterconnect, ...]:
    private = [(network, nics[PortId(node, network.number)]) for network in shape.private_networks]
    is_set = profile_named(shape.like).cluster_interconnects_set
    if is_set or ActiveFault("cluster-interconnects-set", node, None) in broken:
        return tuple(DesiredInterconnect(n.number, _bare(nic.address), "NO", _FROM_PARAMETER) for n, nic in private)
    if ActiveFault("public-interconnect", None, None) in broken:
        return (DesiredInterconnect(0, _bare(nics[PortId(node, 0)].address), "YES", _FROM_REGISTRY),)
    return tuple(DesiredInterconnect(n.number, _bare(nic.haip), "NO", "") for n, nic in private if nic.haip)


def _peer(shape: Shape, node: str, other: str, interconnects: tuple[DesiredInterconnect, ...]) -> dict[int, str]:
    """The addresses at which one instance requests blocks from another, by network."""
    addresses = {i.network: i.ip for i in interconnects}
    if shape.size <= FULL_MESH_NODES or len(addresses) < 2:
        return addresses
    chosen = sorted(addresses)[(index_of(node) + index_of(other)) % len(addresses)]
    return {chosen: addresses[chosen]}


def _parameters(
    shape: Shape, node: str, interconnects: tuple[DesiredInterconnect, ...], broken: frozenset[ActiveFault]
) -> dict[str, str]:
    fixed = [i.ip for i in interconnects if i.source == _FROM_PARAMETER]
    licensed = ActiveFault("no-diagnostics-pack", None, None) not in broken
    return {
        "cluster_database": "FALSE" if shape.kind is SINGLE else "TRUE",
        "cluster_interconnects": ":".join(fixed),
        "control_management_pack_access": "DIAGNOSTIC+TUNING" if licensed else "NONE",
        "db_block_size": "8192",
        "db_domain": shape.db_domain,
        "db_file_multiblock_read_count": "6",
        "db_unique_name": shape.db_unique_name,
        "gcs_server_processes": "1",
        "parallel_execution_message_size": "16384",
        "parallel_force_local": "FALSE",
        "parallel_max_servers": "0" if ActiveFault("no-parallel-servers", node, None) in broken else "8",
    }


def _asm_of(shape: Shape, node: str, broken: frozenset[ActiveFault]) -> int:
    """The number of the ASM instance that the instance of a node uses: its own, or that of the first other node."""
    is_elsewhere = ActiveFault("asm-elsewhere", node, None) in broken
    others = [other for other in shape.nodes if other != node]
    return index_of(others[0] if is_elsewhere and others else node)


def _is_stopped(node: str, broken: frozenset[ActiveFault]) -> bool:
    return ActiveFault("instance-down", node, None) in broken


def _listens(node: str, broken: frozenset[ActiveFault]) -> bool:
    down = {ActiveFault("listener-down", None, None), *_at(node, "listener-down")}
    return is_up(node, broken) and broken.isdisjoint(down)


def _at(node: str, *faults: str) -> set[ActiveFault]:
    return {ActiveFault(fault, node, None) for fault in faults}


def _bare(address: str) -> str:
    return address.partition("/")[0]
