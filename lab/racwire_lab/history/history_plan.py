"""Events of a generated history, and the traffic of each interval that follows from them, in whole numbers.

A history is a series of snapshots 0, 1, 2, ... Interval k ends with snapshot k; interval 0 is all time before the first
snapshot. Traffic is counted in units (`units_moved`); all other values are multiples of units (`recipes.py`). The same
formulas are in SQL in `counts.py`, which makes a year of eight instances in seconds, and in Python here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

SHAPE = (20, 15, 12, 10, 10, 14, 30, 55, 85, 100, 110, 108, 92, 98, 112, 110, 100, 84, 70, 60, 52, 44, 35, 26)
"""Load of each hour of the day, in percent."""

UNITS_BEFORE = 1000
"""The traffic of interval 0 in intervals: totals since startup are large, whatever the differences are."""

LOST_BEFORE = 41
"""Blocks that each instance lost from each other one before the first snapshot: a total that is no current loss."""

PRIME = 2147483647
NOISE_STEPS = (7919, 104729, 15485863, 48271)


@dataclass(frozen=True)
class Restart:
    """A stop of an instance after a snapshot; it is up again in the interval before snapshot `snapshot`."""

    instance: int
    snapshot: int
    down: int = 0
    """The number of snapshots before it at which the instance is down."""
    reboots_node: bool = False
    """Whether the counters of the node's NICs start at zero too."""


@dataclass(frozen=True)
class PlannedLoss:
    """Blocks that a receiver loses from a sender, in the intervals `first` to `last` or to the end."""

    receiver: int
    sender: int
    first: int
    last: int | None = None
    each: int = 20
    """Blocks lost in each interval; up to `spread` more."""
    spread: int = 5

    def covers(self, k: int) -> bool:
        """Whether the loss occurs in interval k."""
        return self.first <= k and (self.last is None or k <= self.last)


@dataclass(frozen=True)
class Drops:
    """Packets that an instance's first NIC drops while receiving, in every interval from `first` on."""

    instance: int
    first: int
    each: int = 100


@dataclass(frozen=True)
class MtuChange:
    """A change of the MTU of an instance's NICs from snapshot `snapshot` on."""

    instance: int
    snapshot: int
    mtu: int


@dataclass(frozen=True)
class HistoryDevice:
    """An interface of the interconnect on every node."""

    name: str
    first: str
    """The address of instance 1."""
    step: int = 1
    """The distance to the address of the next instance."""
    netmask: str = "255.255.255.0"


@dataclass(frozen=True)
class HistoryPlan:
    """A whole history. The time between snapshots k - 1 and k is `intervals_s[k]` seconds."""

    seed: int
    first_end: datetime
    """Time of snapshot 0, without a zone: the database host's local time."""
    intervals_s: tuple[int, ...]
    """Seconds before the snapshots 1, 2, ...; interval 0 uses the first of them."""
    instances: tuple[tuple[int, str, str], ...] = ((1, "prod1", "rac1"), (2, "prod2", "rac2"))
    """Number, name and host of each instance."""
    dbid: int = 2718281828
    db_name: str = "PROD"
    first_snap_id: int = 1001
    rate_per_hour: int = 2000
    """Units an hour from each instance to each other one at a load of 100 %; a unit is 500 blocks."""
    spread: int = 60
    """Noise: each interval has up to so many units more."""
    jitter_ms: int = 1900
    """Instances take the same snapshot up to so many milliseconds later than planned."""
    restarts: tuple[Restart, ...] = ()
    missing: tuple[tuple[int, int], ...] = ()
    """Instance and snapshot: the instance was up, but the snapshot was not taken."""
    falls: tuple[tuple[int, int], ...] = ()
    """Instance and snapshot: the counters restarted at zero in the interval before, without an instance restart."""
    losses: tuple[PlannedLoss, ...] = ()
    drops: tuple[Drops, ...] = ()
    mtu: int = 9000
    mtu_changes: tuple[MtuChange, ...] = ()
    devices: tuple[HistoryDevice, ...] = (HistoryDevice("eth1", "192.168.10.1"), HistoryDevice("eth2", "192.168.11.1"))
    foreign_dbids: tuple[int, ...] = ()
    """DBIDs of imported snapshots of other databases: same snapshot and instance numbers, other values."""

    @property
    def snapshots(self) -> int:
        """The number of snapshots."""
        return len(self.intervals_s) + 1

    @property
    def numbers(self) -> tuple[int, ...]:
        """The instances' numbers."""
        return tuple(number for number, _, _ in self.instances)

    def planned_ends(self) -> list[datetime]:
        """Return the planned time of each snapshot."""
        ends = [self.first_end]
        for seconds in self.intervals_s:
            ends.append(ends[-1] + timedelta(seconds=seconds))
        return ends

    def seconds(self, k: int) -> int:
        """Return the planned length of interval k, in seconds."""
        return self.intervals_s[max(k, 1) - 1]

    def noise(self, stream: int, k: int) -> int:
        """Return a pseudo-random number from 0 to PRIME - 1 that depends on the seed only."""
        by_k, by_stream, by_seed, last = NOISE_STEPS
        return (k * by_k + stream * by_stream + self.seed * by_seed) % PRIME * last % PRIME

    def end_time(self, instance: int, k: int, planned: datetime) -> datetime:
        """Return the time at which the instance took snapshot k."""
        return planned + timedelta(milliseconds=self.noise(instance, k) % (self.jitter_ms + 1))

    def is_up(self, instance: int, k: int) -> bool:
        """Whether the instance is up at the end of interval k."""
        return (instance, k) not in self._down

    @cached_property
    def _down(self) -> frozenset[tuple[int, int]]:
        """Instances and intervals at whose end the instance is down."""
        return frozenset((r.instance, k) for r in self.restarts for k in range(r.snapshot - r.down, r.snapshot))

    def units_moved(self, receiver: int, sender: int, k: int, hour: int) -> int:
        """Return the units that one instance sent to another in interval k, which ended in that hour."""
        if not (self.is_up(receiver, k) and self.is_up(sender, k)):
            return 0
        moved = self.seconds(k) * self.rate_per_hour * SHAPE[hour] // 360_000
        moved += self.noise(receiver * 64 + sender, k) % (self.spread + 1)
        return moved * (1 if k else UNITS_BEFORE)

    def blocks_lost(self, receiver: int, sender: int, k: int) -> int:
        """Return the blocks lost between two instances in interval k."""
        if k == 0:
            return LOST_BEFORE
        if not (self.is_up(receiver, k) and self.is_up(sender, k)):
            return 0
        return sum(
            loss.each + self.noise(receiver * 64 + sender + 4096, k) % (loss.spread + 1)
            for loss in self.losses
            if (loss.receiver, loss.sender) == (receiver, sender) and loss.covers(k)
        )

    def mtu_of(self, instance: int, k: int) -> int:
        """Return the MTU of the instance's NICs at snapshot k."""
        changes = [c for c in self.mtu_changes if c.instance == instance and c.snapshot <= k]
        return max(changes, key=lambda c: c.snapshot).mtu if changes else self.mtu


def healthy_week(ends_at: datetime, instances: tuple[tuple[int, str, str], ...], seed: int = 7) -> HistoryPlan:
    """Return a plan of seven days, hourly, up to `ends_at`: one restart, one missing snapshot, no loss."""
    hours = 7 * 24
    last = instances[-1][0]
    return HistoryPlan(
        seed=seed,
        first_end=ends_at.replace(microsecond=0) - timedelta(hours=hours),
        intervals_s=(3600,) * hours,
        instances=instances,
        restarts=(Restart(last, 61),),
        missing=((instances[0][0], 100),),
    )
