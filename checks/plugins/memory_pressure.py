"""Does a node swap, or wait for memory?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind, PassKind, UnknownKind, check
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.plugins.shared.counter_text import TOPIC, not_counted_finding, share, unknown_nodes_findings
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of, topics_of
from checks.rules.node_pressure import MemoryLoad, memory_load
from checks.rules.observed.states import read_on, state

_HARM = (
    "Processes of Clusterware and of the database stop while the kernel frees memory: heartbeats are late, blocks wait "
    "and receive buffers overflow. Nodes are evicted this way."
)
ROOM = PassKind("IC-MEM-001", "No node swaps both ways, or waits long for memory")
SWAPS = Kind("IC-MEM-002", "A node swaps", _HARM, ("MOS 563566.1, cause 19", "Linux, man proc(5): /proc/vmstat"))
STALLS = Kind(
    "IC-MEM-003",
    "Allocations of a node wait for memory, or the kernel killed a process",
    _HARM,
    ("MOS 2041723.1", "Linux, Documentation/accounting/psi.rst"),
)
NOT_KNOWN = UnknownKind("IC-MEM-004", "The memory of a node is not known")


@check(
    "memory-pressure",
    question="Does a node swap, or wait for memory?",
    needs=("counters",),
    uses=("nodes",),
    kinds=(ROOM, SWAPS, STALLS, NOT_KNOWN),
)
def memory_pressure(cluster: Cluster) -> Iterator[Finding]:
    """Compares the pages that each node swapped and the allocations that waited, between two readings.

    Pages that go in and out at swap_warn_pages a second are a warning, at swap_fail_pages a failure; idle pages that
    go out and stay there are no finding. Allocations that wait (allocation_stalls_warn a second), and time in which all
    tasks wait (memory_stall_warn_percent), are a warning. A process that the kernel killed is a failure.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    judged = {change.node: memory_load(change, cluster.thresholds) for change in changes.nodes}
    loads = [load for load in judged.values() if isinstance(load, MemoryLoad)]
    for same in alike((x for x in loads if x.swap_status is not Status.PASS), lambda x: x.swap_status):
        yield _swaps(same)
    for same in alike((x for x in loads if x.stall_status is not Status.PASS), lambda x: x.stall_status):
        yield _stalls(same)
    if fine := [x for x in loads if x.swap_status is Status.PASS and x.stall_status is Status.PASS]:
        yield ROOM.finding(
            f"{named((x.node for x in fine), 'node')} neither swapped both ways nor waited long for memory in "
            f"{time_of(fine)}.",
            subject="no swapping",
            seen=some([_line(load) for load in fine]),
            evidence=topics_of((x.node for x in fine), TOPIC),
            observed=read_on(ROOM.code, [x.node for x in fine]),
        )
    if left := {node: load for node, load in judged.items() if isinstance(load, Unknown)}:
        yield not_counted_finding(NOT_KNOWN, "The memory of {}", left, "node")
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "Whether {} swaps or waits for memory", "memory-pressure")


def _swaps(same: Sequence[MemoryLoad]) -> Finding:
    nodes, most = [x.node for x in same], max(same, key=lambda x: min(x.swapped_in, x.swapped_out))
    several = len(same) > 1
    return SWAPS.finding(
        f"{named(nodes, 'node')} {'swap' if several else 'swaps'}: {most.swapped_out:,.0f} pages a second out and "
        f"{most.swapped_in:,.0f} in{f' on {most.node}' if several else ''}, averaged over {time_of(same)}.",
        status=same[0].swap_status,
        subject=f"{briefly(nodes, 'node')}: {most.swapped_out:,.0f} pages/s out",
        data={"pages_out_per_s": most.swapped_out, "pages_in_per_s": most.swapped_in, "nodes": len(nodes)},
        seen=some([_line(load) for load in same]),
        expected=("No swapping on a database server",),
        next=_steps(nodes),
        evidence=topics_of((x.node for x in same), TOPIC),
        nodes=nodes,
        extent=(min(most.swapped_in, most.swapped_out), "pages a second"),
        observed=[state("pages swapped a second", x.node, value=min(x.swapped_in, x.swapped_out)) for x in same],
    )


def _stalls(same: Sequence[MemoryLoad]) -> Finding:
    nodes, killed = [x.node for x in same], sum(x.killed for x in same)
    most = max(same, key=lambda x: (x.killed, x.stalls, x.stalled_percent or 0.0))
    names = named(nodes, "node")
    if killed:
        title = f"The kernel of {names} killed {killed} {'process' if killed == 1 else 'processes'} for want of memory"
        title += f" in {time_of(same)}"
    else:
        waits = f"up to {most.stalls:,.0f} allocations a second waited for memory" if most.stalls >= 1 else ""
        stalled = (
            f"all tasks waited for memory in {share(most.stalled_percent)} of the time" if most.stalled_percent else ""
        )
        title = f"On {names} {' and '.join(filter(None, (waits, stalled)))}, averaged over {time_of(same)}"
    return STALLS.finding(
        f"{title}.",
        status=same[0].stall_status,
        subject=f"{briefly(nodes, 'node')}: {f'{killed} killed' if killed else 'waits for memory'}",
        data={"stalls_per_s": most.stalls, "killed": killed, "nodes": len(nodes)},
        seen=some([_line(load) for load in same]),
        expected=("No allocation that waits",),
        next=_steps(nodes),
        evidence=topics_of((x.node for x in same), TOPIC),
        nodes=nodes,
        extent=(most.stalls, "allocations a second"),
        observed=[
            state("killed processes", x.node, value=x.killed)
            if x.killed
            else state("stalled allocations a second", x.node, value=x.stalls)
            for x in same
        ],
    )


def _steps(nodes: Sequence[str]) -> list[NextStep]:
    names = named(nodes, "node")
    return [
        NextStep(
            "Find the processes that take the memory, what is swapped, and whether the SGA is in huge pages.",
            ("vmstat 1 5", "grep -E 'Huge|Mem|Swap' /proc/meminfo", "ps -eo rss,comm --sort=-rss | head -20"),
            f"any user on {names}",
        ),
        NextStep(
            "Search the kernel's log for killed processes and failed allocations; on a virtual machine, ask for "
            "ballooning.",
            ("dmesg -T | grep -iE 'out of memory|page allocation failure|balloon'",),
            f"root on {names}",
        ),
    ]


def _line(load: MemoryLoad) -> str:
    stalled = f", all tasks waited in {share(load.stalled_percent)}" if load.stalled_percent is not None else ""
    return (
        f"{load.node}: {load.swapped_out:,.0f} pages/s swapped out, {load.swapped_in:,.0f} in; {load.stalls:,.1f} "
        f"allocations/s waited{stalled}; {load.killed:,} killed; {load.unmerged:,} allocations in one piece failed"
    )
