"""The counters of one node's kernel that show harm to a private interconnect, as differences over the interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from checks.model.facts import Cluster, CounterChange, CounterChanges, Thresholds, TrackedConnections, Unknown, Unread
from checks.model.finding import Status
from checks.model.fragment_memory import LEAST_FRAGMENT_BYTES


@dataclass(frozen=True)
class NodeCounts:
    """Differences over the interval, never totals; a counter that this kernel lacks is 0."""

    node: str
    seconds: float
    fragments: int
    """Fragments that arrived: Ip.ReasmReqds."""
    failed: int
    """Packets that could not be reassembled: Ip.ReasmFails."""
    timed_out: int
    """Failed packets with a fragment missing at the timeout: Ip.ReasmTimeout."""
    datagrams: int
    """Delivered datagrams: Udp.InDatagrams."""
    overflowed: int
    """Datagrams dropped because a socket's receive buffer was full: Udp.RcvbufErrors."""
    no_memory: int
    """Datagrams dropped because net.ipv4.udp_mem was used up: Udp.MemErrors."""
    bad_checksums: int
    """Udp.InCsumErrors."""
    other_errors: int
    """Other datagram errors: Udp.InErrors without those above."""
    backlog_dropped: int
    """Packets dropped because a CPU's backlog was full: second column of softnet_stat."""
    reverse_path: int
    """Packets that rp_filter dropped: TcpExt.IPReversePathFilter."""
    received: int = 0
    """Packets that arrived: Ip.InReceives."""
    vanished: int = 0
    """Packets that arrived and were neither delivered nor dropped for a reason that the kernel counts."""
    rejected: int = 0
    """Packets answered with `destination unreachable`: IcmpMsg.OutType3."""
    overlapping: int = 0
    """Fragments that overlapped others, for which the kernel drops the packet: IpExt.ReasmOverlaps."""
    fragment_memory_bytes: int | None = None
    """The memory of packets in reassembly at a reading; None where it is not known."""

    @property
    def lost_fragments(self) -> bool:
        """Whether fragments were lost: then most failures are timeouts.

        Kernel documentation, ip-sysctl; MOS 563566.1, cause 3: in its example both counters are equal.
        """
        return 2 * self.timed_out >= self.failed

    @property
    def shows_loss(self) -> bool:
        """Whether the kernel dropped packets that may have carried blocks."""
        return any(
            (
                self.overflowed,
                self.no_memory,
                self.failed,
                self.bad_checksums,
                self.reverse_path,
                self.backlog_dropped,
            )
        )

    @property
    def dropped_any(self) -> int:
        """Datagrams and packets dropped after their arrival, for any reason."""
        return self.overflowed + self.no_memory + self.bad_checksums + self.other_errors + self.backlog_dropped

    @property
    def failed_percent(self) -> float:
        """Failures in percent of the fragments; 100 where no fragment arrived in the interval."""
        return min(100.0, 100 * self.failed / self.fragments) if self.fragments > 0 else 100.0


_COUNTED_DROPS = (
    ("Ip", "InHdrErrors"), ("Ip", "InAddrErrors"), ("Ip", "InUnknownProtos"), ("Ip", "InDiscards"),
    ("Ip", "ForwDatagrams"),
    ("IpExt", "InNoRoutes"), ("IpExt", "InTruncatedPkts"), ("IpExt", "InCsumErrors"), ("IpExt", "InMcastPkts"),
    ("IpExt", "InBcastPkts"), ("TcpExt", "IPReversePathFilter"),
)  # fmt: skip
"""What the kernel counts of packets that it received and did not deliver, and packets that a node may ignore."""
_LEAST_VANISHED, _LEAST_VANISHED_PERCENT = 10, 0.1
"""Fewer vanished packets are no finding: the counters are not read at one instant. Ours."""
_LEAST_BESIDE_LOSS = 3
"""Vanished packets that count where they are at least half as many as the blocks that the node lost. Ours."""


def _vanished(value: Callable[[str, str], int]) -> int:
    """Return the packets of RFC 4293's ipInReceives without ipInDelivers and all that the kernel accounts for.

    Fragments arrive as several packets and are delivered as one.
    """
    in_reassembly = max(0, value("Ip", "ReasmReqds") - value("Ip", "ReasmOKs"))
    accounted = value("Ip", "InDelivers") + in_reassembly + sum(value(*counter) for counter in _COUNTED_DROPS)
    return max(0, value("Ip", "InReceives") - accounted)


def vanish(counts: NodeCounts, lost_blocks: int = 0) -> bool:
    """Return whether more packets vanished at a node than two readings can explain, or most of its lost blocks."""
    if lost_blocks and counts.vanished >= max(_LEAST_BESIDE_LOSS, lost_blocks / 2):
        return True
    return counts.vanished >= max(_LEAST_VANISHED, _LEAST_VANISHED_PERCENT / 100 * counts.received)


def counts_of(change: CounterChange) -> NodeCounts:
    """Return the counters of one node."""

    def value(group: str, name: str) -> int:
        return max(0, change.counters.value(group, name) or 0)

    found = counts_by(value, change.node, change.seconds, change.fragment_memory_bytes)
    table = change.machine.connections
    dropped = table.dropped if isinstance(table, TrackedConnections) else 0
    return replace(found, vanished=max(0, found.vanished - dropped))


def counts_by(
    value: Callable[[str, str], int], node: str, seconds: float, fragment_memory_bytes: int | None = None
) -> NodeCounts:
    """Return the counters of one node by a function from group and name to the growth, which is 0 or more."""
    overflowed, no_memory = value("Udp", "RcvbufErrors"), value("Udp", "MemErrors")
    bad_checksums, timed_out = value("Udp", "InCsumErrors"), value("Ip", "ReasmTimeout")
    return NodeCounts(
        node=node,
        seconds=seconds,
        fragments=value("Ip", "ReasmReqds"),
        failed=max(timed_out, value("Ip", "ReasmFails")),
        timed_out=timed_out,
        datagrams=value("Udp", "InDatagrams"),
        overflowed=overflowed,
        no_memory=no_memory,
        bad_checksums=bad_checksums,
        other_errors=max(0, value("Udp", "InErrors") - overflowed - no_memory - bad_checksums),
        backlog_dropped=value("Softnet", "Dropped"),
        reverse_path=value("TcpExt", "IPReversePathFilter"),
        received=value("Ip", "InReceives"),
        vanished=_vanished(value),
        rejected=value("IcmpMsg", "OutType3"),
        overlapping=value("IpExt", "ReasmOverlaps"),
        fragment_memory_bytes=fragment_memory_bytes,
    )


def own_incomplete(cluster: Cluster, counts: NodeCounts) -> int:
    """Return how many of a node's failed reassemblies can be datagrams of this run: those in fragments that got no
    answer, where the kernel gives them up within the interval."""
    given_up_s = sysctl(cluster, counts.node, "net.ipv4.ipfrag_time")
    if isinstance(cluster.flows, Unknown) or given_up_s is None or given_up_s > counts.seconds:
        return 0
    ports = (port for probe in cluster.flows.probes if probe.to_node == counts.node for port in probe.ports)
    return sum(max(0, port.sent - port.answered) for port in ports if not port.whole)


_NEAR_LIMIT = 0.8
"""The share of ipfrag_high_thresh that counts as used up; the kernel drops before all memory is in use. Ours."""


class ReassemblyFault(Enum):
    """Why packets could not be reassembled. ReasmFails counts all reasons together; only timeouts count apart."""

    LOST = "lost fragments"
    NO_ROOM = "no memory"
    OUT_OF_ORDER = "overlapping fragments, or fragments too far out of order"
    NOT_COUNTED = "memory or order"


def reassembly_fault(cluster: Cluster, counts: NodeCounts) -> ReassemblyFault:
    """Return why packets of a node could not be reassembled, as far as its counters, memory and limit show it."""
    if counts.lost_fragments:
        return ReassemblyFault.LOST
    limit, used = sysctl(cluster, counts.node, "net.ipv4.ipfrag_high_thresh"), counts.fragment_memory_bytes
    if limit is not None and (limit <= LEAST_FRAGMENT_BYTES or (used or 0) >= _NEAR_LIMIT * limit):
        return ReassemblyFault.NO_ROOM
    return ReassemblyFault.OUT_OF_ORDER if 2 * counts.overlapping >= counts.failed else ReassemblyFault.NOT_COUNTED


def reassembly_status(counts: NodeCounts, limits: Thresholds) -> Status:
    """Return the status of a node's reassembly: any failed one is a warning, from the threshold on a failure."""
    if not counts.failed:
        return Status.PASS
    return Status.FAIL if counts.failed_percent >= limits.reassembly_fail_percent else Status.WARN


def overflow_status(counts: NodeCounts) -> Status:
    """Return the status of datagrams that found no room in a receive buffer: each is lost, so any is a failure."""
    return Status.FAIL if counts.overflowed or counts.no_memory else Status.PASS


def datagram_status(dropped: int) -> Status:
    """Return the status of datagrams with a wrong checksum, and of packets dropped from a CPU's backlog."""
    return Status.WARN if dropped else Status.PASS


def node_counts(cluster: Cluster, node: str) -> NodeCounts | None:
    """Return the counters of one node; None where they could not be read twice."""
    change = None if isinstance(cluster.counters, Unknown) else cluster.counters.of(node)
    return counts_of(change) if change else None


def without_counts(cluster: Cluster) -> dict[str, Unread]:
    """Return the nodes whose counters are not known, with the reasons."""
    why: dict[str, Unread] = {n.name: n for n in cluster.unread_nodes()}
    if not isinstance(cluster.counters, Unknown):
        why |= cluster.counters.unread
    return why


def lacks(changes: CounterChanges, wanted: tuple[str, ...]) -> list[tuple[str, Unknown]]:
    """Return the nodes that were read and lack a wanted counter such as `Ip.ReasmFails`, with the reasons."""
    found = []
    for change in changes.nodes:
        missing = [w for w in wanted if change.counters.value(*w.split(".", 1)) is None]
        fell = [w for w in missing if w in change.left_out]
        if fell:
            found.append((change.node, Unknown(f"{fell[0]} fell between the two readings.")))
        elif missing:
            found.append((change.node, Unknown(f"Its kernel does not report {missing[0]}.")))
    return found


def sysctl(cluster: Cluster, node: str, key: str) -> int | None:
    """Return a kernel setting of a node that is one number; None where it is not known."""
    read = cluster.node(node)
    value = read.sysctls.get(key) if read else None
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None


_NEARLY_FULL = 0.9
"""The share of the table of connections from which on it is nearly full. Ours."""
_FULL = 0.99


def table_state(table: TrackedConnections) -> Status | None:
    """Return the status of a table of connections: a failure where packets were dropped and it was full. None where it
    has room; drops with room are a warning, since entries that clash count as well."""
    share = table.entries / table.most if table.most > 0 else 0.0
    if table.dropped and share >= _FULL:
        return Status.FAIL
    if table.dropped or table.evicted or share >= _NEARLY_FULL:
        return Status.WARN
    return None
