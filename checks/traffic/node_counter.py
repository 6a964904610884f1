"""Computes samples from the consecutive readings of a node."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from checks.model.facts import Unknown
from checks.sources.nodes.counter_difference import KernelReading, difference
from checks.traffic.interface_table import counted_between
from checks.traffic.node_text import CpuTicks, NodeReading
from checks.traffic.samples import KERNEL_COUNTERS, CpuTime, Gap, NodeSample
from checks.traffic.source_id import SourceId

_ALL_CPUS = "cpu"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
"""The clock ticks per second of this node: 100 on every machine that runs Oracle, and so on the peers."""

_WANTED = {f"{group}.{name}": (group, name) for group, names in KERNEL_COUNTERS.items() for name in names}


def node_sample(
    node: str, before: NodeReading, after: NodeReading, *, seconds: float, at: float
) -> NodeSample | Unknown:
    """Return the sample for the time between two readings; Unknown where the node was restarted in between."""
    counters, left_out = _counters(before.kernel, after.kernel)
    if isinstance(counters, Unknown):
        return counters
    interfaces, not_counted = counted_between(before.interfaces, after.interfaces)
    return NodeSample(
        node=node,
        at=at,
        seconds=seconds,
        interfaces=interfaces,
        counters=counters,
        cpu=cpu_time(before.cpus, after.cpus),
        load=after.load,
        left_out=(*left_out, *not_counted),
    )


def _counters(before: KernelReading | None, after: KernelReading | None) -> tuple[dict[str, int] | Unknown, list[str]]:
    """The kernel's counters by name, and the names of the counters that are unknown for this time."""
    if before is None or after is None:
        return {}, list(KERNEL_COUNTERS)
    change = difference(before, after)
    if isinstance(change, Unknown):
        return change, []
    values = {name: change.counters.value(*place) for name, place in _WANTED.items()}
    left_out = [name for name in change.left_out if name in _WANTED]
    return {name: value for name, value in values.items() if value is not None}, left_out


def cpu_time(before: Mapping[str, CpuTicks], after: Mapping[str, CpuTicks]) -> CpuTime | None:
    """The CPU time by use; None where it is unknown. CPUs that appeared or disappeared do not matter.

    The time of all CPUs is the sum of those that both readings have. The kernel rounds its own sum down to a tick apart
    from theirs, so it can grow by a tick in which no CPU has one: 0.5 % of all, and 0 % of the busiest."""
    if _ALL_CPUS not in before or _ALL_CPUS not in after:
        return None
    spent = {name: _spent(before[name], ticks) for name, ticks in after.items() if name in before}
    own_sum = spent.pop(_ALL_CPUS)
    everything = _sum(spent.values()) if spent else own_sum
    return CpuTime(
        cpus=len(after) - 1,
        total_s=everything.total / _TICKS_PER_S,
        idle_s=everything.idle / _TICKS_PER_S,
        softirq_s=everything.softirq / _TICKS_PER_S,
        busiest_softirq_percent=max(
            (100 * cpu.softirq / cpu.total for cpu in spent.values() if cpu.total > 0), default=0.0
        ),
    )


def _sum(ticks: Collection[CpuTicks]) -> CpuTicks:
    return CpuTicks(sum(t.total for t in ticks), sum(t.idle for t in ticks), sum(t.softirq for t in ticks))


def _spent(before: CpuTicks, after: CpuTicks) -> CpuTicks:
    """The ticks between two readings. Some of these figures can fall a little (proc(5), iowait); a fall counts as 0."""
    idle, softirq = max(0, after.idle - before.idle), max(0, after.softirq - before.softirq)
    return CpuTicks(max(idle + softirq, after.total - before.total), idle, softirq)


class NodeCounter:
    """Computes a sample from each pair of consecutive readings."""

    def __init__(self) -> None:
        self._before: tuple[NodeReading, float] | None = None

    def sample(self, node: str, reading: NodeReading | Unknown, clock_s: float, at: float) -> NodeSample | Gap | None:
        """Return the sample up to this reading; None for the first one. `clock_s` is the time of the reading by a
        monotonic clock."""
        before, self._before = self._before, None
        if isinstance(reading, Unknown):
            return Gap(SourceId.node(node), at, f"The counters of {node} could not be read: {reading.reason}")
        self._before = reading, clock_s
        if before is None or clock_s <= before[1]:
            return None
        sample = node_sample(node, before[0], reading, seconds=clock_s - before[1], at=at)
        if isinstance(sample, Unknown):
            return Gap(SourceId.node(node), at, f"{node}: {sample.reason}")
        return sample
