"""Facts of a database's past: what AWR or Statspack kept, summed up by the database itself.

Only differences between two snapshots of the same start of an instance count: an interval in which it was restarted,
or before which a snapshot is missing, is measured from what is there (domain rules: AWR views, Deltas).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from checks.model.facts.base import Fact, Unknown
from checks.model.facts.database import BlockTransfer, InstancePing


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
