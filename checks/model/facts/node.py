"""Facts about one node: interfaces, addresses, routes, neighbours, counters, kernel settings, boot configuration."""

from __future__ import annotations

import ipaddress
from enum import StrEnum

import msgspec

from checks.model.facts.base import Fact, MissingRight, Unknown
from checks.model.facts.host_setup import NOT_READ, HostSetup
from checks.model.facts.log_lines import NodeLogs
from checks.model.facts.storage_facts import StorageUse
from checks.model.facts.system_counters import SystemCounters
from checks.model.facts.tcp_facts import PrivateTcp

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


class Address(Fact, frozen=True):
    """An IP address on an interface."""

    ip: str
    prefix_length: int
    label: str = ""
    """The alias of the address, such as `eth1:1` for a HAIP address; empty where it has none of its own."""

    @property
    def network(self) -> IPNetwork:
        """The subnet of the address."""
        return ipaddress.ip_network(f"{self.ip}/{self.prefix_length}", strict=False)

    @property
    def is_link_local(self) -> bool:
        """Whether the address is in 169.254.0.0/16: that of a HAIP, if it is on a private network (MOS 1210883.1)."""
        return self.ip.startswith("169.254.")


class Interface(Fact, frozen=True):
    """A network interface of the kernel."""

    name: str
    mtu: int
    kind: str
    """`ethernet`, `loopback`, `infiniband`, or the kernel's own term (`bond`, `bridge`, `vlan`, `veth`)."""
    administratively_up: bool
    operational_state: str
    """RFC 2863 state in the kernel's lower-case terms: `up`, `down`, `lowerlayerdown`, `unknown`, ..."""
    mac_address: str = ""
    master: str = ""
    """The bond or bridge of which the interface is a member."""
    parent: str = ""
    """The interface below a VLAN or macvlan."""
    members: tuple[str, ...] = ()
    """The names of the interfaces whose master this interface is."""
    addresses: tuple[Address, ...] = ()
    min_mtu: int | Unknown = Unknown("not read")
    max_mtu: int | Unknown = Unknown("not read")
    """The limit of the driver; 0 from the kernel (no limit reported) is Unknown."""
    speed_mbps: int | Unknown = Unknown("not read")
    duplex: str | Unknown = Unknown("not read")
    vlan: int | None = None
    """The tag of a VLAN interface; None where the kernel shows none."""
    noarp: bool | None = None
    """Whether the interface neither sends nor answers ARP requests (IFF_NOARP); None in files of versions that did not
    read it."""
    carrier_changes: int | None = None
    """How often its link came or went since it was made; None where the kernel does not count it, or it was not
    read."""

    @property
    def is_up(self) -> bool:
        """Whether the interface can carry packets now; loopback and some virtual kinds report `unknown`, never `up`."""
        return self.administratively_up and self.operational_state in ("up", "unknown")


class Route(Fact, frozen=True):
    """A unicast route of the main table."""

    destination: str
    """`192.168.10.0/24`, or `default`."""
    interface: str
    gateway: str = ""
    mtu: int | None = None
    """The route's own MTU metric; None where it sets none."""
    mtu_locked: bool = False
    source: str = ""
    metric: int = 0
    """The kernel prefers the lowest metric of several routes to the same destination."""

    @property
    def words(self) -> tuple[str, ...]:
        """The route for `ip route`, without its MTU. With its metric: without one, `ip` means another route."""
        via = ("via", self.gateway) if self.gateway else ()
        source = ("src", self.source) if self.source else ()
        metric = ("metric", str(self.metric)) if self.metric else ()
        return (self.destination, *via, "dev", self.interface, *source, *metric)


class Neighbour(Fact, frozen=True):
    """An entry of the ARP or neighbour discovery cache."""

    ip: str
    interface: str
    mac_address: str = ""
    state: str = ""
    """The kernel's term in lower case: `reachable`, `stale`, `failed`, `incomplete`, ..."""
    confirmed_s: int | None = None
    """Seconds since a packet confirmed the MAC address (netlink NDA_CACHEINFO, the second number after `used` of
    `ip -s neigh`); None where it was not read."""


class KernelCounters(Fact, frozen=True):
    """/proc/net/snmp and /proc/net/netstat, by group and header name; totals since boot, so only differences count."""

    groups: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)

    def value(self, group: str, name: str) -> int | None:
        """Return one counter, or None where this kernel does not have it."""
        return self.groups.get(group, {}).get(name)


class Node(Fact, frozen=True):
    """One node of the cluster that was read."""

    name: str
    read_by: str
    """`netlink` for this node, `ssh` for a peer."""
    kernel_release: str = ""
    interfaces: tuple[Interface, ...] = ()
    routes: tuple[Route, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    counters: KernelCounters | Unknown = Unknown("not read")
    sysctls: dict[str, str | Unknown] = msgspec.field(default_factory=dict)
    unread: tuple[Unknown, ...] = ()
    """The parts of the node that could not be read."""
    neighbours_unread: Unknown | None = None
    """Why the neighbours could not be read; it is in `unread` too."""
    racwires: tuple[str, ...] = ()
    """The locks (abstract sockets) of other racwires on the node, read before this run sent anything:
    `racwire-measure`, `racwire-probe`, `racwire-pings`."""

    def interface(self, name: str) -> Interface | None:
        """Return the interface with that name, or None."""
        return next((i for i in self.interfaces if i.name == name), None)


class UnreadNode(Fact, frozen=True):
    """A node of the cluster that could not be read, with the reason."""

    name: str
    reason: str
    right: MissingRight | None = None
    is_pending: bool = False
    """Whether racwire still waits for the answer of the node. Checks never see such a node."""
    is_silent: bool = False
    """Whether no host answered ssh at its address: nothing accepted the connection, and nothing refused it."""


class NicAddresses(Fact, frozen=True):
    """The addresses of one interface."""

    name: str
    addresses: tuple[Address, ...] = ()


class CounterChange(Fact, frozen=True):
    """The counters of one node's kernel between two readings: differences, never totals since boot."""

    node: str
    seconds: float
    counters: KernelCounters
    """Differences of /proc/net/snmp and /proc/net/netstat; and of /proc/net/softnet_stat, over all CPUs, as group
    `Softnet` with `Dropped` and `TimeSqueezed`."""
    left_out: tuple[str, ...] = ()
    """Counters without a difference, because they decreased between the readings: `Ip.ReasmFails`."""
    fragment_memory_bytes: int | None = None
    """The larger of the amounts of memory that packets in reassembly used at the two readings; None where not known."""
    machine: SystemCounters = SystemCounters()
    """The counters of private NICs, CPUs and memory."""
    storage: StorageUse | Unknown | None = None
    """The storage over the network; None in files of versions that did not read it."""
    private_tcp: PrivateTcp | Unknown | None = None
    """What TCP moved at the private addresses; None in files of versions that did not read it."""
    racwires: tuple[str, ...] = ()
    """The locks of racwires on the node at the readings, those of this run included."""
    addresses: tuple[NicAddresses, ...] | Unknown = NOT_READ
    """The interfaces that have addresses, at the second reading."""
    routes: tuple[Route, ...] | Unknown = NOT_READ
    """The IPv4 routes of the main table at the second reading."""


class CounterChanges(Fact, frozen=True):
    """The counters of all nodes over about the same time."""

    begun_at: str
    ended_at: str
    seconds: float
    nodes: tuple[CounterChange, ...]
    unread: dict[str, Unknown]
    """The nodes without a difference, with the reasons."""
    quiet: tuple[CounterChange, ...] = ()
    """The part of the time in which the run sent no packet on the private networks, on each node. A node is absent
    where the probes lasted to the end, or where the run sends none."""

    def of(self, node: str) -> CounterChange | None:
        """Return the change on one node, or None where it is not known."""
        return next((c for c in self.nodes if c.node == node), None)


class NetworkService(StrEnum):
    """The network service that configures an interface at boot, with its MTU."""

    NETWORK_MANAGER = "NetworkManager"
    """A connection in NetworkManager's own format (keyfile)."""
    IFCFG_NETWORK_MANAGER = "ifcfg, read by NetworkManager"
    IFCFG = "ifcfg, read by the network service"
    NETWORKD = "systemd-networkd"
    NETPLAN = "netplan"
    """YAML from which netplan generates files for systemd-networkd or NetworkManager at boot."""
    WICKED = "wicked"
    UNKNOWN = "unknown"


class MtuByDhcp(Unknown, frozen=True):
    """An MTU that no file sets and DHCP can set (option 26); an MTU in a file overrides it."""

    reason: str = "no file sets it, and DHCP can set it (option 26)"


class KeptMtu(Fact, frozen=True):
    """The boot configuration of one interface on one node."""

    interface: str
    network_service: NetworkService = msgspec.field(name="keeper")
    file: str = ""
    """The configuration file; empty where only the network service itself was queried."""
    connection: str = ""
    """NetworkManager's name of the connection (`connection.id`); the section or key in other files."""
    mtu: int | Unknown | MtuByDhcp | None = None
    """None where no MTU is set: then the default of the kernel (1500), the parent's or the bond's MTU applies."""
    kind: str = ""
    """`ethernet`, `bond`, `vlan`, `bridge`, `infiniband`, where the file has the kind."""
    addresses: tuple[str, ...] | Unknown = NOT_READ
    """The static addresses of the interface, with the prefix length where the file has one: `192.168.10.1/24`.
    Addresses of HAIP are Clusterware's own and in no file."""
    is_by_dhcp: bool = False
    """Whether DHCP assigns an address, in addition to the static ones."""
    starts: bool | Unknown = NOT_READ
    """Whether the network service brings the interface up at boot by itself."""


class FragileMtu(Fact, frozen=True):
    """An MTU that a script or a udev rule sets, outside the configuration of the network service."""

    interface: str
    """Empty where the line names no interface, or a pattern."""
    file: str
    line: str
    """The line as it is in the file."""
    mtu: int | None = None


class LldpNeighbour(Fact, frozen=True):
    """The switch port at the other end of a cable, as the switch announces it (IEEE 802.1AB)."""

    interface: str
    switch: str = ""
    description: str = ""
    """The switch's own description: model and software."""
    port: str = ""
    max_frame_bytes: int | Unknown = Unknown("the switch does not announce it")
    """IEEE 802.3 maximum frame size: MTU and 18 bytes, 22 with a VLAN tag."""
    chassis: str = ""
    """The identifier of the sender's chassis: a MAC address in lower case with colons, or another text."""
    port_mac: str = ""
    """The MAC address of the port, where the sender identifies its port by one; in lower case with colons."""
    management_ips: tuple[str, ...] = ()
    untagged_vlan: int | None = None
    """The VLAN of untagged frames at the switch port (IEEE 802.1, port VLAN ID)."""


class NodeSetup(Fact, frozen=True):
    """The setup of one node."""

    name: str
    boot_id: str | Unknown = Unknown("not read")
    """The kernel's identifier of this boot: a different one means that the node has been rebooted."""
    booted_at: str | Unknown = Unknown("not read")
    """ISO 8601, in UTC."""
    taken_at_s: float = 0.0
    """The node's own clock at the time of the reading, in seconds since 1970."""
    grid_home: str | Unknown = Unknown("not read")
    daemons: tuple[str, ...] | Unknown = Unknown("not read")
    """The running daemons of Clusterware, sorted: `crsd.bin`, `evmd.bin`, `gipcd.bin`, `gpnpd.bin`, `ocssd.bin`,
    `ohasd.bin`, ..."""
    instances: tuple[str, ...] | Unknown = Unknown("not read")
    """The running instances, by the names of their PMON processes, sorted: `+ASM1`, `prod1`."""
    autostart: bool | Unknown = Unknown("not read")
    """Whether Clusterware starts at boot (`crsctl config crs`, else the file ohasdstr)."""
    services: tuple[str, ...] | Unknown = Unknown("not read")
    """The lines of `crsctl check crs` on this node: `CRS-4638: Oracle High Availability Services is online`, ..."""
    network_services: tuple[NetworkService, ...] = msgspec.field(default=(), name="keepers")
    """The active network services of the node."""
    kept: tuple[KeptMtu, ...] | Unknown = Unknown("not read")
    """The boot configuration of every interface that has a file or connection."""
    fragile: tuple[FragileMtu, ...] = ()
    platform: str = ""
    """`Microsoft Azure`, `Amazon EC2`, `Google Cloud`, `Oracle Cloud`, `Oracle Engineered System`, else empty."""
    infiniband_modes: dict[str, str] = msgspec.field(default_factory=dict)
    """`datagram` or `connected`, for each IPoIB interface."""
    lldp: tuple[LldpNeighbour, ...] | Unknown = Unknown("not read")
    lacks_lldpd: bool = False
    """Whether the node has no lldpd that runs, so that there are no LLDP neighbours to read."""
    clients_by: tuple[str, ...] = ()
    """The local addresses of the present ssh logins, from their connections to port 22."""
    unread: tuple[Unknown, ...] = ()
    """The parts of the setup that could not be read."""
    host: HostSetup | Unknown = NOT_READ
    """The setup outside Clusterware; Unknown in files of versions that did not read it."""
    logs: NodeLogs | Unknown | None = None
    """The alert logs of the node; None in files of versions that read none."""

    def kept_mtu(self, interface: str) -> KeptMtu | None:
        """Return the boot configuration of that interface, or None."""
        kept = () if isinstance(self.kept, Unknown) else self.kept
        return next((one for one in kept if one.interface == interface), None)

    @property
    def is_down(self) -> bool | None:
        """Whether no Clusterware daemon and no instance runs on the node; None where it is not known."""
        if isinstance(self.daemons, Unknown) or isinstance(self.instances, Unknown):
            return None
        return not self.daemons and not self.instances
