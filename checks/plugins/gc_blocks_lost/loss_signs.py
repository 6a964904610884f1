"""What the network and the kernels show of the loss of blocks: the signs that name its cause, or that there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster, PathProbe, Verdict
from checks.model.finding import Remedy
from checks.model.wording import counted, listed
from checks.plugins.shared.counter_words import TOPIC
from checks.plugins.shared.fragments import block_bytes, fragmenting, mtu_line, size_text
from checks.plugins.shared.grouping import named
from checks.plugins.shared.instance_words import span
from checks.plugins.shared.path_words import evidence_of, ping_commands, ways_text
from checks.plugins.shared.private_nics import on_nics
from checks.rules.lost_blocks import LossEvidence
from checks.rules.node_counts import NodeCounts, sysctl

_TOO_SMALL = {
    Verdict.BLACK_HOLE: "jumbo frames vanish",
    Verdict.TOO_BIG: "a router refuses full-size packets",
    Verdict.LOCAL_MTU: "the sender's own MTU is too small",
}
_PACKETS_LOST = "packets lost"
"""The cause that lost pings and lost fragments are signs of: where few get lost, not every node shows both."""
_LOSES = {Verdict.LOSS: "packets get lost", Verdict.UNREACHABLE: "nothing passes"}


@dataclass(frozen=True)
class LossSign:
    """Something besides the database's own count that shows where blocks get lost."""

    cause: str
    """What it is a sign of, whichever node it is seen on; not for the screen."""
    seen: str
    why: str
    """What it says of the cause, with the number that MOS 563566.1 gives it."""
    next: Remedy
    in_network: bool = True
    """Whether it accuses what lies between the nodes; else a node itself."""


@dataclass(frozen=True)
class LossSigns:
    """All signs for some receivers and their senders, the most telling first."""

    signs: tuple[LossSign, ...]
    background: tuple[str, ...]
    """What is no fault by itself: the MTU and what it makes of a block."""
    not_known: Mapping[str, Sequence[str]]
    """What could not be looked at (`the paths`), and of which nodes."""
    clean: tuple[str, ...]
    """What was looked at and shows no loss."""
    evidence: tuple[tuple[str, str], ...]

    @property
    def cause(self) -> tuple[str, ...]:
        """What the most telling sign says; where there is none, what could not be looked at. Alike on all nodes that
        one cause strikes."""
        return (self.signs[0].cause,) if self.signs else ("", *self.not_known)

    @property
    def not_looked_at(self) -> list[str]:
        """`the paths of rac2`."""
        return [f"{what} of {named(nodes, 'node')}" for what, nodes in self.not_known.items()]


def signs_of(cluster: Cluster, evidence: LossEvidence) -> LossSigns:
    """The signs in the evidence for blocks that some nodes miss from others."""
    by_counters = list(_counter_signs(cluster, evidence.counts))
    found = [
        *_path_signs(evidence.paths, _TOO_SMALL, _frames_why),
        *(sign for sign in by_counters if not sign.in_network),
        *_path_signs(
            evidence.paths,
            _LOSES,
            lambda _: "The network loses packets of any size (MOS 563566.1, causes 1, 15 and 20).",
        ),
        *(sign for sign in by_counters if sign.in_network),
    ]
    counts = evidence.counts
    clean = []
    if evidence.paths_are_clean:
        clean.append("full-size packets pass between the nodes")
    if evidence.counters_are_clean:
        clean.append(f"the kernel of {_nodes(counts)} threw nothing away in {_time(counts)}")
    return LossSigns(
        tuple(found),
        tuple(_background(cluster, counts)),
        evidence.not_known,
        tuple(clean),
        (*((c.node, TOPIC) for c in counts), *evidence_of(evidence.ill_paths)),
    )


# --- paths ------------------------------------------------------------------------------------------------------------


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
) -> Iterator[LossSign]:
    for verdict, what in words.items():
        paths = by_verdict[verdict]
        for network in dict.fromkeys(p.network for p in paths):
            here = [p for p in paths if p.network == network]
            yield LossSign(
                _PACKETS_LOST if verdict is Verdict.LOSS else f"{verdict} on {network}",
                f"df-ping: {what} on {network}, {ways_text(here)}",
                why(here),
                Remedy(
                    "Begin with that path: the check df-ping tells what its packets meet.",
                    ping_commands(here),
                    f"any user on {here[0].from_node}",
                ),
            )


# --- counters ---------------------------------------------------------------------------------------------------------


def _counter_signs(cluster: Cluster, counts: Sequence[NodeCounts]) -> Iterator[LossSign]:
    if full := [c for c in counts if c.overflowed or c.no_memory]:
        nodes, number = _nodes(full), sum(c.overflowed + c.no_memory for c in full)
        yield LossSign(
            "receive buffers",
            f"{nodes}: {counted(number, 'UDP datagram')} thrown away in {_time(full)}, their socket's receive buffer "
            "full",
            f"Blocks reached {nodes} and were thrown away there, since the receive buffers of their sockets were full "
            "(MOS 563566.1, cause 2).",
            Remedy(
                "See whether receive buffer errors still grow; the check udp-receive-buffers tells of their sizes.",
                ("netstat -su", "sysctl net.core.rmem_max net.core.rmem_default"),
                f"any user on {nodes}",
            ),
            in_network=False,
        )
    for lost in (True, False):
        if failed := [c for c in counts if c.failed and c.lost_fragments is lost]:
            yield _reassembly(cluster, failed)
    if spoilt := [c for c in counts if c.bad_checksums]:
        nodes, number = _nodes(spoilt), sum(c.bad_checksums for c in spoilt)
        yield LossSign(
            "checksums",
            f"{nodes}: {counted(number, 'UDP datagram')} with a wrong checksum in {_time(spoilt)}",
            f"Blocks reach {nodes} changed: a NIC, a cable or checksum offloading spoils them (MOS 563566.1, cause 4).",
            on_nics(
                cluster,
                [c.node for c in spoilt],
                "Look at the errors of the private NICs, and at what they offload.",
                ("ethtool -S ETH", "ethtool -k ETH"),
                f"root on {nodes}",
            ),
        )
    if filtered := [c for c in counts if c.reverse_path]:
        nodes, number = _nodes(filtered), sum(c.reverse_path for c in filtered)
        yield LossSign(
            "rp_filter",
            f"{nodes}: {counted(number, 'packet')} thrown away by rp_filter in {_time(filtered)}",
            f"Packets that come to {nodes} on another interface than it would answer on are thrown away there "
            "(MOS 563566.1, cause 15).",
            Remedy(
                "See how rp_filter is set: it must be 0 or 2 on private interfaces; the check rp-filter tells more.",
                ("nstat -az TcpExtIPReversePathFilter", "sysctl -a --pattern rp_filter"),
                f"root on {nodes}",
            ),
            in_network=False,
        )
    if dropping := [c for c in counts if c.backlog_dropped]:
        nodes, number = _nodes(dropping), sum(c.backlog_dropped for c in dropping)
        yield LossSign(
            "backlog",
            f"{nodes}: {counted(number, 'packet')} dropped from a CPU's backlog in {_time(dropping)}",
            f"The CPUs of {nodes} could not take packets as fast as they came (MOS 563566.1, cause 17).",
            Remedy(
                "See whether the second column, packets dropped, still grows, and how busy the CPUs are.",
                ("cat /proc/net/softnet_stat", "mpstat -P ALL 1 5"),
                f"any user on {nodes}",
            ),
            in_network=False,
        )


def _reassembly(cluster: Cluster, failed: Sequence[NodeCounts]) -> LossSign:
    nodes, size = _nodes(failed), block_bytes(cluster)
    seen = (
        f"{nodes}: {sum(c.failed for c in failed):,} reassemblies failed in {_time(failed)}, "
        f"{_waited_in_vain(failed)} waiting in vain for a fragment"
    )
    look = Remedy(
        "See whether failed reassemblies still grow; the check reassembly tells why they fail.",
        ("netstat -s | grep -iE 'reassembl|fragment'",),
        f"any user on {nodes}",
    )
    if not failed[0].lost_fragments:
        return LossSign(
            "reassembly memory",
            seen,
            f"Fragments reached {nodes}, and there was no room to put them together: the memory for reassembly is too "
            "small (MOS 563566.1, cause 3).",
            look,
            in_network=False,
        )
    cut = fragmenting(cluster, size)
    at = f"At MTU {listed(sorted({str(mtu) for _, mtu, _ in cut}))} a" if cut else "A"
    pieces = f"{max(p for _, _, p in cut)} fragments" if cut else "several fragments"
    return LossSign(
        _PACKETS_LOST,
        seen,
        f"{at} block of {size_text(size)} is {pieces}, and losing one loses the block: fragments get lost on the way "
        f"to {nodes} (MOS 563566.1, causes 3, 5 and 15).",
        look,
    )


def _waited_in_vain(failed: Sequence[NodeCounts]) -> str:
    timed_out = sum(c.timed_out for c in failed)
    return "all of them" if timed_out == sum(c.failed for c in failed) else f"{timed_out:,} of them"


def _nodes(counts: Sequence[NodeCounts]) -> str:
    return named((c.node for c in counts), "node")


def _time(counts: Sequence[NodeCounts]) -> str:
    return span(max(c.seconds for c in counts))


# --- what is no fault by itself ---------------------------------------------------------------------------------------


def _background(cluster: Cluster, counts: Sequence[NodeCounts]) -> Iterator[str]:
    size = block_bytes(cluster)
    cut = fragmenting(cluster, size)
    yield from (mtu_line(network, mtu, pieces, size) for network, mtu, pieces in cut)
    patience_s = {c.node: sysctl(cluster, c.node, "net.ipv4.ipfrag_time") or 0 for c in counts if not c.failed}
    early = [c for c in counts if c.seconds <= 2 * patience_s.get(c.node, 0)]
    if cut and early:
        yield (
            f"{_nodes(early)}: an incomplete block is counted only after {patience_s[early[0].node]} s "
            f"(net.ipv4.ipfrag_time): of the last {_time(early)} not all are counted yet"
        )
