"""What the network and the kernels show of the loss of blocks: the signs that name its cause, or that there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.facts import Cluster, PathProbe, PrivateNetwork, Unknown, Verdict
from checks.finding import Remedy
from checks.packet_sizes import fragments_of
from checks.plugins._instances import database_of, span
from checks.plugins._node_counts import TOPIC, NodeCounts, node_counts, sysctl
from checks.plugins._paths import evidence_of, ways_text
from checks.wording import counted, listed

USUAL_BLOCK_BYTES = 8192

_TOO_SMALL = {
    Verdict.BLACK_HOLE: "jumbo frames vanish",
    Verdict.TOO_BIG: "a router refuses full-size packets",
    Verdict.LOCAL_MTU: "the sender's own MTU is too small",
}
_LOSES = {Verdict.LOSS: "packets get lost", Verdict.UNREACHABLE: "nothing passes"}


@dataclass(frozen=True)
class Sign:
    """Something besides the database's own count that shows where blocks get lost."""

    seen: str
    why: str
    """What it says of the cause, with the number that MOS 563566.1 gives it."""
    next: Remedy


@dataclass(frozen=True)
class Signs:
    """All signs for one receiver and its senders, the most telling first."""

    signs: tuple[Sign, ...]
    background: tuple[str, ...]
    """What is no fault by itself: the MTU and what it makes of a block."""
    not_known: tuple[str, ...]
    """What could not be looked at."""
    clean: tuple[str, ...]
    """What was looked at and shows no loss."""
    evidence: tuple[tuple[str, str], ...]


def signs_of(cluster: Cluster, receiver: str, senders: Sequence[str]) -> Signs:
    """The signs for blocks that the node `receiver` misses from `senders`; from all nodes where none is known."""
    paths = _paths(cluster, receiver, senders)
    counts = node_counts(cluster, receiver)
    by_path = {verdict: [p for p in paths if p.verdict is verdict] for verdict in Verdict}
    found = [
        *_path_signs(by_path, _TOO_SMALL, _frames_why),
        *(_counter_signs(cluster, counts) if counts else ()),
        *_path_signs(
            by_path, _LOSES, lambda _: "The network loses packets of any size (MOS 563566.1, causes 1, 15 and 20)."
        ),
    ]
    not_known, clean = [], []
    if not paths or all(p.verdict in (Verdict.UNKNOWN, Verdict.FILTERED) for p in paths):
        not_known.append(f"the paths of {receiver or 'its node'}")
    elif not any(by_path[verdict] for verdict in (*_TOO_SMALL, *_LOSES)):
        clean.append("full-size packets pass between the nodes")
    if counts is None:
        not_known.append(f"the kernel's counters of {receiver or 'its node'}")
    elif not list(_counter_signs(cluster, counts)):
        clean.append(f"the kernel of {receiver} threw nothing away in {span(counts.seconds)}")
    return Signs(
        tuple(found),
        tuple(_background(cluster, counts)),
        tuple(not_known),
        tuple(clean),
        ((receiver, TOPIC),) * bool(counts) + tuple(evidence_of([p for p in paths if p.verdict is not Verdict.PASSES])),
    )


def block_bytes(cluster: Cluster) -> int:
    """The size of the database's blocks; 8 KB where it is not known, as most are."""
    database = database_of(cluster)
    size = database.block_size_bytes if database else None
    return size if size is not None and size > 0 else USUAL_BLOCK_BYTES


def size_text(size_bytes: int) -> str:
    """`8 KB`."""
    return f"{size_bytes // 1024} KB" if size_bytes % 1024 == 0 else f"{size_bytes:,} bytes"


def fragmenting(cluster: Cluster, datagram_bytes: int) -> list[tuple[PrivateNetwork, int, int]]:
    """The private networks on which a datagram of that size is cut up: each with its MTU and the fragments."""
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    return [
        (network, network.mtu, pieces)
        for network in networks
        if isinstance(network.mtu, int)
        and (pieces := fragments_of(datagram_bytes, network.mtu, 6 if ":" in network.subnet else 4)) > 1
    ]


def mtu_line(network: PrivateNetwork, mtu: int, pieces: int, size_bytes: int) -> str:
    """`192.168.10.0/24 has MTU 1500: a block of 8 KB is 6 fragments`."""
    return f"{network.name} has MTU {mtu}: a block of {size_text(size_bytes)} is {pieces} fragments"


# --- paths ------------------------------------------------------------------------------------------------------------


def _paths(cluster: Cluster, receiver: str, senders: Sequence[str]) -> list[PathProbe]:
    """Both ways between the receiver and the senders: a ping that lost its answer may accuse either."""
    paths = () if isinstance(cluster.paths, Unknown) else cluster.paths
    own = [p for p in paths if receiver in (p.from_node, p.to_node)]
    return [p for p in own if not senders or p.from_node in senders or p.to_node in senders]


def _frames_why(paths: Sequence[PathProbe]) -> str:
    small = paths[0].path_mtu
    passes = f", {small} bytes at most" if isinstance(small, int) else ""
    return (
        f"The path carries less than its MTU of {paths[0].expected_mtu} bytes{passes}: packets of whole blocks are "
        "thrown away on it (MOS 563566.1, causes 5 and 12)."
    )


def _path_signs(
    by_verdict: Mapping[Verdict, Sequence[PathProbe]],
    words: Mapping[Verdict, str],
    why: Callable[[Sequence[PathProbe]], str],
) -> Iterator[Sign]:
    for verdict, what in words.items():
        paths = by_verdict[verdict]
        for network in dict.fromkeys(p.network for p in paths):
            here = [p for p in paths if p.network == network]
            yield Sign(
                f"df-ping: {what} on {network}, {ways_text(here)}",
                why(here),
                Remedy("Begin with what df-ping says of that path.", ("racwire check df-ping",)),
            )


# --- counters ---------------------------------------------------------------------------------------------------------


def _counter_signs(cluster: Cluster, counts: NodeCounts) -> Iterator[Sign]:
    node, time = counts.node, span(counts.seconds)
    if counts.overflowed or counts.no_memory:
        number = counts.overflowed + counts.no_memory
        yield Sign(
            f"{node}: {counted(number, 'UDP datagram')} thrown away in {time}, their socket's receive buffer full",
            f"Blocks reached {node} and were thrown away there, since the receive buffers of their sockets were full "
            "(MOS 563566.1, cause 2).",
            Remedy("See what udp-receive-buffers says of its buffers.", ("racwire check udp-receive-buffers",)),
        )
    if counts.failed:
        yield _reassembly(cluster, counts)
    if counts.bad_checksums:
        yield Sign(
            f"{node}: {counted(counts.bad_checksums, 'UDP datagram')} with a wrong checksum in {time}",
            f"Blocks reach {node} changed: a NIC, a cable or checksum offloading spoils them (MOS 563566.1, cause 4).",
            Remedy(
                "Look at the errors and at the offloading of its private NICs.",
                ("ethtool -S ETH", "ethtool -k ETH"),
                f"root on {node}",
            ),
        )
    if counts.reverse_path:
        yield Sign(
            f"{node}: {counted(counts.reverse_path, 'packet')} thrown away by rp_filter in {time}",
            f"The kernel of {node} throws packets away that come in on another interface than it would answer on "
            "(MOS 563566.1, cause 15).",
            Remedy("See what rp-filter says.", ("racwire check rp-filter",)),
        )
    if counts.backlog_dropped:
        yield Sign(
            f"{node}: {counted(counts.backlog_dropped, 'packet')} dropped from a CPU's backlog in {time}",
            f"The CPUs of {node} could not take packets as fast as they came (MOS 563566.1, cause 17).",
            Remedy("See what udp-receive-buffers says of it.", ("racwire check udp-receive-buffers",)),
        )


def _reassembly(cluster: Cluster, counts: NodeCounts) -> Sign:
    node, size = counts.node, block_bytes(cluster)
    seen = (
        f"{node}: {counts.failed:,} reassemblies failed in {span(counts.seconds)}, {counts.timed_out:,} of them "
        "waiting in vain for a fragment"
    )
    if not counts.lost_fragments:
        return Sign(
            seen,
            f"Fragments reached {node}, and it had no room to put them together: the memory for reassembly is too "
            "small (MOS 563566.1, cause 3).",
            Remedy("See what reassembly says of its memory.", ("racwire check reassembly",)),
        )
    cut = fragmenting(cluster, size)
    at = f"At MTU {listed(sorted({str(mtu) for _, mtu, _ in cut}))} a" if cut else "A"
    pieces = f"{max(p for _, _, p in cut)} fragments" if cut else "several fragments"
    return Sign(
        seen,
        f"{at} block of {size_text(size)} is {pieces}, and losing one loses the block: fragments get lost on the way "
        f"to {node} (MOS 563566.1, causes 3, 5 and 15).",
        Remedy("Ask the network team for discards and errors of the switch ports between these nodes."),
    )


# --- what is no fault by itself ---------------------------------------------------------------------------------------


def _background(cluster: Cluster, counts: NodeCounts | None) -> Iterator[str]:
    size = block_bytes(cluster)
    cut = fragmenting(cluster, size)
    yield from (mtu_line(network, mtu, pieces, size) for network, mtu, pieces in cut)
    patience_s = sysctl(cluster, counts.node, "net.ipv4.ipfrag_time") if counts else None
    if cut and counts and not counts.failed and patience_s is not None and counts.seconds <= 2 * patience_s:
        yield (
            f"{counts.node} counts an incomplete block only after {patience_s} s (net.ipv4.ipfrag_time): of the last "
            f"{span(counts.seconds)} not all are counted yet"
        )
