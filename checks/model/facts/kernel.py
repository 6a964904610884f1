"""Facts of what the kernels of the nodes counted between two readings."""

from __future__ import annotations

from checks.model.facts.base import Fact, Unknown
from checks.model.facts.node import KernelCounters


class CounterChange(Fact, frozen=True):
    """What one node's kernel counted between two readings: differences, never totals since boot."""

    node: str
    seconds: float
    counters: KernelCounters
    """Differences of /proc/net/snmp and /proc/net/netstat; and of /proc/net/softnet_stat, over all CPUs, as group
    `Softnet` with `Dropped` and `TimeSqueezed`."""
    left_out: tuple[str, ...] = ()
    """Counters of which no difference can be told, since they fell meanwhile: `Ip.ReasmFails`."""


class CounterChanges(Fact, frozen=True):
    """All nodes over about the same time."""

    begun_at: str
    ended_at: str
    seconds: float
    nodes: tuple[CounterChange, ...]
    unread: dict[str, Unknown]
    """The nodes of which no difference can be told, and why."""

    def of(self, node: str) -> CounterChange | None:
        """The change on one node, where it could be told."""
        return next((c for c in self.nodes if c.node == node), None)
