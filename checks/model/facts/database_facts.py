"""Facts of a database: its instances, and what they did between two samples of their V$ views.

Instances are known by their number (INST_ID). Values named `statistics` are those of GV$SYSSTAT by name, as the
database counts them: blocks, messages, bytes, and for every name that ends in `time` centiseconds. Waits and pings
are in microseconds.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from checks.model.facts.base import Fact, Unknown


def release(version: str) -> tuple[int, ...]:
    """A version as numbers, which compare: (12, 1, 0, 2, 0) of `12.1.0.2.0`, (19,) of `19`."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


class Instance(Fact, frozen=True):
    """A running instance, from GV$INSTANCE."""

    number: int
    name: str
    host: str
    """The node's host name without its domain."""
    version: str
    """All that is known of it: `19.22.0.0.0` (VERSION_FULL, from 18c on), else `12.1.0.2.0`."""
    startup_time: str
    """ISO 8601, in the database host's zone, which the views do not name."""
    status: str = "OPEN"


class UnaskedInstance(Fact, frozen=True):
    """An instance that is known to belong to the database and could not be asked, and why."""

    number: int
    name: str
    reason: str


class InterconnectInUse(Fact, frozen=True):
    """An interconnect as an instance uses it, from GV$CLUSTER_INTERCONNECTS."""

    instance: int
    name: str
    """The interface, or the alias of a HAIP address: `eth1:1`."""
    ip: str
    is_public: bool | None
    """None where the instance does not say (HAIP rows)."""
    source: str
    """Where the instance has it from, as it says; empty for HAIP."""


class Parameter(Fact, frozen=True):
    """An initialisation parameter of one instance; empty where it has no value."""

    instance: int
    name: str
    value: str


class Database(Fact, frozen=True):
    """The database that was connected to, and its instances."""

    name: str
    """DB_UNIQUE_NAME."""
    dbid: int
    version: str
    role: str
    """`PRIMARY`, `PHYSICAL STANDBY`, ..."""
    open_mode: str
    reached: str
    """The connect string, never with a password in it."""
    user: str
    driver: str
    """`python-oracledb 26.1.0, thin`."""
    connected_instance: int
    block_size_bytes: int | None
    """db_block_size; None where the parameters could not be read."""
    is_multitenant: bool = False
    container: str = ""
    """The container connected to, such as `CDB$ROOT`; empty where the database has none."""
    instances: tuple[Instance, ...] = ()
    unasked: tuple[UnaskedInstance, ...] = ()
    interconnects: tuple[InterconnectInUse, ...] | Unknown = Unknown("not read")
    parameters: tuple[Parameter, ...] | Unknown = Unknown("not read")

    @property
    def in_pluggable(self) -> bool:
        """Whether the connection is to a pluggable database, which sees less than the whole instance."""
        return self.is_multitenant and self.container.upper() != "CDB$ROOT"

    @property
    def why_alone(self) -> str:
        """Why only the connected instance could be asked; empty where others were, or where there are none."""
        alone = all(i.number == self.connected_instance for i in self.instances)
        return self.unasked[0].reason if alone and self.unasked else ""

    def instance(self, number: int) -> Instance | None:
        """The instance of that number, where it could be asked."""
        return next((i for i in self.instances if i.number == number), None)

    def instance_name(self, number: int) -> str:
        """Its name, or `instance 3` where it is not known."""
        names = {i.number: i.name for i in self.unasked} | {i.number: i.name for i in self.instances}
        return names.get(number) or f"instance {number}"

    def parameter(self, instance: int, name: str) -> str | None:
        """A parameter's value; None where it could not be read."""
        if isinstance(self.parameters, Unknown):
            return None
        return next((p.value for p in self.parameters if p.instance == instance and p.name == name), None)


class WaitBucket(Fact, frozen=True):
    """A step of a wait event's histogram: waits that took up to so long, and longer than the step before."""

    up_to_us: int
    waits: int


class WaitEvent(Fact, frozen=True):
    """Waits of one event between two samples."""

    name: str
    waits: int
    time_us: int
    histogram: tuple[WaitBucket, ...] = ()
    """Empty where the database does not keep one that was read."""


class InstanceActivity(Fact, frozen=True):
    """What one instance did between two samples."""

    instance: int
    seconds: float
    """From one answer of GV$SYSSTAT to the other, by a clock that nobody sets: all instances answer together."""
    statistics: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$SYSSTAT, by name; times in centiseconds."""
    messages: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$DLM_MISC, by name; units stand in the names."""
    events: tuple[WaitEvent, ...] = ()
    """GV$SYSTEM_EVENT of the wait class Cluster."""
    cr_flushes: int | None = None
    """GV$CR_BLOCK_SERVER.FLUSHES; None where it could not be read."""
    current_flushes: int | None = None
    """The sum of the flush histogram of GV$CURRENT_BLOCK_SERVER."""


class ActivityGap(Fact, frozen=True):
    """An instance of which no difference can be told, and why: restarted meanwhile, not answering, missing grant."""

    instance: int
    reason: str


class BlockTransfer(Fact, frozen=True):
    """Blocks that one instance had from another, from GV$INSTANCE_CACHE_TRANSFER, all classes together."""

    receiver: int
    sender: int
    cr_blocks: int
    current_blocks: int
    lost: int
    """Blocks that the sender sent and the receiver never had."""
    cr_time_us: int = 0
    current_time_us: int = 0
    lost_time_us: int = 0


class InstancePing(Fact, frozen=True):
    """Messages of 500 bytes and of 8 KB that one instance's PING process sent to another and had back."""

    instance: int
    target: int
    count_500b: int
    time_500b_us: int
    """All of them together."""
    count_8k: int
    time_8k_us: int

    @property
    def average_500b_us(self) -> float | None:
        """Microseconds a 500-byte ping took on average; None where there was none."""
        return self.time_500b_us / self.count_500b if self.count_500b > 0 else None

    @property
    def average_8k_us(self) -> float | None:
        """Microseconds an 8 KB ping took on average; None where there was none."""
        return self.time_8k_us / self.count_8k if self.count_8k > 0 else None


class UnreadView(Fact, frozen=True):
    """A view that could not be read, or not wholly, and why: missing grant, counts that fell."""

    view: str
    """`GV$DLM_MISC`."""
    reason: str


class Activity(Fact, frozen=True):
    """What the instances did between two samples."""

    begun_at: str
    ended_at: str
    seconds: float
    instances: tuple[InstanceActivity | ActivityGap, ...]
    transfers: tuple[BlockTransfer, ...] | Unknown = Unknown("not read")
    pings: tuple[InstancePing, ...] | Unknown = Unknown("not read")
    unread: tuple[UnreadView, ...] = ()
    """What is missing above: an empty `messages` or `events`, or a pair that is not there, is nothing measured."""

    def why_unread(self, view: str) -> str | None:
        """Why that view could not be read; None where it was."""
        return next((u.reason for u in self.unread if u.view == view), None)

    def of(self, instance: int) -> InstanceActivity | None:
        """The activity of one instance, where it could be told."""
        return next((a for a in self.instances if isinstance(a, InstanceActivity) and a.instance == instance), None)


class InstanceHistory(Fact, frozen=True):
    """One instance over the whole range."""

    instance: int
    name: str
    host: str
    seconds: float
    """The time that its intervals cover, restarts and gaps left out.

    Snapshots are in the database host's local time: an interval over a change to or from daylight saving time is told
    an hour off.
    """
    intervals: int
    restarts: int
    missing_snapshots: int
    """Snapshots that other instances have in the range and this one has not."""
    statistics: dict[str, int] = msgspec.field(default_factory=dict)
    """Sums of the differences of SYSSTAT, by name; times in centiseconds."""
    messages: dict[str, int] = msgspec.field(default_factory=dict)
    """Sums of the differences of DLM_MISC, by name."""
    events: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    """Waits and microseconds waited of the events of the wait class Cluster, by name."""


class HistoryPeriod(Fact, frozen=True):
    """One instance over one part of the range: the trend. All parts are of one length but for those cut by the ends."""

    instance: int
    begin: str
    end: str
    """ISO 8601 without a zone: the database host's time, as the snapshots have it."""
    seconds: float
    """Of the part, the time that the instance's intervals cover.

    By the database host's local time, as `InstanceHistory.seconds`: an hour off over a change to or from daylight
    saving time.
    """
    lost: int
    cr_received: int
    current_received: int
    cr_receive_time_cs: int
    current_receive_time_cs: int

    @property
    def received(self) -> int:
        """Blocks received, of both kinds."""
        return self.cr_received + self.current_received


class LossHistory(Fact, frozen=True):
    """When one instance lost blocks; only for instances that did."""

    instance: int
    lost: int
    intervals_with_loss: int
    first_begin: str
    """Where the first interval with a loss began."""
    first_end: str
    last_end: str
    """Where the last interval with a loss ended."""
    since_begin: str
    """Where the present run of losses began: the first interval with a loss after the last day without any."""
    worst_begin: str
    worst_end: str
    worst_lost: int


class DeviceHistory(Fact, frozen=True):
    """An interconnect NIC as its instance reported it to AWR: DBA_HIST_IC_DEVICE_STATS."""

    instance: int
    name: str
    ip: str
    mtu: int
    """At the last snapshot."""
    last_seen: str
    earlier_mtus: tuple[int, ...] = ()
    """Other values within the range, latest first."""
    receive_errors: int = 0
    """This and the rest: differences over the range, restarts of the node left out."""
    receive_dropped: int = 0
    receive_overruns: int = 0
    receive_frame_errors: int = 0
    send_errors: int = 0
    sends_dropped: int = 0
    send_overruns: int = 0
    send_carrier_lost: int = 0
    packets_received: int = 0
    packets_sent: int = 0


class ClientTraffic(Fact, frozen=True):
    """What an instance sent over the interconnect, by user: `cache`, `dlm`, `ipq` (parallel query)."""

    instance: int
    client: str
    bytes_sent: int
    bytes_received: int


class History(Fact, frozen=True):
    """What the snapshots of a range say."""

    source: Literal["AWR", "Statspack"]
    dbid: int
    first_snapshot: int
    last_snapshot: int
    begin: str
    end: str
    instances: tuple[InstanceHistory, ...]
    periods: tuple[HistoryPeriod, ...] = ()
    losses: tuple[LossHistory, ...] = ()
    transfers: tuple[BlockTransfer, ...] | Unknown = Unknown("not kept by this source")
    pings: tuple[InstancePing, ...] | Unknown = Unknown("not kept by this source")
    devices: tuple[DeviceHistory, ...] | Unknown = Unknown("not kept by this source")
    clients: tuple[ClientTraffic, ...] | Unknown = Unknown("not kept by this source")
