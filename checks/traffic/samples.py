"""The samples: the counts of one source between two readings. Counts are differences; times are in seconds; there are
no rates.

A source is a node (its kernel), an instance (its V$ views), or this node's own probes. Each source has its own
interval: a sample has the length of its time and, by this node's clock, the end of its time.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

import msgspec

from checks.model.facts import BlockTransfer, Fact, InstancePing, ServiceActivity
from checks.traffic.source_id import PAIRS, SourceId, SourceKind

KERNEL_COUNTERS = {
    "Ip": (
        *("InReceives", "InDiscards", "InDelivers", "OutRequests", "OutDiscards"),
        *("ReasmTimeout", "ReasmReqds", "ReasmOKs", "ReasmFails", "FragOKs", "FragFails", "FragCreates"),
    ),
    "Udp": (
        "InDatagrams",
        "NoPorts",
        "InErrors",
        "OutDatagrams",
        "RcvbufErrors",
        "SndbufErrors",
        "InCsumErrors",
        "MemErrors",
    ),
    "Softnet": ("Dropped", "TimeSqueezed"),
}
"""The kernel counters in a sample, by group: those that blocks and messages between instances change."""


class InterfaceCounts(Fact, frozen=True):
    """The counts of one interface, as in /proc/net/dev."""

    rx_bytes: int = 0
    rx_packets: int = 0
    rx_errors: int = 0
    rx_dropped: int = 0
    """Packets dropped and packets missed for lack of a buffer: the kernel adds both up here."""
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
    """The CPU time by use, in seconds over all CPUs, from /proc/stat."""

    cpus: int
    total_s: float
    idle_s: float
    """Time idle, including the wait for disks."""
    softirq_s: float
    """Time in soft interrupts, which handle received packets."""
    busiest_softirq_percent: float = 0.0
    """The highest share of soft interrupts in the time of a single CPU."""


class NodeSample(Fact, frozen=True):
    """The counts of one node's kernel."""

    kind: ClassVar[str] = "node"

    node: str
    at: float
    """The end of the sample: seconds since 1970 by the clock of the node that racwire runs on."""
    seconds: float
    interfaces: dict[str, InterfaceCounts] = msgspec.field(default_factory=dict)
    """The counts by interface. An interface that appeared, disappeared or was reset meanwhile is in `left_out`."""
    counters: dict[str, int] = msgspec.field(default_factory=dict)
    """The IPv4 counters of the groups Ip and Udp in /proc/net/snmp that `KERNEL_COUNTERS` names, and softnet_stat over
    all CPUs: `Ip.ReasmFails`, `Softnet.Dropped`. A missing one is in `left_out`, or this kernel does not have it."""
    cpu: CpuTime | None = None
    load: float | None = None
    """The load average of one minute: a level, not a difference."""
    left_out: tuple[str, ...] = ()
    """The names that have no count for this time: `eth1`, `Ip.ReasmFails`."""

    @property
    def source(self) -> SourceId:
        """The source of the event."""
        return SourceId.node(self.node)


class InstanceSample(Fact, frozen=True):
    """The counts of one instance."""

    kind: ClassVar[str] = "instance"

    instance: str
    """The name of the instance, `prod1`."""
    number: int
    host: str
    """The node of the instance, as the database names it, without the domain."""
    at: float
    seconds: float
    statistics: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$SYSSTAT by name; times in centiseconds. `checks.rules.cache_fusion` has the formulas."""
    messages: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$DLM_MISC by name; of the connected instance also the bytes of each user of the interconnect, where a DBA has
    created the view for them (`cache_fusion.user_counter`)."""
    left_out: tuple[str, ...] = ()
    """The names that have no count for this time: a statistic; `GV$DLM_MISC`, where it was not read or the instance did
    not answer its query."""

    @property
    def source(self) -> SourceId:
        """The source of the event."""
        return SourceId.instance(self.instance)


class PairsSample(Fact, frozen=True):
    """What is counted at the slower interval: lost blocks by receiver and sender, pings of instances, and the work of
    services."""

    kind: ClassVar[str] = "pairs"

    at: float
    seconds: float
    transfers: tuple[BlockTransfer, ...] = ()
    pings: tuple[InstancePing, ...] = ()
    unread: dict[str, str] = msgspec.field(default_factory=dict)
    """The reason by view, for a view that could not be read although the other could, and for one whose query some
    instances did not answer. The pairs that are missing are then unknown."""
    services: tuple[ServiceActivity, ...] = ()
    """Those that have worked since the start of their instance, with their work of this time."""

    @property
    def source(self) -> SourceId:
        """The source of the event."""
        return PAIRS


class LatencySample(Fact, frozen=True):
    """Pings sent at a fixed rate, whether or not answers came (open loop), on one path from this node."""

    kind: ClassVar[str] = "latency"

    network: str
    to_node: str
    payload: int
    """ICMP payload in bytes: 56, or that of a database block."""
    at: float
    seconds: float
    sent: int
    received: int
    p50_us: float | None = None
    """The round trip from the send call on, whether or not other pings were answered; None without any answer."""
    p99_us: float | None = None
    """None for fewer than 100 answers; recordings of 0.2.0 have that of any number, which nothing shows."""
    max_us: float | None = None

    @property
    def source(self) -> SourceId:
        """The source of the event."""
        return SourceId(SourceKind.LATENCY, self.to_node, self.network, self.payload)


class Link(Fact, frozen=True):
    """The present state of an interface, which its rates are compared with."""

    name: str
    kind: str = ""
    """`ethernet`, `bond`, `vlan`, `veth`, ... as `checks.model.facts.Interface` has it."""
    mtu: int = 0
    is_up: bool = True
    speed_mbps: int | None = None
    master: str = ""
    network: str = ""
    """The private network of the interface; empty for an interface that is not private."""
    carrier_changes: int | None = None
    """How often its link came or went since it was made, as the kernel counts it; None where it does not."""


class Links(Fact, frozen=True):
    """The interfaces of a node from this time on: emitted at the first reading, and again when an interface changed."""

    kind: ClassVar[str] = "links"

    node: str
    at: float
    links: tuple[Link, ...]

    @property
    def source(self) -> SourceId:
        """The source of the event."""
        return SourceId.node(self.node)


class GapCause(StrEnum):
    """What is known of the cause of a gap, beyond its source (`Gap.caused_by`)."""

    NOT_KNOWN = ""
    INSTANCE_DOWN = "instance_down"
    """V$ACTIVE_INSTANCES does not list the instance."""
    RESTARTED = "restarted"
    """The node has another boot id, or the instance another STARTUP_TIME, than at the last sample."""
    ALIAS = "alias"
    """The node is sampled under another name, that of `Gap.caused_by`."""


class Gap(Fact, frozen=True):
    """A time without samples of a source, with the reason. It lasts until the next sample of that source."""

    kind: ClassVar[str] = "gap"

    source: SourceId
    at: float
    reason: str
    """One sentence: what happened and, where possible, what to do."""
    caused_by: SourceId | None = None
    """The source that is the cause, while this one may be well: an instance; `DATABASE` where it is the query of all
    instances, and which instance delays it is not known; `BY_RACWIRE` where racwire itself took no sample. None where
    it is this source."""
    cause: GapCause = GapCause.NOT_KNOWN
    up_s: float | None = None
    """Of a node that was restarted: the seconds since its boot, by its own clock."""


Event = NodeSample | InstanceSample | PairsSample | LatencySample | Links | Gap


class InstancesPace(Fact, frozen=True):
    """The pace of the instances' samples from this time on, and its reason. It is no event of a source: a recording has
    only the newest one, in its header."""

    kind: ClassVar[str] = "pace"

    at: float
    interval_s: float
    pairs_interval_s: float
    cause: str = ""
    """A word of `checks.rules.sampling_pace.PaceCause`; empty where instances are sampled as often as nodes."""
    reason: str = ""
    """The reason of the interval, as `16 instances` or `GV$ took 2.1 s`; empty where nothing slows it down."""
    returns_to_s: float | None = None
    """The interval to which the pace slowly returns, where its cause is over."""

    @property
    def text(self) -> str:
        """The interval and its reason: `every 4 s: 16 instances`."""
        returning = f", returning to {self.returns_to_s:g} s" if self.returns_to_s is not None else ""
        reason = f": {self.reason}" if self.reason else ""
        return f"every {self.interval_s:g} s{returning}{reason}"


FeedEvent = Event | InstancesPace
"""The events of a feed."""


Sample = NodeSample | InstanceSample | PairsSample | LatencySample
"""The events that cover a time. Gaps and links do not."""


def overlap_s(sample: Sample, begin: float, end: float) -> float:
    """Return the seconds between two moments that a sample covers. A sample starts `seconds` before its end."""
    return max(min(sample.at, end) - max(sample.at - sample.seconds, begin), 0.0)
