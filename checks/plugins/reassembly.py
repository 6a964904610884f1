"""Can the nodes reassemble the fragments that arrive? If not, are fragments lost, or is the memory too small?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import Kind, PassKind, UnknownKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.packet_sizes import USUAL_BLOCK_BYTES
from checks.model.shell_command import for_each, shell
from checks.model.wording import counted, listed
from checks.plugins.shared.counter_text import TOPIC, unknown_nodes_findings
from checks.plugins.shared.engineered_notes import beside_udp
from checks.plugins.shared.fragments import fragmenting, mtu_line, plan_jumbo
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of
from checks.plugins.shared.hash_steps import hash_lines, without_ports
from checks.plugins.shared.instance_text import percent
from checks.plugins.shared.private_nics import on_nics
from checks.rules.flow_hash import CarryingNic, hashing_ports
from checks.rules.flow_verdicts import flows_of
from checks.rules.fragment_verdicts import networks_that_lose_fragments
from checks.rules.node_counts import (
    NodeCounts,
    ReassemblyFault,
    counts_of,
    lacks,
    reassembly_fault,
    reassembly_status,
    sysctl,
    without_counts,
)
from checks.rules.observed.counted_packets import failed_reassemblies
from checks.rules.observed.states import read_on

_CAUSE_3 = "MOS 563566.1, cause 3"

WHOLE = PassKind("IC-REASM-001", "Every fragmented packet was reassembled")
LOST = Kind(
    "IC-REASM-002",
    "Fragments are lost on the way to a node",
    "If one fragment is missing, the kernel drops the whole packet after a timeout, and its block is lost. Most of "
    "these failures are timeouts, so more memory does not help.",
    (_CAUSE_3, "Linux kernel documentation, ip-sysctl"),
)
NO_ROOM = Kind(
    "IC-REASM-003",
    "A node has too little memory for reassembly",
    "The kernel drops fragments that arrive, because net.ipv4.ipfrag_high_thresh is used up, or is very small: hardly "
    "any failure is a timeout. The blocks of these fragments are lost.",
    (_CAUSE_3, "MOS 2008933.1", "Linux kernel documentation, ip-sysctl"),
)
OTHER = Kind(
    "IC-REASM-005",
    "Fragments arrive and cannot be reassembled, for a reason other than a missing fragment",
    "The kernel counts these reasons together: fragments too far out of order (net.ipv4.ipfrag_max_dist), overlapping "
    "fragments, and too little memory. Several links or queues for one network bring fragments out of order.",
    (_CAUSE_3, "Linux net/ipv4/ip_fragment.c", "Linux kernel documentation, ip-sysctl"),
)
NOT_KNOWN = UnknownKind("IC-REASM-004", "Whether a node can reassemble fragments is not known")

_WANTED = ("Ip.ReasmFails", "Ip.ReasmReqds")
_USUAL_BYTES = 16 * 1024 * 1024
"""The value of MOS 2008933.1: about 130,000 bytes for each CPU, 16 MB on most machines."""


@check(
    "reassembly",
    question="Can the nodes reassemble the fragments that arrive?",
    needs=("counters",),
    uses=("database", "nodes", "networks", "flows", "setups"),
    only_ipv4="it reads the counters of fragments of IPv4",
    shows=(ConditionKind.REASSEMBLY,),
    kinds=(WHOLE, LOST, NO_ROOM, OTHER, NOT_KNOWN),
)
def reassembly(cluster: Cluster) -> Iterator[Finding]:
    """Compares the reassembly counters of each node's kernel between two readings, never since boot.

    Any failed reassembly is a warning; from reassembly_fail_percent of the fragments it is a failure. Timeouts mean
    that fragments are lost: MTU, switch, ring buffer. Failures without timeouts have several reasons that the kernel
    does not count apart. The check names the memory only where the memory in use came near its limit, or the limit is
    very small; overlaps where the kernel counted them; and all of them otherwise. Where fragments are missing, or
    arrive and cannot be reassembled, the NICs that hash the ports of UDP are named: fragments have none. Nodes with the
    same cause share one finding, with the status of the worst. The counters are those of the whole node: fragments on a
    public network count, too.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    blind = dict(lacks(changes, _WANTED))
    counts = [counts_of(change) for change in changes.nodes]
    failing = [c for c in counts if c.failed]
    for same in alike(failing, lambda c: reassembly_fault(cluster, c)):
        yield _failing(cluster, same, reassembly_fault(cluster, same[0]))
    whole = [c for c in counts if not c.failed and c.node not in blind]
    if whole:
        yield _whole(cluster, whole)
    reported = {c.node for c in failing}
    unknown = {n: why for n, why in {**without_counts(cluster), **blind}.items() if n not in reported}
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "Whether {} can reassemble fragments", "reassembly", unknown)


_KINDS = {
    ReassemblyFault.LOST: (LOST, "because fragments were missing"),
    ReassemblyFault.NO_ROOM: (NO_ROOM, "because there was no memory to reassemble the fragments"),
    ReassemblyFault.OUT_OF_ORDER: (OTHER, "because fragments overlapped"),
    ReassemblyFault.NOT_COUNTED: (
        OTHER,
        "whose fragments arrived, but out of order, overlapping, or without memory",
    ),
}


def _failing(cluster: Cluster, counts: Sequence[NodeCounts], fault: ReassemblyFault) -> Finding:
    worst = sorted(counts, key=lambda c: (-c.failed, c.node))
    nodes = [c.node for c in counts]
    names, time = named(nodes, "node"), time_of(counts)
    size = cluster.block_size_bytes or USUAL_BLOCK_BYTES
    memory = {n: bytes_ for n in nodes if (bytes_ := sysctl(cluster, n, "net.ipv4.ipfrag_high_thresh")) is not None}
    number = sum(c.failed for c in counts)
    kind, because = _KINDS[fault]
    stands_out = len(counts) > 1 and 2 * worst[0].failed > number
    most = f", most of them at {worst[0].node}" if stands_out else ""
    title = f"{names} dropped {counted(number, 'packet')} in {time} {because}{most}."
    lost = fault is ReassemblyFault.LOST
    hashing = [] if fault is ReassemblyFault.NO_ROOM else hashing_ports(cluster, nodes, only_hyper_v=lost)
    return kind.finding(
        title,
        status=min((reassembly_status(c, cluster.thresholds) for c in counts), key=lambda status: status.gravity),
        subject=f"{briefly(nodes, 'node')}: {number:,} failed",
        data={
            "failed_reassemblies": number,
            "timed_out_reassemblies": sum(c.timed_out for c in counts),
            "fragments": sum(c.fragments for c in counts),
            "worst_failed_percent": max(c.failed_percent for c in counts),
            "seconds": max(c.seconds for c in counts),
        },
        seen=(
            *some([_line(c) for c in worst]),
            *some([line for c in worst for line in _reasons(c)] if not lost else []),
            *some(hash_lines(hashing)),
            *(mtu_line(network, mtu, pieces, size) for network, mtu, pieces in fragmenting(cluster, size)),
            *(
                f"{named(same, 'node')}: net.ipv4.ipfrag_high_thresh is {memory[same[0]]:,} bytes"
                for same in alike(memory, lambda n: memory[n])
            ),
        ),
        expected=("None failed",),
        next=_next(cluster, nodes, fault, max(memory.values(), default=0), hashing),
        evidence=[(node, topic) for node in nodes for topic in (TOPIC, "sysctls")],
        nodes=nodes,
        extent=(max(c.failed_percent for c in counts), "% of fragments in vain"),
        observed=failed_reassemblies(counts, are_lost=lost),
    )


def _line(counts: NodeCounts) -> str:
    timed_out = "all" if counts.timed_out == counts.failed else f"{counts.timed_out:,}"
    return (
        f"{counts.node}: {counts.failed:,} reassemblies failed, {timed_out} by timeout; "
        f"{counted(counts.fragments, 'fragment')} arrived ({percent(counts.failed_percent)})"
    )


def _reasons(counts: NodeCounts) -> list[str]:
    """Return what the kernel shows of the reasons that it does not count apart."""
    used = counts.fragment_memory_bytes
    return [
        *([f"{counts.node}: {used:,} bytes in reassembly at a reading"] if used is not None else []),
        *([f"{counts.node}: IpExt ReasmOverlaps grew by {counts.overlapping:,}"] if counts.overlapping else []),
    ]


def _next(
    cluster: Cluster, nodes: Sequence[str], fault: ReassemblyFault, memory: int, hashing: Sequence[CarryingNic]
) -> Sequence[NextStep]:
    if fault is ReassemblyFault.LOST:
        return _lost_next(cluster, nodes, hashing)
    names = named(nodes, "node")
    if fault is ReassemblyFault.NO_ROOM:
        return _room_next(names, memory)
    return (
        NextStep(
            "Watch the memory in use while the count grows, and compare it with the limit.",
            (
                "nstat -az IpReasmFails IpExtReasmOverlaps",
                "cat /proc/net/sockstat",
                "sysctl net.ipv4.ipfrag_high_thresh",
            ),
            f"any user on {names}",
        ),
        on_nics(
            cluster,
            nodes,
            "Check whether fragments of one packet can take several links or queues: a bond in balance-rr, and a hash "
            "over ports, which only first fragments have.",
            (
                "grep -H 'Bonding Mode' /proc/net/bonding/*",
                "ethtool -n {nic} rx-flow-hash udp4",
                "sysctl net.ipv4.ipfrag_max_dist",
            ),
            f"any user on {names}",
        ),
        *without_ports(hashing),
        *plan_jumbo(cluster, cluster.block_size_bytes or USUAL_BLOCK_BYTES),
    )


def _lost_next(cluster: Cluster, nodes: Sequence[str], hashing: Sequence[CarryingNic]) -> Sequence[NextStep]:
    flows = flows_of(cluster)
    losing = networks_that_lose_fragments(flows) if flows else {}
    text, commands = "drops and the ring buffers", ("ip -s -s link show {nic}", "ethtool -S {nic}", "ethtool -g {nic}")
    where = f"any user on {named(nodes, 'node')}"
    nics = on_nics(cluster, nodes, f"Check the {text} of the private NICs.", commands, where)
    first: list[NextStep] = []
    if losing:
        counts = listed(f"{lost} of {sent} blocks in fragments" for lost, sent in losing.values())
        first = [NextStep(f"Look at {listed(losing)} first: {counts} got no answer there.")]
        names = [network.interface for network in cluster.read_networks() if network.name in losing]
        each = [line for command in commands for line in for_each(command, nic=names)]
        nics = NextStep(f"Check the {text} of the NICs on {listed(losing)}.", tuple(each), where)
    return (
        *first,
        NextStep("Check whether the paths lose packets.", ("racwire check df-ping mtu-consistency",)),
        nics,
        NextStep("Ask the network team for discards and errors of the switch ports of these nodes and of their peers."),
        *without_ports(hashing),
        *plan_jumbo(cluster, cluster.block_size_bytes or USUAL_BLOCK_BYTES),
    )


def _room_next(nodes: str, memory: int) -> Sequence[NextStep]:
    wanted = max(_USUAL_BYTES, 2 * memory)
    return (
        NextStep(
            "Display how much memory is in use.",
            ("cat /proc/net/sockstat", "sysctl net.ipv4.ipfrag_high_thresh"),
            f"any user on {nodes}",
        ),
        NextStep(
            "Raise the limit on one node after the other, and in /etc/sysctl.d; it takes effect at once.",
            (shell("sysctl -w net.ipv4.ipfrag_high_thresh={wanted}", wanted=wanted),),
            f"root on {nodes}",
            is_change=True,
        ),
    )


def _whole(cluster: Cluster, whole: Sequence[NodeCounts]) -> Finding:
    fragments = sum(c.fragments for c in whole)
    nodes = named((c.node for c in whole), "node")
    time = time_of(whole)
    return WHOLE.finding(
        f"{nodes} reassembled all of {counted(fragments, 'fragment')} in {time}."
        if fragments > 1
        else f"No fragments arrived at {nodes} in {time}, and no reassembly failed.",
        subject=f"{counted(fragments, 'fragment')}, none failed",
        seen=(
            *some([f"{c.node}: {counted(c.fragments, 'fragment')}, 0 failed" for c in whole]),
            *beside_udp(cluster, [c.node for c in whole]),
        ),
        evidence=[(c.node, TOPIC) for c in whole],
        observed=read_on(WHOLE.code, [c.node for c in whole]),
    )
