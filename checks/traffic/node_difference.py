"""What a node counted between two readings of it: figures in, a sample out. Pure arithmetic."""

from __future__ import annotations

import os
from collections.abc import Mapping
from operator import sub

from checks.facts import Unknown
from checks.nodes.counter_difference import Reading, difference, grown_by
from checks.traffic.node_text import CpuTicks, NodeReading
from checks.traffic.samples import KERNEL_COUNTERS, CpuTime, InterfaceCounts, NodeSample

_ALL_CPUS = "cpu"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
"""Of this node: 100 on every machine that runs Oracle, and so on the peers."""

_WANTED = {f"{group}.{name}": (group, name) for group, names in KERNEL_COUNTERS.items() for name in names}
_NOTHING = InterfaceCounts()
_BYTES_AND_PACKETS = ((0, 1), (8, 9))
"""Their columns in /proc/net/dev, received and sent."""


def node_sample(
    node: str, before: NodeReading, after: NodeReading, *, seconds: float, at: float
) -> NodeSample | Unknown:
    """The sample of the time between two readings; Unknown where the node was restarted meanwhile."""
    counters, left_out = _counters(before.kernel, after.kernel)
    if isinstance(counters, Unknown):
        return counters
    interfaces: dict[str, InterfaceCounts] = {}
    came_or_went = dict.fromkeys((*before.interfaces, *after.interfaces))
    for name in came_or_went:
        counts = _interface(name, before, after)
        if counts is not None:
            interfaces[name] = counts
        else:
            left_out.append(name)
    return NodeSample(
        node=node,
        at=at,
        seconds=seconds,
        interfaces=interfaces,
        counters=counters,
        cpu=cpu_time(before.cpus, after.cpus),
        load=after.load,
        left_out=tuple(left_out),
    )


def _interface(name: str, before: NodeReading, after: NodeReading) -> InterfaceCounts | None:
    """What an interface counted; None where it came, went or began anew meanwhile."""
    was, now = before.interfaces.get(name), after.interfaces.get(name)
    if was is None or now is None:
        return None
    if was == now:
        return _NOTHING if after.figures(name) else None
    old, new = before.figures(name), after.figures(name)
    if old is None or new is None:
        return None
    grown = list(map(sub, new, old))
    if min(grown) < 0:
        if _began_anew(old, new):
            return None
        known = [figure for figure in map(grown_by, old, new) if figure is not None]
        if len(known) < len(grown):
            return None
        grown = known
    rx_bytes, rx_packets, rx_errors, rx_dropped, rx_fifo, rx_frame, _, rx_multicast, *tx = grown
    tx_bytes, tx_packets, tx_errors, tx_dropped, tx_fifo, tx_collisions, tx_carrier, _ = tx
    return InterfaceCounts(
        *(rx_bytes, rx_packets, rx_errors, rx_dropped, rx_fifo, rx_frame, rx_multicast),
        *(tx_bytes, tx_packets, tx_errors, tx_dropped, tx_fifo, tx_collisions, tx_carrier),
    )


def _began_anew(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    """Whether an interface of that name was made anew: its bytes and its packets fell together.

    A driver that counts in 32 bits lets its bytes run over hundreds of times for once that its packets do.
    """
    return any(new[bytes_] < old[bytes_] and new[packets] < old[packets] for bytes_, packets in _BYTES_AND_PACKETS)


def _counters(before: Reading | None, after: Reading | None) -> tuple[dict[str, int] | Unknown, list[str]]:
    """The kernel's counters by name, and those of which nothing can be told."""
    if before is None or after is None:
        return {}, list(KERNEL_COUNTERS)
    change = difference(before, after)
    if isinstance(change, Unknown):
        return change, []
    values = {name: change.counters.value(*place) for name, place in _WANTED.items()}
    left_out = [name for name in change.left_out if name in _WANTED]
    return {name: value for name, value in values.items() if value is not None}, left_out


def cpu_time(before: Mapping[str, CpuTicks], after: Mapping[str, CpuTicks]) -> CpuTime | None:
    """Where the processors' time went; None where that cannot be told. Single ones that came or went do not matter."""
    if _ALL_CPUS not in before or _ALL_CPUS not in after:
        return None
    spent = {name: _spent(before[name], ticks) for name, ticks in after.items() if name in before}
    everything = spent.pop(_ALL_CPUS)
    return CpuTime(
        cpus=len(after) - 1,
        total_s=everything.total / _TICKS_PER_S,
        idle_s=everything.idle / _TICKS_PER_S,
        softirq_s=everything.softirq / _TICKS_PER_S,
        busiest_softirq_percent=max(
            (100 * cpu.softirq / cpu.total for cpu in spent.values() if cpu.total > 0), default=0.0
        ),
    )


def _spent(before: CpuTicks, after: CpuTicks) -> CpuTicks:
    """The ticks between; the kernel lets some of these figures fall a little (proc(5), iowait), which is no time."""
    idle, softirq = max(0, after.idle - before.idle), max(0, after.softirq - before.softirq)
    return CpuTicks(max(idle + softirq, after.total - before.total), idle, softirq)
