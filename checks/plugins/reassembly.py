"""Can the nodes put the fragments together that arrive, and if not: are fragments lost, or is there no room?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.facts import Cluster, Unknown
from checks.finding import Finding, Remedy, Status
from checks.plugin import Kind, check
from checks.plugins._instances import percent, sentence, span
from checks.plugins._loss_signs import block_bytes, fragmenting, mtu_line
from checks.plugins._node_counts import TOPIC, NodeCounts, counts_of, lacks, sysctl, without_counts
from checks.wording import counted, listed

_CAUSE_3 = "MOS 563566.1, cause 3"

WHOLE = Kind("IC-REASM-001", "Every fragmented packet could be put together")
LOST = Kind(
    "IC-REASM-002",
    "Fragments get lost on the way to a node",
    "A packet with one fragment missing is thrown away whole after a while: its block is lost. Most failures here are "
    "such waits in vain, so more memory does not help.",
    (_CAUSE_3, "Linux kernel documentation, ip-sysctl"),
)
NO_ROOM = Kind(
    "IC-REASM-003",
    "A node has too little memory for reassembly",
    "Fragments that arrive are thrown away since net.ipv4.ipfrag_high_thresh is used up: hardly any packet waited in "
    "vain for one. Their blocks are lost.",
    (_CAUSE_3, "MOS 2008933.1", "Linux kernel documentation, ip-sysctl"),
)
NOT_KNOWN = Kind("IC-REASM-004", "Whether a node can put fragments together is not known")

_WANTED = ("Ip.ReasmFails", "Ip.ReasmReqds")
_USUAL_BYTES = 16 * 1024 * 1024
"""What MOS 2008933.1 sets: some 130,000 bytes for each CPU, 16 MB on most machines."""


@check(
    "reassembly",
    question="Can the nodes put the fragments together that arrive?",
    needs=("counters",),
    uses=("database", "nodes", "networks"),
    kinds=(WHOLE, LOST, NO_ROOM, NOT_KNOWN),
)
def reassembly(cluster: Cluster) -> Iterator[Finding]:
    """Compares what each node's kernel counted of reassembly between two readings, never since boot.

    Any failure is a warning; from reassembly_fail_percent of the fragments on it is a failure. Failures that are
    waits in vain mean that fragments get lost: MTU, switch, ring. Failures without such waits mean that there was no
    memory to hold the fragments. The counters are those of the whole node: fragments on a public network count, too.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    blind = dict(lacks(changes, _WANTED))
    counts = [counts_of(change) for change in changes.nodes]
    failing = [c for c in counts if c.failed]
    yield from (_failing(cluster, c) for c in failing)
    whole = [c for c in counts if not c.failed and c.node not in blind]
    if whole:
        yield _whole(cluster, whole)
    for node, reason in {**without_counts(cluster), **blind}.items():
        if node not in {c.node for c in failing}:
            yield _not_known(node, reason)
    if not counts and not without_counts(cluster):
        yield NOT_KNOWN.finding(Status.UNKNOWN, "No node's counters could be read twice.", subject="no node", seen=())


def _failing(cluster: Cluster, counts: NodeCounts) -> Finding:
    node, time = counts.node, span(counts.seconds)
    grave = counts.failed_percent >= cluster.thresholds.reassembly_fail_percent
    size = block_bytes(cluster)
    memory = sysctl(cluster, node, "net.ipv4.ipfrag_high_thresh")
    seen = (
        f"{counts.failed:,} reassemblies failed, {counts.timed_out:,} of them waited in vain for a fragment",
        f"{counted(counts.fragments, 'fragment')} arrived in {time}: {percent(counts.failed_percent)} failed",
        *(mtu_line(network, mtu, pieces, size) for network, mtu, pieces in fragmenting(cluster, size)),
        *([f"net.ipv4.ipfrag_high_thresh is {memory:,} bytes"] if memory is not None else []),
    )
    failed = counted(counts.failed, "packet")
    lost = counts.lost_fragments
    title = (
        f"{node} gave up on {failed} in {time} because fragments of them never came."
        if lost
        else f"{node} threw {failed} away in {time} because it had no room to put their fragments together."
    )
    return (LOST if lost else NO_ROOM).finding(
        Status.FAIL if grave else Status.WARN,
        title,
        subject=f"{node}: {counts.failed:,} failed",
        seen=seen,
        expected=("None failed",),
        next=_lost_next(node) if lost else _room_next(node, memory),
        evidence=[(node, TOPIC)],
        nodes=[node],
    )


def _lost_next(node: str) -> Sequence[Remedy]:
    return (
        Remedy("See whether the paths lose packets.", ("racwire check df-ping mtu-consistency",)),
        Remedy(
            "Look at the drops and at the rings of the private NICs.",
            ("ip -s -s link show ETH", "ethtool -S ETH", "ethtool -g ETH"),
            f"root on {node}",
        ),
        Remedy(f"Ask the network team for discards and errors of the ports of {node} and of its peers."),
        Remedy(
            "Plan jumbo frames, so that a block is one packet; switches first, with Clusterware down on all nodes.",
            is_change=True,
        ),
    )


def _room_next(node: str, memory: int | None) -> Sequence[Remedy]:
    wanted = max(_USUAL_BYTES, 2 * (memory or 0))
    return (
        Remedy(
            "See how much is in use.",
            ("cat /proc/net/sockstat", "sysctl net.ipv4.ipfrag_high_thresh"),
            f"any user on {node}",
        ),
        Remedy(
            "Raise it on one node after the other, and in /etc/sysctl.d as well; it takes effect at once.",
            (f"sysctl -w net.ipv4.ipfrag_high_thresh={wanted}",),
            f"root on {node}",
            is_change=True,
        ),
    )


def _whole(cluster: Cluster, whole: Sequence[NodeCounts]) -> Finding:
    fragments = sum(c.fragments for c in whole)
    nodes = listed(c.node for c in whole)
    time = span(max(c.seconds for c in whole))
    return WHOLE.finding(
        Status.PASS,
        f"{nodes} put all of {counted(fragments, 'fragment')} together in {time}."
        if fragments > 1
        else f"No fragments arrived at {nodes} in {time}, and none was missed.",
        subject=f"{counted(fragments, 'fragment')}, none failed",
        seen=tuple(f"{c.node}: {counted(c.fragments, 'fragment')}, 0 failed" for c in whole),
        evidence=[(c.node, TOPIC) for c in whole],
    )


def _not_known(node: str, reason: str) -> Finding:
    return NOT_KNOWN.finding(
        Status.UNKNOWN,
        f"Whether {node} can put fragments together is not known: {sentence(reason)}",
        subject=f"{node}: not known",
        seen=(reason,),
        next=[Remedy("Mend the reason named above, then run this check again.", ("racwire check reassembly",))],
        evidence=[(node, TOPIC), (node, "ssh")],
        nodes=[node],
    )
