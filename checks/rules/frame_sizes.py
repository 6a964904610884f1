"""Rules for the sizes of the frames that a private NIC received and sent: whether a large MTU is used."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from checks.model.facts import Activity, Cluster, CounterChanges, DriverCounters, Thresholds, Unknown
from checks.model.known_instances import active, node_of
from checks.model.networks import nics_of
from checks.rules.cache_fusion import received, served
from checks.rules.nic_counts import PrivateNic, private_nics_counted
from checks.rules.size_classes import Direction, SizeClass, size_classes

STANDARD_MTU = 1500
_JUMBO_FROM = 1600
"""The least MTU that counts as larger than the standard one: networks add some bytes for tags and tunnels. Ours."""
_FULL_FROM = 1024
_FULL_TO = 2047
"""A full frame at MTU 1500 has 1,518 bytes, with a VLAN tag 1,522. Some drivers count that one from 1,519 to 2,047,
where an 8 KB block in one frame is not."""
_FRAME_OVERHEAD = 22
"""Bytes of an Ethernet frame beyond its packet: header, VLAN tag, frame check sequence."""
_FEW_LARGE = 300
"""Frames of 1,024 bytes or more below which nothing follows: 10 a second in 30 s. Ours."""


class SizeUse(Enum):
    """What the frames of one direction show of the MTU."""

    UNUSED = "a large MTU, and most bytes in frames that are full at MTU 1500"
    USED = "a large MTU, and frames that need it"
    STANDARD = "a standard MTU"
    FEW = "too few frames of 1,024 bytes or more"
    MIXED = "frames that show neither"
    IDLE = "frames that are full at MTU 1500, and few blocks between the instances"


@dataclass(frozen=True)
class FrameSizes:
    """The frames of one private NIC by size in one direction, during the interval."""

    nic: PrivateNic
    way: Direction
    mtu: int
    classes: tuple[SizeClass, ...]
    few_blocks: bool = False
    """Whether the instances of the node are known to have exchanged few blocks."""

    @property
    def frames(self) -> int:
        """All frames."""
        return sum(c.frames for c in self.classes)

    @property
    def large(self) -> int:
        """The frames of more than a full one at MTU 1500."""
        return sum(c.frames for c in self.classes if _is_large(c))

    @property
    def full(self) -> int:
        """The frames that are full, or nearly, at MTU 1500."""
        return sum(c.frames for c in self.classes if _is_full(c))

    @property
    def full_percent(self) -> float:
        """The least share of the bytes that full frames can have, in percent: they as small as their class permits, all
        others as large."""
        full = sum(c.low * c.frames for c in self.classes if _is_full(c))
        others = sum(self._most(c) * c.frames for c in self.classes if not _is_full(c))
        return 100 * full / (full + others) if full else 0.0

    @property
    def use(self) -> SizeUse:
        """What the sizes show."""
        if self.mtu < _JUMBO_FROM:
            return SizeUse.STANDARD
        if self.full + self.large < _FEW_LARGE:
            return SizeUse.FEW
        if self.full_percent > 50:
            return SizeUse.IDLE if self.few_blocks else SizeUse.UNUSED
        return SizeUse.USED if self.large >= self.full else SizeUse.MIXED

    def percent(self, of: SizeClass) -> float:
        """Return the share of the frames that one class has, in percent."""
        return 100 * of.frames / self.frames if self.frames else 0.0

    def _most(self, of: SizeClass) -> int:
        largest = self.mtu + _FRAME_OVERHEAD
        return largest if of.high is None else min(of.high, max(largest, of.low))


def _is_full(of: SizeClass) -> bool:
    return of.low >= _FULL_FROM and of.high is not None and of.high <= _FULL_TO


def _is_large(of: SizeClass) -> bool:
    return of.low > _FULL_FROM and not _is_full(of)


@dataclass(frozen=True)
class CountedSizes:
    """The sizes of the frames of all private NICs, and the NICs whose sizes are not known."""

    known: tuple[FrameSizes, ...] = ()
    silent: dict[str, tuple[PrivateNic, Unknown]] = field(default_factory=dict)
    """By the place of the NIC (`eth2 of rac2`): why its sizes are not known, although its driver was queried."""
    unasked: dict[str, Unknown] = field(default_factory=dict)
    """By node: why its drivers were not queried."""


def frame_sizes(cluster: Cluster) -> CountedSizes:
    """Return the sizes of the frames of the private NICs, as their drivers counted them in the interval."""
    changes = cluster.counters
    if not isinstance(changes, CounterChanges):
        return CountedSizes()
    unasked = {c.node: c.machine.drivers for c in changes.nodes if isinstance(c.machine.drivers, Unknown)}
    asked = [c for c in changes.nodes if c.node not in unasked]
    known, silent = [], {}
    for nic in private_nics_counted(cluster, asked):
        if not nic.is_lowest or not nic.is_up:
            continue
        classes = size_classes(nic.driver.counts) if nic.driver else {}
        if classes:
            few = _few_blocks(cluster, nic.node)
            known += [FrameSizes(nic, way, _mtu(cluster, nic), found, few) for way, found in classes.items()]
        else:
            silent[nic.place] = (nic, Unknown(_why(nic.driver)))
    return CountedSizes(tuple(known), silent, unasked)


def _mtu(cluster: Cluster, nic: PrivateNic) -> int:
    """The largest MTU of the private networks on a NIC: a VLAN can have a smaller one than the NIC below."""
    ports = [port for network in cluster.read_networks() for port in network.ports if port.node == nic.node]
    above = [cluster.interface(port) for port in ports if nic.name in nics_of(cluster, port)]
    return max((interface.mtu for interface in above if interface), default=0)


def _why(driver: DriverCounters | None) -> str:
    if driver is None:
        return "Its driver reports no counters of frames by size."
    name = f"The driver {driver.driver}" if driver.driver else "Its driver"
    if driver.sizes_fell:
        return f"{name} counted frames by size, and a counter fell in the interval, as when the driver starts again."
    return f"{name} reports no counters of frames by size."


def _few_blocks(cluster: Cluster, node: str) -> bool:
    """Whether all instances of a node are known, and exchanged fewer blocks than an idle instance."""
    if not isinstance(cluster.activity, Activity):
        return False
    limits: Thresholds = cluster.thresholds
    counts = [
        (received(own.statistics), served(own.statistics))
        for own in active(cluster.activity)
        if node_of(cluster, own.instance) == node
    ]
    return bool(counts) and all(
        blocks is not None and blocks + (sent or 0) < limits.few_blocks for blocks, sent in counts
    )
