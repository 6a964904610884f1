"""The counters of one node's kernel that show harm to a private interconnect, as differences over the interval."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import Cluster, CounterChange, CounterChanges, Thresholds, Unknown
from checks.model.finding import Status


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

    @property
    def lost_fragments(self) -> bool:
        """Whether fragments were lost: then most failures are timeouts. Otherwise there was no memory for fragments.

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


def counts_of(change: CounterChange) -> NodeCounts:
    """Return the counters of one node."""

    def value(group: str, name: str) -> int:
        return max(0, change.counters.value(group, name) or 0)

    overflowed, no_memory = value("Udp", "RcvbufErrors"), value("Udp", "MemErrors")
    bad_checksums, timed_out = value("Udp", "InCsumErrors"), value("Ip", "ReasmTimeout")
    return NodeCounts(
        node=change.node,
        seconds=change.seconds,
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
    )


def reassembly_status(counts: NodeCounts, limits: Thresholds) -> Status:
    """Return the status of a node's reassembly: any failed one is a warning, from the threshold on a failure."""
    if not counts.failed:
        return Status.PASS
    return Status.FAIL if counts.failed_percent >= limits.reassembly_fail_percent else Status.WARN


def node_counts(cluster: Cluster, node: str) -> NodeCounts | None:
    """Return the counters of one node; None where they could not be read twice."""
    change = None if isinstance(cluster.counters, Unknown) else cluster.counters.of(node)
    return counts_of(change) if change else None


def without_counts(cluster: Cluster) -> dict[str, str]:
    """Return the nodes whose counters are not known, with the reasons."""
    why = {n.name: n.reason for n in cluster.unread_nodes()}
    if not isinstance(cluster.counters, Unknown):
        why |= {node: unknown.reason for node, unknown in cluster.counters.unread.items()}
    return why


def lacks(changes: CounterChanges, wanted: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the nodes that were read and lack a wanted counter such as `Ip.ReasmFails`, with the reasons."""
    found = []
    for change in changes.nodes:
        missing = [w for w in wanted if change.counters.value(*w.split(".", 1)) is None]
        fell = [w for w in missing if w in change.left_out]
        if fell:
            found.append((change.node, f"{fell[0]} fell between the two readings."))
        elif missing:
            found.append((change.node, f"Its kernel does not report {missing[0]}."))
    return found


def sysctl(cluster: Cluster, node: str, key: str) -> int | None:
    """Return a kernel setting of a node that is one number; None where it is not known."""
    read = cluster.node(node)
    value = read.sysctls.get(key) if read else None
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None
