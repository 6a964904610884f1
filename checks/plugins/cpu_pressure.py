"""Do the CPUs of a node have time for the packets of the interconnect?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.plugins.shared.counter_text import TOPIC, not_counted_finding, share, unknown_nodes_findings
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of, topics_of
from checks.plugins.shared.hash_steps import spread_steps, spread_text
from checks.plugins.shared.host_facts import LMS_THREADS
from checks.plugins.shared.private_nics import on_nics
from checks.rules.nic_counts import loss_ends
from checks.rules.node_pressure import CpuLoad, cpu_load
from checks.rules.observed.states import read_on, state, states

TIME = PassKind("IC-CPU-001", "The hypervisor withholds little CPU time, and no CPU is full of soft interrupts")
STOLEN = Kind(
    "IC-CPU-002",
    "The hypervisor withholds CPU time from a node",
    "While the hypervisor runs other machines, the node neither takes packets from its NICs nor answers heartbeats: "
    "LMS stalls, rings and receive buffers overflow, and the node may be evicted.",
    ("MOS 563566.1, cause 19", "Linux, man proc(5): steal"),
)
ONE_CPU = WarnKind(
    "IC-CPU-003",
    "One CPU of a node is full of soft interrupts",
    "The kernel takes packets on one CPU at its limit, while other CPUs have time: packets wait in the ring of the NIC "
    "and are dropped when it is full.",
    ("MOS 563566.1, causes 16 and 19", "Linux, Documentation/networking/scaling.rst"),
)
WAITING = InfoKind(
    "IC-CPU-004",
    "Tasks waited for CPUs, or packet processing was cut short, at a node that lost blocks",
    "Processes that receive blocks may wait for a CPU. LMS runs before other processes where it is in the real-time "
    "class, so this is a hint and no proof.",
    ("MOS 563566.1, cause 19", "Linux, Documentation/accounting/psi.rst"),
)
NOT_KNOWN = UnknownKind("IC-CPU-005", "The use of the CPUs of a node is not known")


@check(
    "cpu-pressure",
    question="Do the CPUs of each node have time for the packets of the interconnect?",
    needs=("counters",),
    uses=("nodes", "networks", "activity", "setups"),
    about=(ConditionKind.BACKLOG, ConditionKind.RECEIVE_BUFFERS),
    kinds=(TIME, STOLEN, ONE_CPU, WAITING, NOT_KNOWN),
)
def cpu_pressure(cluster: Cluster) -> Iterator[Finding]:
    """Compares the use of the CPUs of each node between two readings: steal, soft interrupts, waiting.

    Steal above steal_warn_percent of all CPU time is a warning, above steal_fail_percent a failure. A CPU with more
    than softirq_warn_percent of its time in soft interrupts is a warning. A busy node is no fault: waiting tasks and
    cut rounds of packet processing are reported as INFO where the same run lost blocks at the node.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    judged = {change.node: cpu_load(change, cluster.thresholds) for change in changes.nodes}
    loads = [load for load in judged.values() if isinstance(load, CpuLoad)]
    for same in alike((x for x in loads if x.is_stolen is not Status.PASS), lambda x: x.is_stolen):
        yield _stolen(same)
    if full := [load for load in loads if load.is_one_cpu]:
        yield _one_cpu(cluster, full)
    receivers = loss_ends(cluster).receivers
    if waiting := [load for load in loads if load.delays_packets and load.node in receivers]:
        yield _waiting(waiting)
    if fine := [load for load in loads if load.is_stolen is Status.PASS and not load.is_one_cpu]:
        yield TIME.finding(
            f"On {named((x.node for x in fine), 'node')} the hypervisor withheld at most "
            f"{share(max(x.steal_percent for x in fine))} of the CPU time in {time_of(fine)}, and soft interrupts took "
            f"at most {share(max(x.softirq_percent for x in fine))} of one CPU.",
            subject=f"steal at most {share(max(x.steal_percent for x in fine))}",
            seen=some([_line(load) for load in fine]),
            evidence=topics_of((x.node for x in fine), TOPIC),
            observed=read_on(TIME.code, [x.node for x in fine]),
        )
    if left := {node: load for node, load in judged.items() if isinstance(load, Unknown)}:
        yield not_counted_finding(NOT_KNOWN, "The use of the CPUs of {}", left, "node")
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "The use of the CPUs of {}", "cpu-pressure")


def _stolen(same: Sequence[CpuLoad]) -> Finding:
    nodes, most = [x.node for x in same], max(same, key=lambda x: x.steal_percent)
    at_most = "" if len(same) == 1 else "up to "
    return STOLEN.finding(
        f"The hypervisor withheld {at_most}{share(most.steal_percent)} of the CPU time from {named(nodes, 'node')} "
        f"in {time_of(same)}.",
        status=same[0].is_stolen,
        subject=f"{briefly(nodes, 'node')}: steal {share(most.steal_percent)}",
        data={"steal_percent": most.steal_percent, "nodes": len(nodes), "seconds": most.seconds},
        seen=some([_line(load) for load in same]),
        expected=("No steal",),
        next=[
            NextStep(
                "Watch the column st, and compare it with the times at which blocks were lost.",
                ("vmstat 1 10", "sar -u 1 10"),
                f"any user on {named(nodes, 'node')}",
            ),
            NextStep(
                "Ask those who run the hypervisor for CPUs reserved for these machines, for its own figures (CPU ready "
                "on VMware), and for migrations and snapshots at that time."
            ),
        ],
        evidence=topics_of((x.node for x in same), TOPIC),
        nodes=nodes,
        extent=(most.steal_percent, "% of the CPU time"),
        observed=[state("steal in percent", x.node, value=x.steal_percent) for x in same],
    )


def _one_cpu(cluster: Cluster, full: Sequence[CpuLoad]) -> Finding:
    nodes, most = [x.node for x in full], max(full, key=lambda x: x.softirq_percent)
    others = "" if len(full) == 1 else f"; {named([n for n in nodes if n != most.node], 'node')} likewise"
    return ONE_CPU.finding(
        f"{most.busiest} of {most.node} spent {share(most.softirq_percent)} of {time_of(full)} in soft interrupts"
        f"{others}.",
        subject=f"{briefly(nodes, 'node')}: softirq {share(most.softirq_percent)}",
        data={"softirq_percent": most.softirq_percent, "nodes": len(nodes), "seconds": most.seconds},
        seen=some([_line(load) for load in full]),
        expected=("Soft interrupts spread over several CPUs",),
        next=[
            on_nics(
                cluster,
                nodes,
                "Find out which CPUs serve each NIC, how many receive queues it has, and whether irqbalance runs.",
                (
                    "grep {nic} /proc/interrupts",
                    "ethtool -l {nic}",
                    "ethtool -n {nic} rx-flow-hash udp4",
                    "systemctl is-active irqbalance",
                ),
                f"any user on {named(nodes, 'node')}",
            ),
            *_spread(cluster, nodes),
        ],
        evidence=topics_of((x.node for x in full), TOPIC),
        nodes=nodes,
        extent=(most.softirq_percent, "% of one CPU"),
        observed=[state("softirq of one CPU in percent", x.node, value=x.softirq_percent) for x in full],
    )


def _spread(cluster: Cluster, nodes: Sequence[str]) -> list[NextStep]:
    """Return how to use more CPUs."""
    text = (
        "Spread the packets: start irqbalance, or let other CPUs take packets of a NIC with one queue (RPS). More "
        "receive queues (RSS, `ethtool -L`) drop the link: only with the node out of the cluster. "
        f"{spread_text(cluster, nodes)}"
    )
    where = f"root on {named(nodes, 'node')}"
    return [
        NextStep(text.rstrip(), (), where, is_change=True, effect=Effect.HARMLESS),
        *spread_steps(cluster, nodes),
    ]


def _waiting(waiting: Sequence[CpuLoad]) -> Finding:
    nodes = [x.node for x in waiting]
    return WAITING.finding(
        f"{named(nodes, 'node')} lost blocks while tasks waited for CPUs or packet processing was cut short.",
        subject=f"{briefly(nodes, 'node')}: CPUs in demand",
        seen=some([_line(load) for load in waiting]),
        next=[
            NextStep(
                "Check the scheduling class of LMS and the load of each CPU.",
                (LMS_THREADS, "mpstat -P ALL 1 5"),
                f"any user on {named(nodes, 'node')}",
            )
        ],
        evidence=topics_of((x.node for x in waiting), TOPIC),
        nodes=nodes,
        observed=states(WAITING.code, nodes),
    )


def _line(load: CpuLoad) -> str:
    busiest = f", {load.busiest} {share(load.softirq_percent)} in soft interrupts" if load.busiest else ""
    waited = f", tasks waited for CPUs in {share(load.waiting_percent)}" if load.waiting_percent is not None else ""
    return f"{load.node}: steal {share(load.steal_percent)}{busiest}, {load.squeezed:,} rounds cut short{waited}"
