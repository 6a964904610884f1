"""What can be known of a cluster.

Facts are frozen, typed and serialisable: the same objects come from a live cluster, from the practice cluster and
from a saved file, so that a check cannot tell which. Units stand in the names (`speed_mbps`, `rtt_ms`); an MTU is
always in bytes and means the IP packet, as `ip link` counts it. What could not be read is `Unknown` with its reason,
never None and never zero; None means "read, and there is none".
"""

from __future__ import annotations

import ipaddress
from enum import StrEnum

import msgspec

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


class Fact(msgspec.Struct, frozen=True, tag_field="fact", tag=True, omit_defaults=True):
    """A thing that is so; in JSON its class name stands in the field `fact`."""


class Unknown(Fact, frozen=True):
    """A fact that could not be read, and why: one sentence that a DBA can act on."""

    reason: str


# --- one node ---------------------------------------------------------------------------------------------------------


class Address(Fact, frozen=True):
    """An IP address on an interface."""

    ip: str
    prefix_length: int
    label: str = ""
    """The alias it is shown under, such as `eth1:1` for a HAIP address; empty when it has none of its own."""

    @property
    def network(self) -> IPNetwork:
        """The subnet that the address lies in."""
        return ipaddress.ip_network(f"{self.ip}/{self.prefix_length}", strict=False)

    @property
    def is_haip(self) -> bool:
        """Whether Clusterware put it there: HAIP addresses come from 169.254.0.0/16 (MOS 1210883.1)."""
        return self.ip.startswith("169.254.")


class Interface(Fact, frozen=True):
    """A network interface as the kernel has it."""

    name: str
    mtu: int
    kind: str
    """What it is: `ethernet`, `loopback`, `infiniband`, or the kernel's own word (`bond`, `bridge`, `vlan`, `veth`)."""
    administratively_up: bool
    operational_state: str
    """RFC 2863 state in the kernel's lower-case words: `up`, `down`, `lowerlayerdown`, `unknown`, ..."""
    mac_address: str = ""
    master: str = ""
    """The bond or bridge that it is a member of."""
    parent: str = ""
    """The interface below a VLAN or macvlan."""
    members: tuple[str, ...] = ()
    """The interfaces whose master this one is, by name."""
    addresses: tuple[Address, ...] = ()
    min_mtu: int | Unknown = Unknown("not read")
    max_mtu: int | Unknown = Unknown("not read")
    """What the driver can carry; 0 from the kernel (no limit told) is kept as Unknown."""
    speed_mbps: int | Unknown = Unknown("not read")
    duplex: str | Unknown = Unknown("not read")

    @property
    def is_up(self) -> bool:
        """Whether it can carry packets now; loopback and some virtual kinds never say `up` but `unknown`."""
        return self.administratively_up and self.operational_state in ("up", "unknown")


class Route(Fact, frozen=True):
    """A unicast route of the main table."""

    destination: str
    """`192.168.10.0/24`, or `default`."""
    interface: str
    gateway: str = ""
    mtu: int | None = None
    """The route's own MTU metric; None when it sets none."""
    mtu_locked: bool = False
    source: str = ""


class Neighbour(Fact, frozen=True):
    """An entry of the ARP or neighbour discovery cache."""

    ip: str
    interface: str
    mac_address: str = ""
    state: str = ""
    """The kernel's word in lower case: `reachable`, `stale`, `failed`, `incomplete`, ..."""


class KernelCounters(Fact, frozen=True):
    """/proc/net/snmp and /proc/net/netstat, by group and header name; counted since boot, so only differences speak."""

    groups: dict[str, dict[str, int]] = {}

    def value(self, group: str, name: str) -> int | None:
        """One counter, or None where this kernel does not have it."""
        return self.groups.get(group, {}).get(name)


class Node(Fact, frozen=True):
    """One node of the cluster as it was read."""

    name: str
    read_by: str
    """`netlink` for this node, `ssh` for a peer."""
    kernel_release: str = ""
    interfaces: tuple[Interface, ...] = ()
    routes: tuple[Route, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    counters: KernelCounters | Unknown = Unknown("not read")
    sysctls: dict[str, str | Unknown] = {}
    limits: tuple[str, ...] = ()
    """What could not be read as this user, a sentence each, and what root would add."""

    def interface(self, name: str) -> Interface | None:
        """The interface of that name."""
        return next((i for i in self.interfaces if i.name == name), None)

    def owner_of(self, ip: str) -> Interface | None:
        """The interface that carries the address."""
        return next((i for i in self.interfaces if any(a.ip == ip for a in i.addresses)), None)


class UnreadNode(Fact, frozen=True):
    """A node that is known to belong to the cluster and could not be read, and why."""

    name: str
    reason: str


# --- Clusterware ------------------------------------------------------------------------------------------------------


class ToolMessage(Fact, frozen=True):
    """A message line of an Oracle tool, such as `PRIF-29: Warning: wildcard in network parameters ...`."""

    code: str
    text: str


class StaleHome(Fact, frozen=True):
    """A place that names a Grid home other than the one in use."""

    path: str
    named_by: str
    reason: str


class GridHome(Fact, frozen=True):
    """Where Grid Infrastructure is installed, and how that is known."""

    path: str
    named_by: str
    """`settings`, `environment GRID_HOME`, `/etc/oracle/olr.loc`, `running ocssd.bin`, `/etc/oratab`, `inventory`."""
    owner: str = ""
    """The user who owns it: the one who may run oifcfg."""
    stale: tuple[StaleHome, ...] = ()


class ConfiguredInterface(Fact, frozen=True):
    """A line of `oifcfg getif`."""

    name: str
    """May be a pattern (`eth*`, `*`): then the subnet decides which interface is meant."""
    subnet: str
    scope: str
    """`global` or `node-specific`."""
    roles: tuple[str, ...]
    """Sorted: `asm`, `cluster_interconnect`, `public`, ..."""

    @property
    def is_private(self) -> bool:
        """Whether Cache Fusion and the Clusterware may use it."""
        return "cluster_interconnect" in self.roles

    @property
    def is_public(self) -> bool:
        """Whether clients come in on it."""
        return "public" in self.roles

    @property
    def is_pattern(self) -> bool:
        """Whether the name is a wildcard, as the installer stores it when names differ between nodes."""
        return "*" in self.name or "?" in self.name


class InterfaceConfiguration(Fact, frozen=True):
    """What `oifcfg getif` printed: the networks, and the messages between them."""

    interfaces: tuple[ConfiguredInterface, ...] = ()
    messages: tuple[ToolMessage, ...] = ()
    only_in_ocr: tuple[ConfiguredInterface, ...] = ()
    """Entries under `Only in OCR:`: the OCR has them and the GPnP profile has not."""
    not_understood: tuple[str, ...] = ()
    """Lines that are none of the known shapes, as printed."""


class ListedInterface(Fact, frozen=True):
    """A line of `oifcfg iflist -p -n`: an interface of this node. Its PRIVATE/PUBLIC is a guess and decides nothing."""

    name: str
    subnet: str
    guess: str = ""
    prefix_length: int | None = None


class ClusterMember(Fact, frozen=True):
    """A line of `olsnodes -n -i -s -t`."""

    name: str
    number: int | Unknown = Unknown("not printed")
    vip: str = ""
    status: str = ""
    """`Active` or `Inactive`."""
    pinning: str = ""
    """`Pinned` or `Unpinned`."""


class ActiveVersion(Fact, frozen=True):
    """`crsctl query crs activeversion -f`."""

    version: str
    upgrade_state: str | Unknown = Unknown("crsctl did not print it (before 12.1)")
    """`NORMAL`, `ROLLING PATCH`, `ROLLING UPGRADE`, ..."""
    patch_level: str | Unknown = Unknown("crsctl did not print it (before 12.1)")


class Haip(Fact, frozen=True):
    """The resource ora.cluster_interconnect.haip on this node."""

    present: bool
    """False where this Grid Infrastructure has no such resource (Exadata, Oracle Restart, disabled at install)."""
    target: str = ""
    state: str = ""
    server: str = ""


class Clusterware(Fact, frozen=True):
    """What Grid Infrastructure says of the cluster, asked on this node."""

    grid_home: GridHome
    local_node: str | Unknown
    cluster_name: str | Unknown
    members: tuple[ClusterMember, ...] | Unknown
    configuration: InterfaceConfiguration | Unknown
    listed: tuple[ListedInterface, ...] | Unknown
    version: ActiveVersion | Unknown
    services: tuple[ToolMessage, ...] | Unknown
    """The lines of `crsctl check crs`."""
    haip: Haip | Unknown
    misscount_s: int | Unknown
    """Seconds without network heartbeat after which CSS evicts a node."""


# --- private networks and the paths over them -------------------------------------------------------------------------


class Port(Fact, frozen=True):
    """A node's place on a private network."""

    node: str
    interface: str
    ip: str


class PrivateNetwork(Fact, frozen=True):
    """A private network: what was configured, and the ports that the nodes really have on it."""

    name: str
    """How it is called on screens and in findings: `192.168.11.0/24`, or `eth2 192.168.11.0/24`
    where two share a subnet."""
    interface: str
    """The configured interface name or pattern."""
    subnet: str
    """In CIDR form; only the address where no node has an interface on it (oifcfg prints no netmask)."""
    named_by: str
    """`oifcfg` or `settings`."""
    ports: tuple[Port, ...] = ()
    mtu: int | Unknown = Unknown("no node has a port on it")
    """What the network is meant to carry: the MTU of most of its ports; where they are even, the one that the other
    private networks have, then the larger one."""

    @property
    def is_pattern(self) -> bool:
        """Whether a wildcard stands for the interface, so that its name may differ from node to node."""
        return "*" in self.interface or "?" in self.interface

    def port(self, node: str) -> Port | None:
        """The node's port on this network."""
        return next((p for p in self.ports if p.node == node), None)


class Verdict(StrEnum):
    """How a path between two nodes treats full-size packets."""

    PASSES = "passes"
    LOCAL_MTU = "local MTU too small"
    TOO_BIG = "fragmentation needed"
    BLACK_HOLE = "black hole"
    LOSS = "loss"
    UNREACHABLE = "unreachable"
    FILTERED = "filtered"
    UNKNOWN = "unknown"

    @property
    def letter(self) -> str:
        """The sign in a path matrix."""
        return _VERDICT_LETTERS[self]


_VERDICT_LETTERS = {
    Verdict.PASSES: "P",
    Verdict.LOCAL_MTU: "M",
    Verdict.TOO_BIG: "T",
    Verdict.BLACK_HOLE: "B",
    Verdict.LOSS: "L",
    Verdict.UNREACHABLE: "U",
    Verdict.FILTERED: "F",
    Verdict.UNKNOWN: "?",
}


class Leg(StrEnum):
    """Which way of a ping lost the packets: seen by counting the echo requests that reached the other node."""

    REQUEST = "request"
    """On the way there."""
    REPLY = "reply"
    """On the way back: the requests arrived."""
    BOTH = "both"
    UNKNOWN = "unknown"


class PingSeries(Fact, frozen=True):
    """Several DF pings of one size."""

    payload: int
    """ICMP payload in bytes: the packet is 28 bytes larger (48 for IPv6)."""
    sent: int
    received: int
    refused_locally: int = 0
    """Packets that this node's own kernel would not send: larger than the interface or route allows."""
    local_mtu: int | None = None
    """The MTU that the kernel named when it refused."""
    too_big_mtu: int | None = None
    """The next-hop MTU in a "fragmentation needed" answer."""
    too_big_from: str = ""
    """The router that sent it."""
    unreachable_from: str = ""
    """The host or router that answered "destination unreachable"; the node itself when ARP got no answer."""
    rtt_ms_min: float | None = None
    rtt_ms_median: float | None = None
    rtt_ms_max: float | None = None
    ttl: int | None = None
    """TTL of the answers: 64 (or 128, 255) on one wire, one less for each router."""
    errors: tuple[str, ...] = ()
    """Other errors, as the system worded them."""


class PathProbe(Fact, frozen=True):
    """What was found on the way from one node to another on a private network."""

    network: str
    from_node: str
    to_node: str
    source_ip: str
    destination_ip: str
    expected_mtu: int
    """The network's MTU: what ought to pass."""
    verdict: Verdict
    series: tuple[PingSeries, ...] = ()
    path_mtu: int | Unknown | None = None
    """The largest packet that passes, to the byte; None where it was not searched for."""
    lost_leg: Leg = Leg.UNKNOWN
    hops: int | None = None
    """Routers on the way back, from the TTL; 0 on one wire."""
    reason: str = ""
    """Why the verdict is unknown, filtered or unreachable: one sentence."""
    sent_by: str = ""
    """`icmp socket` or `ping`."""
    packets_sent: int = 0
    bytes_sent: int = 0
    elapsed_ms: float = 0.0


# --- the whole --------------------------------------------------------------------------------------------------------


class Thresholds(Fact, frozen=True):
    """What the checks measure against; each is a setting, documented with its source there."""

    loss_fail_percent: float = 1.0


class Cluster(Fact, frozen=True):
    """All that is known of a cluster: what checks judge. A group that was not asked for is Unknown."""

    local_node: str
    taken_at: str
    """ISO 8601, with the zone of the node."""
    clusterware: Clusterware | Unknown = Unknown("not asked for")
    nodes: tuple[Node | UnreadNode, ...] | Unknown = Unknown("not asked for")
    networks: tuple[PrivateNetwork, ...] | Unknown = Unknown("not asked for")
    paths: tuple[PathProbe, ...] | Unknown = Unknown("not asked for")
    named_networks: tuple[str, ...] = ()
    """The private networks that the operator named; then Clusterware need not be there."""
    thresholds: Thresholds = Thresholds()

    def read_nodes(self) -> tuple[Node, ...]:
        """The nodes that could be read."""
        return () if isinstance(self.nodes, Unknown) else tuple(n for n in self.nodes if isinstance(n, Node))

    def unread_nodes(self) -> tuple[UnreadNode, ...]:
        """The nodes that could not."""
        return () if isinstance(self.nodes, Unknown) else tuple(n for n in self.nodes if isinstance(n, UnreadNode))

    def node(self, name: str) -> Node | None:
        """The node of that name, where it could be read."""
        return next((n for n in self.read_nodes() if n.name == name), None)


FACT_GROUPS = ("clusterware", "nodes", "networks", "paths")
"""The fields of `Cluster` that a check can need, in the order in which they can be gathered."""
