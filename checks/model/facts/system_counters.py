"""Facts about one node's NICs, CPUs and memory between two readings: growth, never totals since boot."""

from __future__ import annotations

import msgspec

from checks.model.facts.base import Fact, Unknown

NOT_READ = "This version of racwire's files has no counters of NICs, CPUs and memory."


class CounterGroup(Fact, frozen=True):
    """The growth of some counters that belong together. A counter that fell, or that this kernel lacks, is absent."""

    name: str
    """The NIC (`eth1`), the CPU (`cpu3`, or `cpu` for all together), the resource (`memory`)."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)

    def value(self, name: str) -> int:
        """Return the growth of one counter; 0 where it is not known."""
        return max(0, self.counts.get(name, 0))


class DriverCounters(CounterGroup, frozen=True):
    """The growth of what the driver of a NIC counted in addition to the kernel, by its own names (`ethtool -S`).

    Counters that did not grow are absent, except those of frames by size: a driver without them is no driver that
    counted none.
    """

    driver: str = ""
    """`mlx5_core`, `ixgbe`; empty where the NIC has no device."""
    sizes_fell: bool = False
    """Whether a counter of frames by size fell, as when the driver was loaded again; then those are absent."""


class TrackedConnections(Fact, frozen=True):
    """The table in which the kernel tracks connections for packet filters (nf_conntrack)."""

    entries: int
    """The larger number of the two readings."""
    most: int
    """net.netfilter.nf_conntrack_max."""
    dropped: int = 0
    """Packets that were dropped between the readings, most of all for want of room: column `drop`."""
    evicted: int = 0
    """Entries that made room for newer ones: column `early_drop`."""


class NicState(Fact, frozen=True):
    """What decides about a NIC, at the second reading of the counters."""

    name: str
    mtu: int | None = None
    operational_state: str = ""
    mac_address: str = ""
    """Empty where it was not read."""

    @property
    def is_up(self) -> bool:
        """Whether it can carry packets."""
        return self.operational_state in ("up", "unknown")


class SystemCounters(Fact, frozen=True):
    """The growth of the counters of one node's private NICs, of its CPUs and of its memory."""

    nics: tuple[CounterGroup, ...] | Unknown = Unknown(NOT_READ)
    """The private NICs with the layers below them (bond members, the parents of VLANs). The names are those of
    /sys/class/net/NIC/statistics, and `carrier_changes`, `qdisc_drops` (packets that the root queue discipline
    dropped)."""
    cpus: tuple[CounterGroup, ...] | Unknown = Unknown(NOT_READ)
    """Ticks by the columns of /proc/stat (`user` to `steal`); `cpu` has the sums. Of /proc/net/softnet_stat
    `processed`, `dropped` and `squeezed`, for each CPU."""
    stalls: tuple[CounterGroup, ...] | Unknown = Unknown(NOT_READ)
    """Microseconds in which some or all tasks waited (`some`, `full`) for `cpu`, `memory` and `io`: /proc/pressure."""
    memory: CounterGroup | Unknown = Unknown(NOT_READ)
    """Pages and events of /proc/vmstat: `pswpin`, `pswpout`, `allocstall` (all zones), `oom_kill`, `compact_stall`,
    `compact_fail`."""

    drivers: tuple[DriverCounters, ...] | Unknown = Unknown(NOT_READ)
    """The private NICs and the members of bonds whose drivers have counters."""

    connections: TrackedConnections | Unknown | None = Unknown(NOT_READ)
    """None where the kernel tracks no connections: the module is not loaded."""
    states: tuple[NicState, ...] | Unknown = Unknown(NOT_READ)
    """The NICs of `nics` at the second reading."""

    def nic(self, name: str) -> CounterGroup | None:
        """Return the counters of one NIC, or None where they are not known."""
        return None if isinstance(self.nics, Unknown) else next((n for n in self.nics if n.name == name), None)

    def driver(self, nic: str) -> DriverCounters | None:
        """Return the driver's counters of one NIC, or None where they are not known."""
        return None if isinstance(self.drivers, Unknown) else next((n for n in self.drivers if n.name == nic), None)

    def cpu(self, name: str) -> CounterGroup | None:
        """Return the counters of one CPU, or of all together (`cpu`); None where they are not known."""
        return None if isinstance(self.cpus, Unknown) else next((c for c in self.cpus if c.name == name), None)

    def stall_us(self, resource: str, share: str) -> int | None:
        """Return the microseconds in which `some` or `full` tasks waited for a resource; None where not known."""
        found = () if isinstance(self.stalls, Unknown) else self.stalls
        return next((s.counts.get(share) for s in found if s.name == resource), None)
