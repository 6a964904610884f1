"""Do the nodes drop datagrams that arrived: for lack of buffers, a wrong checksum, or a busy CPU?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from checks.model.check import Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import counted
from checks.plugins.shared.counter_text import TOPIC, highest_rate, unknown_nodes_findings
from checks.plugins.shared.engineered_notes import beside_udp
from checks.plugins.shared.grouping import alike, briefly, named, some, time_of
from checks.plugins.shared.host_facts import LMS_THREADS
from checks.plugins.shared.private_nics import on_nics
from checks.plugins.shared.settings_text import plan_of
from checks.rules.buffer_sizes import RECEIVE_MINIMUM, below_minimum, proposed
from checks.rules.node_counts import (
    NodeCounts,
    counts_of,
    datagram_status,
    lacks,
    overflow_status,
    sysctl,
    without_counts,
)
from checks.rules.observed.counted_packets import backlog_drops, bad_checksums, other_errors, overflows
from checks.rules.observed.states import read_on

NONE_DROPPED = PassKind("IC-UDP-001", "No datagram is dropped after its arrival")
OVERFLOWED = Kind(
    "IC-UDP-002",
    "The receive buffers of a node's sockets overflow",
    "Blocks cross the network and are dropped at the receiving node, because the process does not read them fast "
    "enough or its buffer is too small. The instance counts them as lost.",
    ("MOS 563566.1, cause 2", "Database Installation Guide, minimum parameter settings"),
)
CHECKSUM = Kind(
    "IC-UDP-003",
    "Datagrams arrive with a wrong checksum",
    "A device on the path, or a NIC that computes checksums, corrupts the data; the kernel drops the datagram.",
    ("MOS 563566.1, cause 4",),
)
BACKLOG = Kind(
    "IC-UDP-004",
    "The CPUs of a node do not process packets as fast as they arrive",
    "The kernel drops packets that the NIC has received, before it processes them.",
    ("MOS 563566.1, causes 17 and 19", "Linux kernel documentation, net.core.netdev_max_backlog"),
)
OTHER = WarnKind(
    "IC-UDP-005",
    "A node counts other errors of datagrams",
    "The kernel dropped the datagrams for a reason that has no counter of its own.",
    ("MOS 563566.1, cause 2",),
)
NOT_KNOWN = UnknownKind("IC-UDP-006", "Whether a node drops datagrams is not known")

_WANTED = ("Udp.RcvbufErrors", "Udp.InErrors")


@check(
    "udp-receive-buffers",
    question="Does every datagram that arrives reach its process?",
    needs=("counters",),
    uses=("nodes", "networks"),
    only_ipv4="it reads the counters of datagrams of IPv4",
    shows=(ConditionKind.RECEIVE_BUFFERS, ConditionKind.CHECKSUMS, ConditionKind.BACKLOG),
    kinds=(NONE_DROPPED, OVERFLOWED, CHECKSUM, BACKLOG, OTHER, NOT_KNOWN),
)
def udp_receive_buffers(cluster: Cluster) -> Iterator[Finding]:
    """Compares the UDP counters of each node's kernel between two readings, never since boot.

    Datagrams that arrived at a full receive buffer (RcvbufErrors), or when all memory for UDP was used up (MemErrors),
    are lost blocks: a failure, however few. Wrong checksums, other errors, and packets dropped from a CPU's backlog
    (softnet_stat) are warnings. The check compares the sizes of the buffers with Oracle's minimum. The counters are
    those of the whole node: sockets of other programs count, too.
    """
    changes = cluster.counters
    if isinstance(changes, Unknown):
        return
    blind = dict(lacks(changes, _WANTED))
    counts = [counts_of(change) for change in changes.nodes]
    yield from _overflowed(cluster, counts)
    yield from _bad_checksums(cluster, [c for c in counts if c.bad_checksums])
    yield from _backlog(cluster, [c for c in counts if c.backlog_dropped])
    yield from _other_errors([c for c in counts if c.other_errors])
    bad = {c.node for c in counts if c.dropped_any}
    fine = [c for c in counts if c.node not in bad and c.node not in blind]
    if fine:
        yield _none_dropped(cluster, fine)
    unknown = {n: why for n, why in {**without_counts(cluster), **blind}.items() if n not in bad}
    yield from unknown_nodes_findings(cluster, NOT_KNOWN, "Whether {} drops datagrams", "udp-receive-buffers", unknown)


def _overflowed(cluster: Cluster, counts: Sequence[NodeCounts]) -> Iterator[Finding]:
    full = [c for c in counts if c.overflowed or c.no_memory]
    for same in alike(full, lambda c: c.no_memory > c.overflowed):
        nodes, number = [c.node for c in same], sum(c.overflowed + c.no_memory for c in same)
        by_memory = same[0].no_memory > same[0].overflowed
        where = f"root on {named(nodes, 'node')}"
        small = [key for key in RECEIVE_MINIMUM if any(key in below_minimum(cluster, n) for n in nodes)]
        yield OVERFLOWED.finding(
            f"{named(nodes, 'node')} dropped {counted(number, 'datagram')} in {time_of(same)}: "
            + ("all memory for UDP was used up." if by_memory else "the receive buffers of their sockets were full."),
            status=overflow_status(same[0]),
            subject=f"{briefly(nodes, 'node')}: {number:,} overflowed",
            data={"overflowed_datagrams": number, "memory_used_up": by_memory, "seconds": max(c.seconds for c in same)},
            seen=(
                *_worst(
                    same,
                    lambda c: c.overflowed + c.no_memory,
                    lambda c: (
                        f"{c.node}: Udp RcvbufErrors grew by {c.overflowed:,}"
                        + (f", MemErrors by {c.no_memory:,}" if c.no_memory else "")
                    ),
                ),
                *some([line for n in nodes for line in _sizes(cluster, n)]),
            ),
            expected=("0", *(f"{key} of {RECEIVE_MINIMUM[key]:,} bytes or more" for key in small)),
            next=[
                NextStep("Find the sockets: the column d of ss counts drops.", ("ss -uanmp",), where),
                NextStep(
                    "If the buffers are already large, check how busy the nodes are, and the scheduling class of LMS: "
                    "RR for one thread of each.",
                    ("mpstat -P ALL 1 5", LMS_THREADS),
                    f"any user on {named(nodes, 'node')}",
                ),
                plan_of("receive-buffers"),
                NextStep(
                    "Raise the buffers on one node after the other, and in /etc/sysctl.d. Running processes keep their "
                    "buffers until they are restarted.",
                    tuple(
                        shell("sysctl -w {key}={size}", key=key, size=size)
                        for key, size in proposed(cluster, nodes).items()
                    ),
                    where,
                    is_change=True,
                ),
            ],
            evidence=[(node, topic) for node in nodes for topic in (TOPIC, "sysctls")],
            nodes=nodes,
            extent=highest_rate(same, lambda c: c.overflowed + c.no_memory, "datagrams"),
            observed=overflows(same),
        )


def _bad_checksums(cluster: Cluster, counts: Sequence[NodeCounts]) -> Iterator[Finding]:
    nodes, number = [c.node for c in counts], sum(c.bad_checksums for c in counts)
    if counts:
        yield CHECKSUM.finding(
            f"{counted(number, 'datagram')} arrived at {named(nodes, 'node')} with a wrong checksum in "
            f"{time_of(counts)}.",
            status=datagram_status(number),
            subject=f"{briefly(nodes, 'node')}: {number:,} wrong checksums",
            data={"wrong_checksums": number, "seconds": max(c.seconds for c in counts)},
            seen=_worst(
                counts, lambda c: c.bad_checksums, lambda c: f"{c.node}: Udp InCsumErrors grew by {c.bad_checksums:,}"
            ),
            expected=("0",),
            next=[
                on_nics(
                    cluster,
                    nodes,
                    "Check the errors and the offloading of the private NICs.",
                    ("ethtool -S {nic}", "ethtool -k {nic}"),
                    f"any user on {named(nodes, 'node')}",
                ),
                on_nics(
                    cluster,
                    nodes[:1],
                    "Try one NIC of one node without checksum offloading, in a maintenance window.",
                    ("ethtool -K {nic} rx off tx off",),
                    f"root on {nodes[0]}",
                    is_change=True,
                ),
            ],
            evidence=[(node, TOPIC) for node in nodes],
            nodes=nodes,
            extent=highest_rate(counts, lambda c: c.bad_checksums, "datagrams"),
            observed=bad_checksums(counts),
        )


def _backlog(cluster: Cluster, counts: Sequence[NodeCounts]) -> Iterator[Finding]:
    nodes, number = [c.node for c in counts], sum(c.backlog_dropped for c in counts)
    sizes = {n: size for n in nodes if (size := sysctl(cluster, n, "net.core.netdev_max_backlog")) is not None}
    if counts:
        yield BACKLOG.finding(
            f"{named(nodes, 'node')} dropped {counted(number, 'packet')} in {time_of(counts)} before processing them: "
            "the CPUs are too slow for the traffic.",
            status=datagram_status(number),
            subject=f"{briefly(nodes, 'node')}: backlog {number:,}",
            data={"dropped_packets": number, "seconds": max(c.seconds for c in counts)},
            seen=(
                *_worst(
                    counts,
                    lambda c: c.backlog_dropped,
                    lambda c: f"{c.node}: /proc/net/softnet_stat, second column, all CPUs: +{c.backlog_dropped:,}",
                ),
                *(
                    f"{named(same, 'node')}: net.core.netdev_max_backlog is {sizes[same[0]]:,}"
                    for same in alike(sizes, lambda n: sizes[n])
                ),
            ),
            expected=("0",),
            next=[
                NextStep(
                    "Find out which CPUs serve the interrupts of the NICs, and how busy they are.",
                    ("mpstat -P ALL 1 5", "cat /proc/interrupts", "systemctl is-active irqbalance"),
                    f"any user on {named(nodes, 'node')}",
                )
            ],
            evidence=[(node, topic) for node in nodes for topic in (TOPIC, "sysctls")],
            nodes=nodes,
            extent=highest_rate(counts, lambda c: c.backlog_dropped, "packets"),
            observed=backlog_drops(counts),
        )


def _other_errors(counts: Sequence[NodeCounts]) -> Iterator[Finding]:
    nodes, number = [c.node for c in counts], sum(c.other_errors for c in counts)
    if counts:
        yield OTHER.finding(
            f"{named(nodes, 'node')} dropped {counted(number, 'datagram')} in {time_of(counts)} for a reason that the "
            "kernel does not report.",
            subject=f"{briefly(nodes, 'node')}: {number:,} errors",
            data={"error_datagrams": number, "seconds": max(c.seconds for c in counts)},
            seen=_worst(
                counts,
                lambda c: c.other_errors,
                lambda c: f"{c.node}: Udp InErrors beyond those of a known cause: +{c.other_errors:,}",
            ),
            expected=("0",),
            next=[NextStep("Find the sockets that count drops.", ("ss -uanm",), f"any user on {named(nodes, 'node')}")],
            evidence=[(node, TOPIC) for node in nodes],
            nodes=nodes,
            extent=highest_rate(counts, lambda c: c.other_errors, "datagrams"),
            observed=other_errors(counts),
        )


def _none_dropped(cluster: Cluster, fine: Sequence[NodeCounts]) -> Finding:
    datagrams = sum(c.datagrams for c in fine)
    small = [line for c in fine for line in _sizes(cluster, c.node, only_small=True)]
    return NONE_DROPPED.finding(
        f"{named((c.node for c in fine), 'node')} delivered {counted(datagrams, 'datagram')} in "
        f"{time_of(fine)} and dropped none at a socket.",
        subject=f"{counted(datagrams, 'datagram')}, none dropped",
        seen=(
            *some([f"{c.node}: {counted(c.datagrams, 'datagram')}, no error" for c in fine]),
            *some(small),
            *beside_udp(cluster, [c.node for c in fine]),
        ),
        evidence=[(c.node, TOPIC) for c in fine],
        observed=read_on(NONE_DROPPED.code, [c.node for c in fine]),
    )


def _worst(
    counts: Sequence[NodeCounts], number: Callable[[NodeCounts], int], line: Callable[[NodeCounts], str]
) -> tuple[str, ...]:
    """Return a line for each node, the worst first, and the number of datagrams delivered in the same time."""
    worst = sorted(counts, key=lambda c: (-number(c), c.node))
    return (
        *some([line(c) for c in worst]),
        f"{counted(sum(c.datagrams for c in counts), 'datagram')} delivered in the same {time_of(counts)}",
    )


def _sizes(cluster: Cluster, node: str, only_small: bool = False) -> list[str]:
    small = below_minimum(cluster, node)
    return [
        f"{node}: {key} is {value:,} bytes{f', less than the minimum of {least:,}' if key in small else ''}"
        for key, least in RECEIVE_MINIMUM.items()
        if (value := sysctl(cluster, node, key)) is not None and (key in small or not only_small)
    ]
