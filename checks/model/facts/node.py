"""Facts of one node: interfaces, addresses, routes, neighbours, counters, kernel settings."""

from __future__ import annotations

import ipaddress
from enum import StrEnum

import msgspec

from checks.model.facts.base import Fact, Unknown

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


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

    groups: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)

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
    sysctls: dict[str, str | Unknown] = msgspec.field(default_factory=dict)
    limits: tuple[str, ...] = ()
    """What could not be read as this user, a sentence each, and what root would add."""

    def interface(self, name: str) -> Interface | None:
        """The interface of that name."""
        return next((i for i in self.interfaces if i.name == name), None)


class UnreadNode(Fact, frozen=True):
    """A node that is known to belong to the cluster and could not be read, and why."""

    name: str
    reason: str


class CounterChange(Fact, frozen=True):
    """What one node's kernel counted between two readings: differences, never totals since boot."""

    node: str
    seconds: float
    counters: KernelCounters
    """Differences of /proc/net/snmp and /proc/net/netstat; and of /proc/net/softnet_stat, over all CPUs, as group
    `Softnet` with `Dropped` and `TimeSqueezed`."""
    left_out: tuple[str, ...] = ()
    """Counters of which no difference can be told, since they fell meanwhile: `Ip.ReasmFails`."""


class CounterChanges(Fact, frozen=True):
    """All nodes over about the same time."""

    begun_at: str
    ended_at: str
    seconds: float
    nodes: tuple[CounterChange, ...]
    unread: dict[str, Unknown]
    """The nodes of which no difference can be told, and why."""

    def of(self, node: str) -> CounterChange | None:
        """The change on one node, where it could be told."""
        return next((c for c in self.nodes if c.node == node), None)


class Keeper(StrEnum):
    """What brings an interface up at boot, and so keeps its MTU."""

    NETWORK_MANAGER = "NetworkManager"
    """A connection in NetworkManager's own form (keyfile)."""
    IFCFG_NETWORK_MANAGER = "ifcfg, read by NetworkManager"
    IFCFG = "ifcfg, read by the network service"
    NETWORKD = "systemd-networkd"
    NETPLAN = "netplan"
    """YAML from which files for systemd-networkd or NetworkManager are made at boot."""
    WICKED = "wicked"
    UNKNOWN = "unknown"


class KeptMtu(Fact, frozen=True):
    """What one node's files say of one interface at its next boot."""

    interface: str
    keeper: Keeper
    file: str = ""
    """The file that says it; empty where only the keeper itself was asked."""
    connection: str = ""
    """NetworkManager's name of the connection (`connection.id`); the section or key in other files."""
    mtu: int | Unknown | None = None
    """None where it is not set: then the kernel's default (1500), the parent's or the bond's holds."""
    kind: str = ""
    """`ethernet`, `bond`, `vlan`, `bridge`, `infiniband`, as far as the file says it."""


class FragileMtu(Fact, frozen=True):
    """An MTU set beside the keeper: by a script or a udev rule, before or after it, and unknown to it."""

    interface: str
    """Empty where the line names none, or a pattern."""
    file: str
    line: str
    """The line as it stands there."""
    mtu: int | None = None


class LldpNeighbour(Fact, frozen=True):
    """The switch port at the other end of a cable, as it announces itself (IEEE 802.1AB)."""

    interface: str
    switch: str = ""
    description: str = ""
    """The switch's own description: model and software."""
    port: str = ""
    max_frame_bytes: int | Unknown = Unknown("the switch does not announce it")
    """IEEE 802.3 maximum frame size: MTU and 18 bytes, 22 with a VLAN tag."""


class NodeSetup(Fact, frozen=True):
    """One node's setup. What could not be read as this user stands in `limits`, a sentence each."""

    name: str
    boot_id: str | Unknown = Unknown("not read")
    """The kernel's name of this boot: another one means that the node was booted since."""
    booted_at: str | Unknown = Unknown("not read")
    """ISO 8601, in UTC."""
    taken_at_s: float = 0.0
    """The node's own clock when it was read, in seconds since 1970."""
    grid_home: str | Unknown = Unknown("not read")
    daemons: tuple[str, ...] | Unknown = Unknown("not read")
    """Those of Clusterware that run, sorted: `crsd.bin`, `evmd.bin`, `gipcd.bin`, `gpnpd.bin`, `ocssd.bin`,
    `ohasd.bin`, ..."""
    instances: tuple[str, ...] | Unknown = Unknown("not read")
    """Instances that run, by the names of their PMON processes, sorted: `+ASM1`, `prod1`."""
    autostart: bool | Unknown = Unknown("not read")
    """Whether Clusterware starts at boot (`crsctl config crs`; else ohasdstr, where it keeps that)."""
    services: tuple[str, ...] | Unknown = Unknown("not read")
    """The lines of `crsctl check crs` on this node: `CRS-4638: Oracle High Availability Services is online`, ..."""
    keepers: tuple[Keeper, ...] = ()
    """Those that are active on the node."""
    kept: tuple[KeptMtu, ...] | Unknown = Unknown("not read")
    """What is configured, for every interface that some file or connection is about."""
    fragile: tuple[FragileMtu, ...] = ()
    platform: str = ""
    """`Microsoft Azure`, `Amazon EC2`, `Google Cloud`, `Oracle Cloud`, `Oracle Engineered System`, else empty."""
    infiniband_modes: dict[str, str] = msgspec.field(default_factory=dict)
    """`datagram` or `connected`, for each IPoIB interface."""
    lldp: tuple[LldpNeighbour, ...] | Unknown = Unknown("not read")
    clients_by: tuple[str, ...] = ()
    """The local addresses that ssh logins are on now, from their connections to port 22."""
    limits: tuple[str, ...] = ()

    def kept_mtu(self, interface: str) -> KeptMtu | None:
        """What is configured for that interface."""
        return (
            None if isinstance(self.kept, Unknown) else next((k for k in self.kept if k.interface == interface), None)
        )

    @property
    def is_down(self) -> bool | None:
        """Whether nothing of Oracle's cluster runs here; None where that is not known."""
        if isinstance(self.daemons, Unknown) or isinstance(self.instances, Unknown):
            return None
        return not self.daemons and not self.instances
