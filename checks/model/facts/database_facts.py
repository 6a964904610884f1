"""Facts about a database: its instances, and their activity between two samples of the V$ views.

Instances are identified by number (INST_ID). Fields named `statistics` have the values of GV$SYSSTAT by name, in the
units of the database: blocks, messages, bytes, and centiseconds for every name that ends in `time`. Waits and pings are
in microseconds.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from checks.model.facts.base import Fact, MissingRight, Unknown
from checks.model.facts.own_load import QuietLosses
from checks.model.facts.storage_facts import AsmClient, DnfsServer


def release(version: str) -> tuple[int, ...]:
    """Return a version as comparable numbers: (12, 1, 0, 2, 0) for `12.1.0.2.0`, (19,) for `19`."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


class Instance(Fact, frozen=True):
    """A running instance, from GV$INSTANCE."""

    number: int
    name: str
    host: str
    """The node's host name without its domain."""
    version: str
    """The full version: `19.22.0.0.0` (VERSION_FULL, from 18c on), else `12.1.0.2.0`."""
    startup_time: str
    """ISO 8601, in the database host's zone, which the views do not contain."""
    status: str = "OPEN"


class UnaskedInstance(Fact, frozen=True):
    """An instance of the database that could not be queried, with the reason."""

    number: int
    name: str
    reason: str
    right: MissingRight | None = None
    host: str = ""
    """The node's host name without its domain; empty where it is not known."""
    is_late: bool = False
    """Whether a query of all instances did not end in time: one of the instances that it did not return hangs, or has
    no free parallel query process."""


class InterconnectInUse(Fact, frozen=True):
    """An interconnect that an instance uses, from GV$CLUSTER_INTERCONNECTS."""

    instance: int
    name: str
    """The interface, or the alias of a HAIP address: `eth1:1`."""
    ip: str
    is_public: bool | None
    """None where the instance does not report it (HAIP rows)."""
    source: str
    """The source that the instance reports; empty for HAIP."""


class Parameter(Fact, frozen=True):
    """An initialisation parameter of one instance; empty where it has no value."""

    instance: int
    name: str
    value: str


class OpenPluggable(Fact, frozen=True):
    """A pluggable database (PDB) that is open on an instance, from GV$PDBS."""

    instance: str
    """The name of the instance."""
    name: str
    open_mode: str
    """`READ WRITE`, `READ ONLY`, `MIGRATE`."""
    is_restricted: bool = False
    """Whether it is open for users with RESTRICTED SESSION alone."""

    @property
    def mode(self) -> str:
        """The mode with its restriction: `READ WRITE, restricted`."""
        return f"{self.open_mode}, restricted" if self.is_restricted else self.open_mode


class Database(Fact, frozen=True):
    """The connected database, and its instances."""

    name: str
    """DB_UNIQUE_NAME."""
    dbid: int
    version: str
    role: str
    """`PRIMARY`, `PHYSICAL STANDBY`, ..."""
    open_mode: str
    reached: str
    """The connect string, never with a password."""
    user: str
    driver: str
    """`python-oracledb 26.1.0, thin`."""
    connected_instance: int
    block_size_bytes: int | None
    """db_block_size; None where the parameters could not be read."""
    is_multitenant: bool = False
    container: str = ""
    """The container of the connection, such as `CDB$ROOT`; empty where the database has no containers."""
    instances: tuple[Instance, ...] = ()
    unasked: tuple[UnaskedInstance, ...] = ()
    interconnects: tuple[InterconnectInUse, ...] | Unknown = Unknown("not read")
    parameters: tuple[Parameter, ...] | Unknown = Unknown("not read")
    dnfs: tuple[DnfsServer, ...] | Unknown | None = None
    """None in files of versions that did not read it."""
    asm: tuple[AsmClient, ...] | Unknown | None = None
    """Empty where no file is in ASM; None in files of versions that did not read it."""
    login_warning: str = ""
    """The database's warning at the login: `ORA-28002: the password will expire within 3 days.`; mostly empty."""

    @property
    def in_pluggable(self) -> bool:
        """Whether the connection is to a pluggable database, whose views show only a part of the instance."""
        return self.is_multitenant and self.container.upper() != "CDB$ROOT"

    @property
    def why_alone(self) -> str:
        """The reason why only the connected instance could be queried; empty where others were, or there are none."""
        alone = all(i.number == self.connected_instance for i in self.instances)
        return self.unasked[0].reason if alone and self.unasked else ""

    def instance(self, number: int) -> Instance | None:
        """Return the instance with that number, or None where it could not be queried."""
        return next((i for i in self.instances if i.number == number), None)

    def instance_name(self, number: int) -> str:
        """Return the name of an instance, or `instance 3` where it is not known."""
        names = {i.number: i.name for i in self.unasked} | {i.number: i.name for i in self.instances}
        return names.get(number) or f"instance {number}"

    def parameter(self, instance: int, name: str) -> str | None:
        """Return the value of a parameter; None where it could not be read."""
        if isinstance(self.parameters, Unknown):
            return None
        return next((p.value for p in self.parameters if p.instance == instance and p.name == name), None)


class WaitBucket(Fact, frozen=True):
    """A bucket of a wait event's histogram: waits up to its limit, and over the limit of the bucket before."""

    up_to_us: int
    waits: int


class WaitEvent(Fact, frozen=True):
    """Waits of one event between two samples."""

    name: str
    waits: int
    time_us: int
    histogram: tuple[WaitBucket, ...] = ()
    """Empty where no histogram was read."""


class InstanceActivity(Fact, frozen=True):
    """The activity of one instance between two samples."""

    instance: int
    seconds: float
    """From one answer of GV$SYSSTAT to the next, by a monotonic clock: all instances answer together."""
    statistics: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$SYSSTAT, by name; times in centiseconds."""
    messages: dict[str, int] = msgspec.field(default_factory=dict)
    """GV$DLM_MISC, by name; the names contain the units."""
    events: tuple[WaitEvent, ...] = ()
    """GV$SYSTEM_EVENT of the wait class Cluster."""
    cr_flushes: int | None = None
    """GV$CR_BLOCK_SERVER.FLUSHES; None where it could not be read."""
    current_flushes: int | None = None
    """The sum of the flush histogram of GV$CURRENT_BLOCK_SERVER."""


class ActivityGap(Fact, frozen=True):
    """An instance without a known difference, with the reason: a restart, no answer, a missing grant."""

    instance: int
    reason: str
    right: MissingRight | None = None


class BlockTransfer(Fact, frozen=True):
    """Blocks that one instance received from another, from GV$INSTANCE_CACHE_TRANSFER, all classes together."""

    receiver: int
    sender: int
    cr_blocks: int
    current_blocks: int
    lost: int
    """Blocks that the sender sent and the receiver did not receive."""
    cr_time_us: int = 0
    current_time_us: int = 0
    lost_time_us: int = 0


class InstancePing(Fact, frozen=True):
    """Messages of 500 bytes and of 8 KB that one instance's PING process sent and another instance answered."""

    instance: int
    target: int
    count_500b: int
    time_500b_us: int
    """The total time of these pings."""
    count_8k: int
    time_8k_us: int

    @property
    def average_500b_us(self) -> float | None:
        """The average time of a 500-byte ping in microseconds; None where there was none."""
        return self.time_500b_us / self.count_500b if self.count_500b > 0 else None

    @property
    def average_8k_us(self) -> float | None:
        """The average time of an 8 KB ping in microseconds; None where there was none."""
        return self.time_8k_us / self.count_8k if self.count_8k > 0 else None


class ServiceActivity(Fact, frozen=True):
    """The work of one service on one instance between two samples, from GV$SERVICE_STATS."""

    instance: int
    service: str
    db_time_us: int
    cluster_us: int
    """The waits for other instances."""
    blocks: int = 0
    """Blocks that its sessions received from other instances."""


class ClientTraffic(Fact, frozen=True):
    """The traffic of an instance over the interconnect, by client: `cache`, `dlm`, `ipq` (parallel query)."""

    instance: int
    client: str
    bytes_sent: int
    bytes_received: int


class UnreadView(Fact, frozen=True):
    """A view that could not be read in full, with the reason: a missing grant, counters that decreased."""

    view: str
    """`GV$DLM_MISC`."""
    reason: str
    right: MissingRight | None = None


class Activity(Fact, frozen=True):
    """The activity of the instances between two samples."""

    begun_at: str
    ended_at: str
    seconds: float
    instances: tuple[InstanceActivity | ActivityGap, ...]
    transfers: tuple[BlockTransfer, ...] | Unknown = Unknown("not read")
    pings: tuple[InstancePing, ...] | Unknown = Unknown("not read")
    services: tuple[ServiceActivity, ...] | Unknown = Unknown("not read")
    clients: tuple[ClientTraffic, ...] | Unknown = Unknown("not read")
    """From a view that the DBA can create (`racwire grants --ic-clients`); of the connected instance alone."""
    unread: tuple[UnreadView, ...] = ()
    """The views behind missing values: an empty `messages` or `events`, or a missing pair, was not measured."""
    quiet: QuietLosses | Unknown | None = None
    """None where no probe was sent meanwhile, and in files of versions that did not read it."""

    def why_unread(self, view: str) -> str | None:
        """Return the reason why that view could not be read; None where it was read."""
        found = self.unread_view(view)
        return found.reason if found else None

    def unread_view(self, view: str) -> UnreadView | None:
        """Return that view where it could not be read; None where it was read."""
        return next((u for u in self.unread if u.view == view), None)

    def of(self, instance: int) -> InstanceActivity | None:
        """Return the activity of one instance, or None where it is not known."""
        return next((a for a in self.instances if isinstance(a, InstanceActivity) and a.instance == instance), None)


class InstanceHistory(Fact, frozen=True):
    """The totals of one instance over the whole range."""

    instance: int
    name: str
    host: str
    seconds: float
    """The time that its intervals cover, without restarts and gaps.

    Snapshots are in the database host's local time: the length of an interval over a change to or from daylight saving
    time is wrong by an hour.
    """
    intervals: int
    restarts: int
    missing_snapshots: int
    """Snapshots in the range that other instances have and this one does not."""
    statistics: dict[str, int] = msgspec.field(default_factory=dict)
    """Sums of the differences of SYSSTAT, by name; times in centiseconds."""
    messages: dict[str, int] = msgspec.field(default_factory=dict)
    """Sums of the differences of DLM_MISC, by name."""
    events: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    """Waits and wait time in microseconds of the events of the wait class Cluster, by name."""


class HistoryPeriod(Fact, frozen=True):
    """One instance in one period of the range, for the trend. All periods have one length, except those at the ends."""

    instance: int
    begin: str
    end: str
    """ISO 8601 without a zone: the database host's time, as in the snapshots."""
    seconds: float
    """The time of the period that the instance's intervals cover.

    It is in the database host's local time, as `InstanceHistory.seconds`: wrong by an hour over a change to or from
    daylight saving time.
    """
    lost: int
    cr_received: int
    current_received: int
    cr_receive_time_cs: int
    current_receive_time_cs: int

    @property
    def received(self) -> int:
        """The number of blocks received, of both kinds."""
        return self.cr_received + self.current_received


class LossHistory(Fact, frozen=True):
    """The times at which one instance lost blocks; only for instances that lost some."""

    instance: int
    lost: int
    intervals_with_loss: int
    first_begin: str
    """The start of the first interval with a loss."""
    first_end: str
    last_end: str
    """The end of the last interval with a loss."""
    since_begin: str
    """The start of the present run of losses: the first interval with a loss after the last day without any."""
    worst_begin: str
    worst_end: str
    worst_lost: int


class DeviceHistory(Fact, frozen=True):
    """An interconnect NIC that its instance reported to AWR: DBA_HIST_IC_DEVICE_STATS."""

    instance: int
    name: str
    ip: str
    mtu: int
    """The MTU at the last snapshot."""
    last_seen: str
    earlier_mtus: tuple[int, ...] = ()
    """Other values within the range, latest first."""
    receive_errors: int = 0
    """This and the following counters are differences over the range, without restarts of the node."""
    receive_dropped: int = 0
    receive_overruns: int = 0
    receive_frame_errors: int = 0
    send_errors: int = 0
    sends_dropped: int = 0
    send_overruns: int = 0
    send_carrier_lost: int = 0
    packets_received: int = 0
    packets_sent: int = 0


class History(Fact, frozen=True):
    """The content of the snapshots of a range."""

    source: Literal["AWR", "Statspack"]
    dbid: int
    first_snapshot: int
    last_snapshot: int
    begin: str
    end: str
    instances: tuple[InstanceHistory, ...]
    periods: tuple[HistoryPeriod, ...] = ()
    losses: tuple[LossHistory, ...] = ()
    transfers: tuple[BlockTransfer, ...] | Unknown = Unknown("not recorded by this source")
    pings: tuple[InstancePing, ...] | Unknown = Unknown("not recorded by this source")
    devices: tuple[DeviceHistory, ...] | Unknown = Unknown("not recorded by this source")
    clients: tuple[ClientTraffic, ...] | Unknown = Unknown("not recorded by this source")
