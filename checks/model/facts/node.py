"""Facts of one node: interfaces, addresses, routes, neighbours, counters, kernel settings."""

from __future__ import annotations

import ipaddress

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
