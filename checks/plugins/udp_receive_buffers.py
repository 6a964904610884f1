"""Do the nodes throw away datagrams that have arrived: for want of buffers, for a wrong checksum, for a busy CPU?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.facts import Cluster, Unknown
from checks.finding import Finding, Remedy, Status
from checks.plugin import Kind, check
from checks.plugins._instances import sentence, span
from checks.plugins._node_counts import TOPIC, NodeCounts, counts_of, lacks, sysctl, without_counts
from checks.wording import counted, listed

NONE_DROPPED = Kind("IC-UDP-001", "No datagram is thrown away after it has arrived")
OVERFLOWED = Kind(
    "IC-UDP-002",
    "The receive buffers of a node's sockets overflow",
    "Blocks cross the network and are thrown away at the end of the way, since the process that wants them does not "
    "read them fast enough or its buffer is too small. The instance counts them as lost.",
    ("MOS 563566.1, cause 2", "Database Installation Guide, minimum parameter settings"),
)
CHECKSUM = Kind(
    "IC-UDP-003",
    "Datagrams arrive with a wrong checksum",
    "Something on the way, or a NIC that computes checksums, changes what it carries; the kernel throws it away.",
    ("MOS 563566.1, cause 4",),
)
BACKLOG = Kind(
    "IC-UDP-004",
    "A node's CPUs do not take packets as fast as they come",
    "Packets that the NIC has received are dropped before the kernel looks at them.",
    ("MOS 563566.1, causes 17 and 19", "Linux kernel documentation, net.core.netdev_max_backlog"),
)
OTHER = Kind(
    "IC-UDP-005",
    "A node counts other errors of datagrams",
    "They were thrown away for a reason that the kernel does not count by itself.",
    ("MOS 563566.1, cause 2",),
)
NOT_KNOWN = Kind("IC-UDP-006", "Whether a node throws datagrams away is not known")

MINIMUM = {
    "net.core.rmem_default": 262_144,
    "net.core.rmem_max": 4_194_304,
}
"""Bytes, the same from 11.2 to 26ai: Database Installation Guide, minimum parameter settings for installation."""
_WANTED = ("Udp.RcvbufErrors", "Udp.InErrors")


@check(
    "udp-receive-buffers",
    question="Does every datagram that arrives reach its process?",
    needs=("counters",),
    uses=("nodes",),
    kinds=(NONE_DROPPED, OVERFLOWED, CHECKSUM, BACKLOG, OTHER, NOT_KNOWN),
)
def udp_receive_buffers(cluster: Cluster) -> Iterator[Finding]:
    """Compares what each node's kernel counted of UDP between two readings, never since boot.

    Datagrams that found their socket's receive buffer full (RcvbufErrors), or all memory for UDP used up (MemErrors),
    are lost blocks: a failure, however few. Wrong checksums, other errors, and packets dropped from a CPU's backlog
    (softnet_stat) are warnings. The sizes of the buffers are held against Oracle's minimum. The counters are those of
    the whole node: sockets that are not Oracle's count, too.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    blind = dict(lacks(changes, _WANTED))
    fine, bad = [], set()
    for counts in (counts_of(change) for change in changes.nodes):
        faults = list(_faults(cluster, counts))
        yield from faults
        if faults:
            bad.add(counts.node)
        elif counts.node not in blind:
            fine.append(counts)
    if fine:
        yield _none_dropped(cluster, fine)
    unknown = {n: why for n, why in {**without_counts(cluster), **blind}.items() if n not in bad}
    for node, reason in unknown.items():
        yield _not_known(node, reason)
    if not fine and not bad and not unknown:
        yield NOT_KNOWN.finding(Status.UNKNOWN, "No node's counters could be read twice.", subject="no node")


def _faults(cluster: Cluster, counts: NodeCounts) -> Iterator[Finding]:
    node, time = counts.node, span(counts.seconds)
    if counts.overflowed or counts.no_memory:
        yield _overflowed(cluster, counts)
    if counts.bad_checksums:
        yield CHECKSUM.finding(
            Status.WARN,
            f"{counted(counts.bad_checksums, 'datagram')} arrived at {node} with a wrong checksum in {time}.",
            subject=f"{node}: {counts.bad_checksums:,} wrong checksums",
            seen=(f"Udp InCsumErrors grew by {counts.bad_checksums:,}", _base(counts)),
            expected=("0",),
            next=[
                Remedy(
                    "Look at the errors of the private NICs; then try them without checksum offloading, in a window.",
                    ("ethtool -S ETH", "ethtool -k ETH"),
                    f"root on {node}",
                )
            ],
            evidence=[(node, TOPIC)],
            nodes=[node],
        )
    if counts.backlog_dropped:
        backlog = sysctl(cluster, node, "net.core.netdev_max_backlog")
        yield BACKLOG.finding(
            Status.WARN,
            f"{node} dropped {counted(counts.backlog_dropped, 'packet')} in {time} before looking at them: its CPUs "
            "are too slow for what comes.",
            subject=f"{node}: backlog {counts.backlog_dropped:,}",
            seen=(
                f"/proc/net/softnet_stat, second column, all CPUs: +{counts.backlog_dropped:,}",
                *([f"net.core.netdev_max_backlog is {backlog:,}"] if backlog is not None else []),
            ),
            expected=("0",),
            next=[
                Remedy(
                    "See which CPUs serve the NICs' interrupts, and how busy they are.",
                    ("mpstat -P ALL 1 5", "cat /proc/interrupts", "systemctl is-active irqbalance"),
                    f"root on {node}",
                )
            ],
            evidence=[(node, TOPIC)],
            nodes=[node],
        )
    if counts.other_errors:
        yield OTHER.finding(
            Status.WARN,
            f"{node} threw {counted(counts.other_errors, 'datagram')} away in {time} for a reason it does not tell.",
            subject=f"{node}: {counts.other_errors:,} errors",
            seen=(f"Udp InErrors beyond those of a known cause: +{counts.other_errors:,}", _base(counts)),
            expected=("0",),
            next=[Remedy("See which sockets count drops.", ("ss -uanm",), f"root on {node}")],
            evidence=[(node, TOPIC)],
            nodes=[node],
        )


def _overflowed(cluster: Cluster, counts: NodeCounts) -> Finding:
    node, time = counts.node, span(counts.seconds)
    number = counted(counts.overflowed + counts.no_memory, "datagram")
    by_memory = counts.no_memory > counts.overflowed
    small = _below_minimum(cluster, node)
    return OVERFLOWED.finding(
        Status.FAIL,
        f"{node} threw {number} away in {time}: "
        + ("all its memory for UDP was used up." if by_memory else "the receive buffers of their sockets were full."),
        subject=f"{node}: {counts.overflowed + counts.no_memory:,} overflowed",
        seen=(
            f"Udp RcvbufErrors grew by {counts.overflowed:,}"
            + (f", MemErrors by {counts.no_memory:,}" if counts.no_memory else ""),
            _base(counts),
            *_sizes(cluster, node),
        ),
        expected=("0", *(f"{key} of {MINIMUM[key]:,} bytes or more" for key in small)),
        next=[
            Remedy("See whose sockets they are: the column d of ss counts drops.", ("ss -uanmp",), f"root on {node}"),
            Remedy(
                "Raise the buffers on one node after the other, and in /etc/sysctl.d as well; processes that run keep "
                "theirs until they are restarted.",
                tuple(f"sysctl -w {key}={MINIMUM[key]}" for key in small)
                or ("sysctl -w net.core.rmem_max=16777216", "sysctl -w net.core.rmem_default=4194304"),
                f"root on {node}",
                is_change=True,
            ),
            Remedy(
                "If they are large already: see how busy the node is, and that the LMS processes run in the real-time "
                "class.",
                ("ps -eo cls,rtprio,pcpu,comm | grep lms",),
                f"root on {node}",
            ),
        ],
        evidence=[(node, TOPIC), (node, "sysctls")],
        nodes=[node],
    )


def _none_dropped(cluster: Cluster, fine: Sequence[NodeCounts]) -> Finding:
    datagrams = sum(c.datagrams for c in fine)
    small = [line for c in fine for line in _sizes(cluster, c.node, only_small=True)]
    return NONE_DROPPED.finding(
        Status.PASS,
        f"{listed(c.node for c in fine)} delivered {counted(datagrams, 'datagram')} in "
        f"{span(max(c.seconds for c in fine))} and threw none away.",
        subject=f"{counted(datagrams, 'datagram')}, none dropped",
        seen=(*(f"{c.node}: {counted(c.datagrams, 'datagram')}, no error" for c in fine), *small),
        evidence=[(c.node, TOPIC) for c in fine],
    )


def _base(counts: NodeCounts) -> str:
    return f"{counted(counts.datagrams, 'datagram')} delivered in the same {span(counts.seconds)}"


def _below_minimum(cluster: Cluster, node: str) -> list[str]:
    return [
        key for key, least in MINIMUM.items() if (value := sysctl(cluster, node, key)) is not None and value < least
    ]


def _sizes(cluster: Cluster, node: str, only_small: bool = False) -> list[str]:
    small = _below_minimum(cluster, node)
    return [
        f"{node}: {key} is {value:,} bytes{f', less than the minimum of {MINIMUM[key]:,}' if key in small else ''}"
        for key in MINIMUM
        if (value := sysctl(cluster, node, key)) is not None and (key in small or not only_small)
    ]


def _not_known(node: str, reason: str) -> Finding:
    return NOT_KNOWN.finding(
        Status.UNKNOWN,
        f"Whether {node} throws datagrams away is not known: {sentence(reason)}",
        subject=f"{node}: not known",
        seen=(reason,),
        next=[
            Remedy("Mend the reason named above, then run this check again.", ("racwire check udp-receive-buffers",))
        ],
        evidence=[(node, TOPIC), (node, "ssh")],
        nodes=[node],
    )
