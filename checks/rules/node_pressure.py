"""Rules for the CPUs and the memory of a node over the interval: steal, soft interrupts, waiting, swapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from checks.model.facts import CounterChange, CounterGroup, Thresholds, Unknown
from checks.model.finding import Status

_TICKS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_FEW_TICKS = 50
"""Fewer ticks of a CPU, half a second, are too few for a share."""
_FEW_STOLEN = 20
"""Fewer stolen ticks, 0.2 s of CPU time, are no finding, however short the interval. Ours."""
_WAITING_PERCENT, _SQUEEZED_PERCENT = 50.0, 1.0
"""From these shares on, waiting tasks and cut rounds are reported where blocks were lost at the node. Ours."""


def _ticks(group: CounterGroup) -> int:
    return sum(group.value(name) for name in _TICKS)


@dataclass(frozen=True)
class CpuLoad:
    """The use of a node's CPUs in the interval."""

    node: str
    seconds: float
    steal_percent: float
    busiest: str
    """The CPU with the largest share of soft interrupts; empty where no CPU has enough ticks."""
    softirq_percent: float
    """Its share."""
    waiting_percent: float | None
    """Time in which a task waited for a CPU, in percent of the interval; None where the kernel does not count it."""
    squeezed: int
    """Rounds of packet processing that ended before all packets were taken: third column of softnet_stat."""
    processed: int
    is_stolen: Status
    """The status of the steal."""
    is_one_cpu: bool
    """Whether one CPU is busy with soft interrupts while another one is not."""

    @property
    def delays_packets(self) -> bool:
        """Whether tasks waited long or rounds were cut short: a hint, where the node also lost blocks."""
        squeezed = 100 * self.squeezed >= _SQUEEZED_PERCENT * self.processed > 0
        return squeezed or (self.waiting_percent or 0) >= _WAITING_PERCENT


def cpu_load(change: CounterChange, limits: Thresholds) -> CpuLoad | Unknown:
    """Return the use of the CPUs of one node; Unknown where the kernel did not report it."""
    counted = change.machine
    if isinstance(counted.cpus, Unknown):
        return counted.cpus
    total = counted.cpu("cpu")
    if total is None or not _ticks(total):
        return Unknown("The node reports no use of its CPUs.")
    each = [cpu for cpu in counted.cpus if cpu.name != "cpu"]
    shares = {c.name: 100 * c.value("softirq") / _ticks(c) for c in each if _ticks(c) >= _FEW_TICKS}
    busiest = max(shares, key=lambda name: (shares[name], name), default="")
    stolen = 100 * total.value("steal") / _ticks(total)
    status = Status.PASS
    if total.value("steal") >= _FEW_STOLEN and stolen > limits.steal_warn_percent:
        status = Status.FAIL if stolen > limits.steal_fail_percent else Status.WARN
    waited = counted.stall_us("cpu", "some")
    return CpuLoad(
        node=change.node,
        seconds=change.seconds,
        steal_percent=stolen,
        busiest=busiest,
        softirq_percent=shares.get(busiest, 0.0),
        waiting_percent=_share(waited, change.seconds),
        squeezed=sum(cpu.value("squeezed") for cpu in each),
        processed=sum(cpu.value("processed") for cpu in each),
        is_stolen=status,
        is_one_cpu=shares.get(busiest, 0.0) > limits.softirq_warn_percent,
    )


def _share(waited_us: int | None, seconds: float) -> float | None:
    if waited_us is None or seconds <= 0:
        return None
    return min(100.0, max(0.0, waited_us / seconds / 1e4))


@dataclass(frozen=True)
class MemoryLoad:
    """The memory of a node in the interval."""

    node: str
    seconds: float
    swapped_in: float
    """Pages a second."""
    swapped_out: float
    stalls: float
    """Allocations a second that had to free memory first."""
    killed: int
    """Processes that the kernel killed for want of memory."""
    unmerged: int
    """Allocations of several pages in one piece that found none, even after the kernel moved pages: compact_fail."""
    stalled_percent: float | None
    """Time in which all tasks waited for memory, in percent of the interval; None where it is not counted."""
    swap_status: Status
    stall_status: Status


def memory_load(change: CounterChange, limits: Thresholds) -> MemoryLoad | Unknown:
    """Return the memory of one node. Swapping counts where pages go both ways: idle pages may go out and stay there."""
    memory = change.machine.memory
    if isinstance(memory, Unknown):
        return memory
    if change.seconds <= 0:
        return Unknown("No time passed between the two readings.")
    rates: Mapping[str, float] = {name: memory.value(name) / change.seconds for name in memory.counts}
    swapped_in, swapped_out = rates.get("pswpin", 0.0), rates.get("pswpout", 0.0)
    stalled = _share(change.machine.stall_us("memory", "full"), change.seconds)
    both_ways = min(swapped_in, swapped_out)
    swap, stall = Status.PASS, Status.PASS
    if both_ways >= limits.swap_warn_pages:
        swap = Status.FAIL if both_ways >= limits.swap_fail_pages else Status.WARN
    if memory.value("oom_kill"):
        stall = Status.FAIL
    elif rates.get("allocstall", 0.0) >= limits.allocation_stalls_warn or (
        (stalled or 0.0) > limits.memory_stall_warn_percent
    ):
        stall = Status.WARN
    return MemoryLoad(
        change.node, change.seconds, swapped_in, swapped_out, rates.get("allocstall", 0.0),
        memory.value("oom_kill"), memory.value("compact_fail"), stalled, swap, stall,
    )  # fmt: skip
