"""What one source counted between two readings. Counts are differences; times are in seconds; nothing is a rate.

A source is a node (its kernel), an instance (its V$ views), or this node's own probes. Each is read at its own pace: a
sample says how long a time it covers and when that ended, by this node's clock.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from checks.model.facts import BlockTransfer, Fact, InstancePing

KERNEL_COUNTERS = {
    "Ip": (
        *("InReceives", "InDiscards", "InDelivers", "OutRequests", "OutDiscards"),
        *("ReasmTimeout", "ReasmReqds", "ReasmOKs", "ReasmFails", "FragOKs", "FragFails", "FragCreates"),
    ),
    "Udp": ("InDatagrams", "NoPorts", "InErrors", "OutDatagrams", "RcvbufErrors", "SndbufErrors", "InCsumErrors"),
    "Softnet": ("Dropped", "TimeSqueezed"),
}
"""What is sampled of a node's counters, by group: what blocks and messages between instances show up in."""


class InterfaceCounts(Fact, frozen=True):
    """What one interface counted, as /proc/net/dev has it."""

    rx_bytes: int = 0
    rx_packets: int = 0
    rx_errors: int = 0
    rx_dropped: int = 0
    """Dropped, and missed for want of a buffer: the kernel adds both up here."""
    rx_fifo: int = 0
    rx_frame: int = 0
    rx_multicast: int = 0
    tx_bytes: int = 0
    tx_packets: int = 0
    tx_errors: int = 0
    tx_dropped: int = 0
    tx_fifo: int = 0
    tx_collisions: int = 0
    tx_carrier: int = 0


class CpuTime(Fact, frozen=True):
    """Where the processors' time went, in seconds over all of them, from /proc/stat."""

    cpus: int
    total_s: float
    idle_s: float
    """Idle, and waiting for a disk."""
    softirq_s: float
    """In soft interrupts, where received packets are handled."""
    busiest_softirq_percent: float = 0.0
    """The share of soft interrupts in the time of the one processor that spent most in them."""


class NodeSample(Fact, frozen=True):
    """What one node's kernel counted."""

    kind: ClassVar[str] = "node"

    node: str
    at: float
    """When it ended: seconds since 1970 by the clock of the node that racwire runs on."""
    seconds: float
    interfaces: dict[str, InterfaceCounts] = msgspec.field(default_factory=dict)
    """By name; one that came, went or began anew meanwhile is not here but in `left_out`."""
    counters: dict[str, int] = msgspec.field(default_factory=dict)
    """Of /proc/net/snmp what the groups Ip and Udp count of IPv4 (those that `KERNEL_COUNTERS` names), and
    softnet_stat over all CPUs: `Ip.ReasmFails`, `Softnet.Dropped`. One that is not here this kernel does not have, or
    it is in `left_out`."""
    cpu: CpuTime | None = None
    load: float | None = None
    """The load average of one minute; a level, not a difference."""
    left_out: tuple[str, ...] = ()
    """What nothing can be told of this time: `eth1`, `Ip.ReasmFails`."""

    @property
    def source(self) -> str:
        """Which source it is of."""
        return f"node {self.node}"


class InstanceSample(Fact, frozen=True):
    """What one instance counted."""

    kind: ClassVar[str] = "instance"

    instance: str
    """Its name, `prod1`."""
    number: int
    host: str
    """The node it runs on, as the database names it, without the domain."""
    at: float
    seconds: float
    statistics: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$SYSSTAT by name; times in centiseconds. `checks.rules.cache_fusion` has the formulas."""
    messages: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$DLM_MISC by name."""
    left_out: tuple[str, ...] = ()
    """What nothing can be told of this time, though the rest can: a statistic's name; `GV$DLM_MISC`, where it may not
    be read."""

    @property
    def source(self) -> str:
        """Which source it is of."""
        return f"instance {self.instance}"


class PairsSample(Fact, frozen=True):
    """What the instances counted of each other: who lost whose blocks, and their pings."""

    kind: ClassVar[str] = "pairs"

    at: float
    seconds: float
    transfers: tuple[BlockTransfer, ...] = ()
    pings: tuple[InstancePing, ...] = ()
    unread: dict[str, str] = msgspec.field(default_factory=dict)
    """Which view could not be read, though the other could, and why: of an empty `pings` then nothing is known."""

    @property
    def source(self) -> str:
        """Which source it is of."""
        return "pairs"


class LatencySample(Fact, frozen=True):
    """Pings sent at a fixed rate, whether or not answers came (open loop), on one path from this node."""

    kind: ClassVar[str] = "latency"

    network: str
    to_node: str
    payload: int
    """ICMP payload in bytes: 56, and one of a database block."""
    at: float
    seconds: float
    sent: int
    received: int
    p50_us: float | None = None
    """From the moment a ping was handed to the kernel, whether or not others were answered; None where none came."""
    p99_us: float | None = None
    max_us: float | None = None

    @property
    def source(self) -> str:
        """Which source it is of."""
        return f"latency {self.network} {self.to_node} {self.payload}"


class Link(Fact, frozen=True):
    """An interface as it is now: what its rates are measured against."""

    name: str
    kind: str = ""
    """`ethernet`, `bond`, `vlan`, `veth`, ... as `checks.model.facts.Interface` has it."""
    mtu: int = 0
    is_up: bool = True
    speed_mbps: int | None = None
    master: str = ""
    network: str = ""
    """The private network that it is a port of; empty for all others."""


class Links(Fact, frozen=True):
    """The interfaces of a node from now on; told when it is first read, and again when one of them changed."""

    kind: ClassVar[str] = "links"

    node: str
    at: float
    links: tuple[Link, ...]

    @property
    def source(self) -> str:
        """Which source it is of."""
        return f"node {self.node}"


class Gap(Fact, frozen=True):
    """A time of which nothing can be told of a source, and why. It lasts until the next sample of that source."""

    kind: ClassVar[str] = "gap"

    source: str
    """`node rac2`, `instance prod1`, `database` (all instances), `pairs`."""
    at: float
    reason: str
    """One sentence: what happened, and what to do where something can be done."""


Event = NodeSample | InstanceSample | PairsSample | LatencySample | Links | Gap


Sample = NodeSample | InstanceSample | PairsSample | LatencySample
"""What covers time. A gap covers none, and links are of a moment."""


def overlap_s(sample: Sample, begin: float, end: float) -> float:
    """How many seconds between these two moments the sample covers: it began its `seconds` before it ended."""
    return max(min(sample.at, end) - max(sample.at - sample.seconds, begin), 0.0)
