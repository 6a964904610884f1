"""Facts about the setup of a node outside Clusterware: memory, bonds, NIC drivers, processes, filters, other users."""

from __future__ import annotations

import msgspec

from checks.model.facts.base import Fact, Unknown

MULTICAST_GROUPS = {"224.0.0.251": "mdnsd.bin", "230.0.1.0": "gipcd.bin", "ff02::fb": "mdnsd.bin"}
"""The multicast groups that Clusterware uses, each with the daemon that joins it: multicast DNS, and the search for
other nodes (MOS 1212703.1)."""

NOT_READ = Unknown("not read")
"""The value in files of versions that did not read it."""


class NodeMemory(Fact, frozen=True):
    """The memory and the CPUs of a node, and the reserve that its kernel keeps for allocations that cannot wait."""

    total_kb: int
    min_free_kb: int
    """vm.min_free_kbytes."""
    numa_nodes: int = 1
    cpus: int | None = None
    """The CPUs that are online."""
    available_kb: int | None = None
    """MemAvailable: what programs can take without swapping, as the kernel estimates it (from 3.14 on)."""
    huge_kb: int | None = None
    """The memory in huge pages of the usual size, which nothing else can use."""


class BondMember(Fact, frozen=True):
    """A NIC in a bond, as the bonding driver reports it."""

    name: str
    mii_status: str
    """The driver's term: `up`, `down`, `going down`, `going back`."""
    speed_mbps: int | None = None
    duplex: str = ""
    link_failures: int | None = None
    """Since the bond was made; not a fault by itself."""
    aggregator_id: int | None = None
    """Only with 802.3ad."""
    is_in_no_aggregator: bool = False
    """Whether the driver reports `Aggregator ID: N/A`: LACP has given the member no aggregation."""
    actor_churn: str = ""
    """`churned` where LACP has not brought the node's end in sync for 60 s (IEEE 802.1AX), `none` where it is in sync;
    the driver's term, only with 802.3ad."""
    partner_churn: str = ""
    """The same of the switch's end."""
    partner_mac: str = ""
    """The MAC address of the switch's end of the link; only with 802.3ad, and empty for users without CAP_NET_ADMIN."""
    port_state: int | None = None
    """The bits of the node's end of LACP (IEEE 802.1AX, 6.4.2.3); None for users without CAP_NET_ADMIN."""

    @property
    def is_down(self) -> bool:
        """Whether the driver does not use the member: its link is down, or ARP monitoring got no answer there."""
        return bool(self.mii_status) and self.mii_status != "up"

    @property
    def is_churned(self) -> bool:
        """Whether LACP does not settle with the switch on the member."""
        return "churned" in (self.actor_churn, self.partner_churn)

    @property
    def is_idle(self) -> bool:
        """Whether LACP lets the member neither receive nor send; false where it is not known."""
        return self.port_state is not None and not self.port_state & _COLLECTING_OR_DISTRIBUTING


_COLLECTING_OR_DISTRIBUTING = 0x30


class Bond(Fact, frozen=True):
    """A bond, from /proc/net/bonding."""

    name: str
    mode: str
    """The driver's words: `fault-tolerance (active-backup)`, `load balancing (round-robin)`, `IEEE 802.3ad Dynamic
    link aggregation`."""
    mii_status: str = ""
    active_member: str = ""
    """The member in use; only for modes with one."""
    polling_ms: int | None = None
    """The MII polling interval; 0 where the driver does not watch the links of the members."""
    arp_polling_ms: int | None = None
    """The interval of ARP monitoring, where it is in use."""
    arp_targets: tuple[str, ...] = ()
    """The addresses whose answers show that a member works: those of ARP, then those of IPv6 neighbour discovery."""
    arp_validate: str = ""
    """Whose ARP packets alone count as a sign of life: `none`, `active`, `backup`, `all`; with `filter`, other packets
    do not count. From sysfs; empty where it was not read."""
    has_active_aggregator: bool | None = None
    """Whether 802.3ad has an aggregation in use; None where the driver does not report it, as to users without
    CAP_NET_ADMIN in newer kernels."""
    aggregator_id: int | None = None
    """The aggregation in use; None where the driver does not report it."""
    min_links: int | None = None
    """The members that an aggregation needs to carry packets; only with 802.3ad."""
    partner_mac: str = ""
    """The MAC address of the switch's end of the aggregation; only with 802.3ad."""
    hash_policy: str = ""
    """The driver's term: `layer2`, `layer2+3`, `layer3+4`; empty in modes without one."""
    members: tuple[BondMember, ...] = ()

    @property
    def is_watched(self) -> bool:
        """Whether the driver watches the links of the members; true where it is not known."""
        return self.polling_ms != 0 or bool(self.arp_polling_ms)

    @property
    def is_watched_by_arp(self) -> bool:
        """Whether answers of its ARP targets decide which members are up, and not their links."""
        return bool(self.arp_polling_ms) and not self.polling_ms

    @property
    def is_lacp(self) -> bool:
        """Whether the bond negotiates its aggregation with the switch."""
        return "802.3ad" in self.mode

    @property
    def has_one_active(self) -> bool:
        """Whether the bond uses a single member at a time."""
        return "active-backup" in self.mode

    @property
    def spreads(self) -> bool:
        """Whether the bond chooses a member for each packet by its hash policy (802.3ad, balance-xor)."""
        return self.is_lacp or "xor" in self.mode

    @property
    def is_round_robin(self) -> bool:
        """Whether the bond spreads the packets of one flow over its members."""
        return "round-robin" in self.mode


class NicDriver(Fact, frozen=True):
    """The driver of a NIC, its receive ring, flow control and hash of UDP: `ethtool -i`, `-g`, `-a` and `-n`."""

    interface: str
    driver: str = ""
    version: str = ""
    firmware: str = ""
    rx_ring: int | None = None
    """The entries of the receive ring; None where the driver reports none."""
    rx_ring_most: int | None = None
    rx_jumbo_ring: int | None = None
    """The entries of the second receive ring of vmxnet3, for large packets."""
    rx_jumbo_ring_most: int | None = None
    pause_negotiated: bool | None = None
    pause_rx: bool | None = None
    pause_tx: bool | None = None
    """Whether the NIC sends pause frames; None where the driver does not report it."""
    udp_hash: str | Unknown | None = NOT_READ
    """The fields of UDP over IPv4 that choose the queue of a packet, in the letters of `ethtool -N`: `sd` for the
    addresses, `sdfn` with both ports; None where the NIC offers no such hash, as virtual ones."""


REAL_TIME = (1, 2)
"""The policies SCHED_FIFO and SCHED_RR, by their numbers in the kernel (sched(7))."""


class ScheduledProcess(Fact, frozen=True):
    """The scheduling of a background process of an instance, from fields 40 and 41 of /proc/PID/stat, and of
    /proc/PID/task/TID/stat for its threads."""

    name: str
    """`LMS0`, `LGWR`, `VKTM`, ... by its arguments."""
    instance: str
    """`prod1`, `+ASM1`."""
    policy: int
    """Of its first thread: 0 for time sharing, 1 for SCHED_FIFO, 2 for SCHED_RR (sched(7))."""
    priority: int
    """The real-time priority of its first thread; 0 without one."""
    threads: int = 1
    real_time_threads: int | None = None
    """The threads in a real-time class, the first included; None in files of versions that read the first alone."""

    @property
    def is_first_real_time(self) -> bool:
        """Whether the first thread, which is the whole process up to 12.2, runs in a real-time class."""
        return self.policy in REAL_TIME

    @property
    def is_real_time(self) -> bool:
        """Whether a thread of the process runs in a real-time class."""
        return self.is_first_real_time or bool(self.real_time_threads)


class RightsOfOradism(Fact, frozen=True):
    """Owner and mode of oradism, which gives processes their priority, in one home."""

    path: str
    owner: str
    mode: str
    """Octal: `4750`."""

    @property
    def can_raise(self) -> bool:
        """Whether the program runs as root."""
        return self.owner == "root" and self.mode.isdigit() and len(self.mode) == 4 and bool(int(self.mode[0]) & 4)


class FirewalldZone(Fact, frozen=True):
    """The zone of firewalld for an interface."""

    interface: str
    zone: str


class PacketFilters(Fact, frozen=True):
    """The services of a node that can filter packets. racwire reads no rules: listing them can load modules."""

    active: tuple[str, ...]
    """The active units: `firewalld`, `nftables`, `iptables`, `ufw`."""
    zones: tuple[FirewalldZone, ...] | Unknown = NOT_READ
    """The interfaces that have a zone of their own; empty where firewalld is not active."""
    default_zone: str = ""
    """The zone of all other interfaces; empty where firewalld does not show it."""

    @property
    def active_without_zones(self) -> tuple[str, ...]:
        """The active units whose rules racwire does not know."""
        return tuple(unit for unit in self.active if unit != "firewalld")


class PrivateUse(Fact, frozen=True):
    """Connections of one service between a local and a remote address, or a mounted file system."""

    service: str
    """`NFS`, `iSCSI`, `rsync` ..."""
    local_ip: str
    """Empty for a mount that does not show it."""
    remote_ip: str
    connections: int = 1
    mount: str = ""
    """The directory, for a file system."""


class JoinedGroup(Fact, frozen=True):
    """A multicast group that a program of the node has joined on an interface, from /proc/net/igmp and igmp6."""

    interface: str
    group: str
    """Its address: `224.0.0.251`, `ff02::fb`."""


class HostSetup(Fact, frozen=True):
    """The setup of one node outside Clusterware."""

    memory: NodeMemory | Unknown = NOT_READ
    bonds: tuple[Bond, ...] | Unknown = NOT_READ
    """Empty where the node has no bond."""
    drivers: tuple[NicDriver, ...] | Unknown = NOT_READ
    """Those of the private NICs and the members of their bonds."""
    drivers_in_use: dict[str, str] = msgspec.field(default_factory=dict)
    """The driver of each NIC that has a device, from /sys, by interface: `vmxnet3`, `ixgbe`."""
    slots: dict[str, str] = msgspec.field(default_factory=dict)
    """The PCI address of each NIC that has one, from /sys, by interface: `0000:3b:00.1`."""
    processes: tuple[ScheduledProcess, ...] | Unknown = NOT_READ
    """LMS, LMD, LGWR and VKTM of all instances on the node; empty where none runs."""
    oradism: tuple[RightsOfOradism, ...] = ()
    filters: PacketFilters | Unknown = NOT_READ
    others: tuple[PrivateUse, ...] | Unknown = NOT_READ
    """The users of any address of the node: storage, backup, copies."""
    is_virtual: bool | None = None
    """Whether the CPU reports a hypervisor; None where it is not known."""
    product: str = ""
    """Manufacturer and product of the machine, from DMI: `VMware, Inc. VMware Virtual Platform`."""
    is_avahi_active: bool | None = None
    groups_joined: tuple[JoinedGroup, ...] | Unknown = NOT_READ
    """Of the multicast groups that Clusterware uses (`MULTICAST_GROUPS`), those that each interface has joined."""
