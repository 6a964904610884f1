"""What one node's kernel counted in the interval of what harms a private interconnect."""

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
    """Packets that could not be put together: Ip.ReasmFails."""
    timed_out: int
    """Those of them that waited in vain for a fragment: Ip.ReasmTimeout."""
    datagrams: int
    """Udp.InDatagrams, those delivered."""
    overflowed: int
    """Datagrams thrown away since a socket's receive buffer was full: Udp.RcvbufErrors."""
    no_memory: int
    """Datagrams thrown away since net.ipv4.udp_mem was used up: Udp.MemErrors."""
    bad_checksums: int
    """Udp.InCsumErrors."""
    other_errors: int
    """Udp.InErrors that are none of the others."""
    backlog_dropped: int
    """Packets that a CPU's backlog had no room for, second column of softnet_stat."""
    reverse_path: int
    """Packets that rp_filter threw away: TcpExt.IPReversePathFilter."""

    @property
    def lost_fragments(self) -> bool:
        """Whether fragments got lost: most failures then are waits in vain. Else there was no memory to hold them.

        Kernel documentation, ip-sysctl; MOS 563566.1, cause 3: in its example both counters are equal.
        """
        return 2 * self.timed_out >= self.failed

    @property
    def shows_loss(self) -> bool:
        """Whether the kernel threw away packets that blocks may have been in."""
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
        """Datagrams and packets thrown away after they had arrived, whatever for."""
        return self.overflowed + self.no_memory + self.bad_checksums + self.other_errors + self.backlog_dropped

    @property
    def failed_percent(self) -> float:
        """Failures for every hundred fragments; 100 where none came in the interval itself."""
        return min(100.0, 100 * self.failed / self.fragments) if self.fragments > 0 else 100.0


def counts_of(change: CounterChange) -> NodeCounts:
    """What was counted on one node."""

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
    """Status of a node's reassembly: any failure is a warning, from a share of the fragments on a failure."""
    if not counts.failed:
        return Status.PASS
    return Status.FAIL if counts.failed_percent >= limits.reassembly_fail_percent else Status.WARN


def node_counts(cluster: Cluster, node: str) -> NodeCounts | None:
    """What was counted on one node, where its counters could be read twice."""
    change = None if isinstance(cluster.counters, Unknown) else cluster.counters.of(node)
    return counts_of(change) if change else None


def without_counts(cluster: Cluster) -> dict[str, str]:
    """The nodes whose counters are not known, and why."""
    why = {n.name: n.reason for n in cluster.unread_nodes()}
    if not isinstance(cluster.counters, Unknown):
        why |= {node: unknown.reason for node, unknown in cluster.counters.unread.items()}
    return why


def lacks(changes: CounterChanges, wanted: tuple[str, ...]) -> list[tuple[str, str]]:
    """The nodes that were read and lack a counter that is wanted, `Ip.ReasmFails`; and why."""
    found = []
    for change in changes.nodes:
        missing = [w for w in wanted if change.counters.value(*w.split(".", 1)) is None]
        fell = [w for w in missing if w in change.left_out]
        if fell:
            found.append((change.node, f"{fell[0]} fell between the two readings."))
        elif missing:
            found.append((change.node, f"Its kernel does not tell {missing[0]}."))
    return found


def sysctl(cluster: Cluster, node: str, key: str) -> int | None:
    """A kernel setting that is one number, as it is on a node now."""
    read = cluster.node(node)
    value = read.sysctls.get(key) if read else None
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else None
