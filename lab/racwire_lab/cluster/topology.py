"""The shape of the practice cluster: its nodes, networks, names and addresses, as data only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from racwire_lab.cluster.database_kinds import DEFAULT_KIND, DatabaseKind, kind_named
from racwire_lab.cluster.networks import PUBLIC, SPARE, STORAGE, Network, Role, private_of
from racwire_lab.cluster.profiles import DEFAULT_PROFILE, profile_named
from racwire_lab.lab_errors import LabUsageError

CLUSTER_NAME = "practice"
MIN_NODES, MAX_NODES = 2, 16
MIN_MTU, MAX_MTU = 1280, 9216
STANDARD_MTU = 1500
NFS_PORT = 2049
DATABASE, SERVICE_PORT = "prac", 1521
PLUGGABLE, SECOND_DATABASE = "pracpdb1", "crm"
"""The pluggable database of the practice database, and the second, single-instance database of `lab up`."""
DATABASE_VERSIONS = {"12.1": "12.1.0.2.0", "19c": "19.22.0.0.0", "23ai": "23.7.0.25.1"}
DEFAULT_DATABASE = DATABASE_VERSIONS["19c"]
NETWORK_SERVICES = ("keyfile", "ifcfg", "networkd")
"""The network services: NetworkManager with keyfiles, `network` with ifcfg files, systemd-networkd."""
DEFAULT_NETWORK_SERVICE, MIXED = NETWORK_SERVICES[0], "mixed"
LLDP = ("none", "closed", "open")
"""No lldpd; an lldpd that only root may query; an lldpd that all users may query."""
NO_LLDP, CLOSED_LLDP = LLDP[:2]
ALL_PORTS = "all"
SWITCH_MTU = 9216
"""MTU of every healthy switch port: a Linux bridge drops what exceeds the MTU of the port it leaves by."""


SCAN_NAME, SCAN_ADDRESS = "practice-scan", PUBLIC.address(100)
"""The host name and address of the SCAN: clients connect to it for all instances."""


class PortId(NamedTuple):
    """The switch port of a node's NIC."""

    node: str
    network: int

    @property
    def name(self) -> str:
        """The name of this port in the switch: at most 10 characters, so that a name with a suffix fits into 15."""
        return f"{self.node}-eth{self.network}"


PING_EVERY_S = 12.0
"""Seconds in which an instance pings each other one once with each size. AWR reports of real databases have about 300
pings an hour."""


SHORTEST_S, LONGEST_S = 1.0, 3600.0
"""The limits in seconds of the options below."""
FRAGMENT_S = 30
"""The default of the kernel: it drops an incomplete datagram after so many seconds (net.ipv4.ipfrag_time)."""
MISSCOUNT_S, HAIP_AFTER_S, IPC_TIMEOUT_S = 30.0, 20.0, 60.0
"""Oracle's default of misscount. A real IPC send timeout takes 300 s."""


@dataclass(frozen=True)
class Shape:
    """The options of `racwire lab up`."""

    size: int
    mtu: int
    database: str = DEFAULT_DATABASE
    """The version of the database; empty when the cluster has no database."""
    switch_mtu: int = SWITCH_MTU
    """The initial MTU of the switch ports on the private networks, in bytes."""
    keeper: str = DEFAULT_NETWORK_SERVICE
    """The network service of the nodes: one of NETWORK_SERVICES, or MIXED for another one on each node in turn."""
    db_unique_name: str = DATABASE
    db_domain: str = ""
    """DB_DOMAIN of the database; empty for none."""
    like: str = DEFAULT_PROFILE
    """The name of the cluster's profile."""
    lldp: str = NO_LLDP
    """Whether lldpd runs on the nodes, and for whom: one of LLDP."""
    db_kind: str = DEFAULT_KIND
    """The kind of the database: one of KINDS."""
    has_second: bool = False
    """Whether the first node also has the single-instance database SECOND_DATABASE."""
    ping_every_s: float = PING_EVERY_S
    """Seconds in which an instance pings each other one once with each size."""
    misscount_s: float = MISSCOUNT_S
    """Seconds without a network heartbeat after which CSS evicts a node."""
    haip_after_s: float = HAIP_AFTER_S
    """Seconds without a link after which a HAIP moves to another NIC."""
    ipc_timeout_s: float = IPC_TIMEOUT_S
    """Seconds without a message after which an instance reports an IPC send timeout."""
    has_spare: bool = False
    """Whether the nodes are also on the network SPARE."""
    has_storage: bool = False
    """Whether the nodes mount from a storage server on the network STORAGE."""
    rate_mbps: int = 0
    """The rate of switch ports and NICs in Mbit/s, except on management networks; 0 for that of the kernel's links."""
    fragment_time_s: int = FRAGMENT_S
    """Seconds that each node keeps an incomplete datagram."""
    hypervisor: tuple[str, ...] = ()
    """The nodes whose private NICs are behind a hypervisor's bridge."""

    @property
    def kind(self) -> DatabaseKind:
        """The kind of the database."""
        return kind_named(self.db_kind)

    def instance_of(self, node: str) -> str:
        """Return the name of the instance on a node."""
        return self.kind.instance_name(DATABASE, index_of(node))

    def has_instance(self, node: str) -> bool:
        """Whether the database has an instance on a node."""
        return not self.kind.runs_once or index_of(node) == 1

    def others_on(self, node: str) -> tuple[str, ...]:
        """Return the instances of other databases on a node."""
        return (SECOND_DATABASE,) if self.has_second and index_of(node) == 1 else ()

    def default_services(self, node: str) -> tuple[tuple[str, str], ...]:
        """Return the services by which clients reach the databases of a node, each with its instance, while all run."""
        found = [(self.service, self.instance_of(node))] if self.has_instance(node) else []
        if found and self.kind.is_open and self.database:
            found.append((default_service(PLUGGABLE, self.db_domain), self.instance_of(node)))
        return (*found, *((default_service(other, self.db_domain), other) for other in self.others_on(node)))

    @property
    def service(self) -> str:
        """The default service of the database, which every open instance registers."""
        return default_service(self.db_unique_name, self.db_domain)

    def network_service_of(self, node: str) -> str:
        """Return the network service of a node."""
        return NETWORK_SERVICES[(index_of(node) - 1) % len(NETWORK_SERVICES)] if self.keeper == MIXED else self.keeper

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes, in the order of their numbers."""
        return tuple(f"rac{i}" for i in range(1, self.size + 1))

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks by their number."""
        networks = profile_named(self.like).networks
        return (*networks, *((SPARE,) if self.has_spare else ()), *((STORAGE,) if self.has_storage else ()))

    @property
    def storage_network(self) -> Network | None:
        """The network of the storage server; None in a cluster without one."""
        return next((network for network in self.networks if network.role is Role.STORAGE), None)

    @property
    def private_networks(self) -> tuple[Network, ...]:
        """The interconnects."""
        return private_of(self.networks)

    def port_mtu(self, port: PortId) -> int:
        """Return the initial MTU of a switch port, in bytes."""
        return self.switch_mtu if self.networks[port.network].is_fast else SWITCH_MTU

    @property
    def ports(self) -> tuple[PortId, ...]:
        """Every NIC of every node."""
        return tuple(PortId(node, net.number) for node in self.nodes for net in self.networks)

    @property
    def fast_ports(self) -> tuple[PortId, ...]:
        """Every NIC of every node on an interconnect, or on the spare network."""
        return tuple(PortId(node, net.number) for node in self.nodes for net in self.networks if net.is_fast)

    @property
    def private_ports(self) -> tuple[PortId, ...]:
        """Every NIC of every node on an interconnect."""
        return tuple(PortId(node, net.number) for node in self.nodes for net in self.private_networks)


def default_service(unique_name: str, domain: str) -> str:
    """Return the default service of a database: DB_UNIQUE_NAME, with DB_DOMAIN where it is set."""
    return f"{unique_name}.{domain}" if domain else unique_name


def checked_names(unique_name: str, domain: str) -> None:
    """Raise LabUsageError when one of them is not possible as DB_UNIQUE_NAME or DB_DOMAIN."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_$#]{0,29}", unique_name):
        raise LabUsageError(
            f"A DB_UNIQUE_NAME has at most 30 letters, digits, _, $ and #, not {unique_name!r}: choose with "
            "--db-unique-name."
        )
    if domain and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_#-]*(\.[A-Za-z0-9_#-]+)*", domain):
        raise LabUsageError(f"A DB_DOMAIN is a name such as example.com, not {domain!r}: choose with --db-domain.")


def checked_spare(like: str, has_spare: bool, has_storage: bool) -> None:
    """Raise LabUsageError when a cluster of this profile cannot have the network SPARE or STORAGE."""
    option = "--spare-network" if has_spare else "--storage"
    if (has_spare or has_storage) and len(profile_named(like).networks) != SPARE.number:
        raise LabUsageError(f"A cluster like {like} cannot have another network: leave out {option}.")
    if has_spare and has_storage:
        raise LabUsageError("The nodes have one more NIC: leave out --spare-network or --storage.")


def index_of(node: str) -> int:
    """Return the number of a node, from 1, that is part of its name."""
    return int(node.removeprefix("rac"))


def number_before(node: str) -> int:
    """Return the number of the node before this one; of the second node for the first."""
    return index_of(node) - 1 or 2


@dataclass(frozen=True)
class SwitchPort:
    """A port of the switch. It drops packets larger than its MTU (in bytes) in both directions, without an error."""

    name: str
    node: str
    nic: str
    mtu: int


def switch_ports(shape: Shape, port_mtus: Mapping[PortId, int]) -> tuple[SwitchPort, ...]:
    """Return all ports of the private networks, in the order of the networks."""
    fast = sorted(shape.fast_ports, key=lambda port: port.network)
    return tuple(
        SwitchPort(port.name, port.node, shape.networks[port.network].nic, port_mtus.get(port, shape.port_mtu(port)))
        for port in fast
    )


def ports_named(text: str, shape: Shape) -> tuple[PortId, ...]:
    """Return the port with a name such as `rac2-eth1`, or all ports for `all`.

    Raises LabUsageError when there is no such port.
    """
    known = shape.fast_ports
    found = tuple(port for port in known if text in (ALL_PORTS, port.name))
    if not found:
        raise LabUsageError(
            f"There is no switch port '{text}' on the private networks: choose {ALL_PORTS}, or one of "
            f"{', '.join(port.name for port in known)}."
        )
    return found


def checked_mtu(mtu: int) -> int:
    """Return the MTU unchanged. Raises LabUsageError when no switch port can have it."""
    if not MIN_MTU <= mtu <= MAX_MTU:
        raise LabUsageError(
            f"The MTU of a practice switch port is {MIN_MTU} to {MAX_MTU} bytes, not {mtu}: choose another one."
        )
    return mtu


def node_named(text: str, shape: Shape) -> str:
    """Return the node with a name such as `rac2` or a number such as `2`.

    Raises LabUsageError when the cluster has no such node.
    """
    node = f"rac{text}" if text.isdigit() else text
    if node not in shape.nodes:
        raise LabUsageError(f"There is no node '{text}': the practice cluster has {', '.join(shape.nodes)}.")
    return node


def network_named(text: str | int, shape: Shape) -> int:
    """Return the number of the private network called `2` or `eth2`.

    Raises LabUsageError when there is no such network.
    """
    for network in shape.private_networks:
        if str(text) in (str(network.number), network.nic):
            return network.number
    known = " or ".join(f"{network.number} ({network.nic})" for network in shape.private_networks)
    raise LabUsageError(f"There is no private network '{text}': choose {known}.")
