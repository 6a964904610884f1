"""Signs of the cause of lost blocks in the network and in the kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster, PathProbe, Verdict
from checks.model.finding import NextStep
from checks.model.packet_sizes import USUAL_BLOCK_BYTES
from checks.model.wording import counted, listed
from checks.plugins.shared.counter_text import TOPIC
from checks.plugins.shared.engineered_notes import beside_udp
from checks.plugins.shared.fragments import fragmenting, mtu_line, size_text
from checks.plugins.shared.grouping import named, time_of
from checks.plugins.shared.path_text import evidence_of, pairs_text, ping_commands
from checks.plugins.shared.private_nics import on_nics
from checks.rules.flow_verdicts import FlowVerdict, flows_of, judge_flow
from checks.rules.lost_blocks import LossEvidence
from checks.rules.node_counts import NodeCounts, ReassemblyFault, reassembly_fault, sysctl

_TOO_SMALL = {
    Verdict.BLACK_HOLE: "jumbo frames vanish",
    Verdict.TOO_BIG: "a router refuses full-size packets",
    Verdict.LOCAL_MTU: "the sender's own MTU is too small",
}
PACKETS_LOST = "packets lost"
"""The common cause of lost pings and lost fragments: where few packets are lost, a node may show only one sign."""
_LOSES = {Verdict.LOSS: "packets are lost", Verdict.UNREACHABLE: "no packet passes"}


@dataclass(frozen=True)
class LossSign:
    """A sign, other than the database's own count, that shows where blocks are lost."""

    cause: str
    """The key of the cause, the same on every node; not for display."""
    seen: str
    why: str
    """The cause in a sentence, with its number in MOS 563566.1."""
    next: NextStep
    in_network: bool = True
    """Whether the cause is in the network between the nodes; else it is in a node."""


@dataclass(frozen=True)
class LossSigns:
    """All signs for some receivers and their senders, the strongest first."""

    signs: tuple[LossSign, ...]
    background: tuple[str, ...]
    """Lines that are no fault: the MTU, and the number of fragments of a block."""
    not_known: Mapping[str, Sequence[str]]
    """The evidence that is not available (`the paths`), with the nodes."""
    clean: tuple[str, ...]
    """The evidence that was checked and shows no loss."""
    evidence: tuple[tuple[str, str], ...]

    @property
    def cause(self) -> tuple[str, ...]:
        """The key of the strongest sign, else the evidence that is not available. All nodes with one cause have the
        same key."""
        return (self.signs[0].cause,) if self.signs else ("", *self.not_known)

    @property
    def not_examined(self) -> list[str]:
        """The evidence that is not available, as `the paths of rac2`."""
        return [f"{what} of {named(nodes, 'node')}" for what, nodes in self.not_known.items()]


def signs_of(cluster: Cluster, evidence: LossEvidence) -> LossSigns:
    """Return the signs in the evidence about blocks that some nodes did not receive from others."""
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
        clean.append("full-size pings pass between the nodes")
    if evidence.counters_are_clean:
        clean.append(f"the loss counters that racwire reads did not rise on {_nodes(counts)} in {time_of(counts)}")
    return LossSigns(
        tuple(found),
        (*_background(cluster, counts), *beside_udp(cluster, [c.node for c in counts])),
        evidence.not_known,
        tuple(clean),
        (*((c.node, TOPIC) for c in counts), *evidence_of(evidence.ill_paths)),
    )


def udp_text(cluster: Cluster, receivers: Sequence[str], nodes: Sequence[str]) -> str:
    """Return what racwire's own datagrams show of the paths from these nodes to the receivers of blocks, or that none
    were sent there."""
    flows, ends = flows_of(cluster), {*nodes} - {""}
    if flows is None:
        return "racwire did not test UDP."
    probes = [p for p in flows.probes if p.to_node in receivers and (p.from_node in ends or ends == {*receivers})]
    verdicts = Counter(judge_flow(p, flows, cluster.read_paths()).verdict for p in probes)
    untested = verdicts[FlowVerdict.NOT_SENT]
    if untested == len(probes):
        return f"racwire did not test UDP to {named(receivers, 'node')}." if receivers else "racwire did not test UDP."
    there = named(receivers, "node")
    rest = f", and racwire did not test {counted(untested, 'other path')}" if untested else ""
    if verdicts[FlowVerdict.PASSES] + untested < len(probes):
        return f"Some datagrams of racwire were not seen to arrive at {there}{rest}: the check udp-path has them."
    return f"Datagrams of racwire arrived at {there}, full-size ones too{rest}."


# --- paths ------------------------------------------------------------------------------------------------------------


def _frames_why(paths: Sequence[PathProbe]) -> str:
    small = paths[0].path_mtu
    passes = f", {small} bytes at most" if isinstance(small, int) else ""
    return (
        f"The path carries less than its MTU of {paths[0].expected_mtu} bytes{passes}: packets that hold a block are "
        "dropped there (MOS 563566.1, causes 5 and 12)."
    )


def _path_signs(
    by_verdict: Mapping[Verdict, Sequence[PathProbe]],
    texts: Mapping[Verdict, str],
    why: Callable[[Sequence[PathProbe]], str],
) -> Iterator[LossSign]:
    for verdict, what in texts.items():
        paths = by_verdict[verdict]
        for network in dict.fromkeys(p.network for p in paths):
            here = [p for p in paths if p.network == network]
            yield LossSign(
                PACKETS_LOST if verdict is Verdict.LOSS else f"{verdict} on {network}",
                f"df-ping: {what} on {network}, {pairs_text(here)}",
                why(here),
                NextStep(
                    "Start with that path: the findings of df-ping show where its packets are lost.",
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
            f"{nodes}: {counted(number, 'UDP datagram')} dropped in {time_of(full)}, because the socket's receive "
            "buffer was full",
            f"Blocks reached {nodes} and were dropped there, because the receive buffers of their sockets were full "
            "(MOS 563566.1, cause 2).",
            NextStep(
                "Check whether receive buffer errors still grow; the check udp-receive-buffers reports the sizes.",
                ("netstat -su", "sysctl net.core.rmem_max net.core.rmem_default"),
                f"any user on {nodes}",
            ),
            in_network=False,
        )
    for fault in ReassemblyFault:
        if failed := [c for c in counts if c.failed and reassembly_fault(cluster, c) is fault]:
            yield _reassembly(cluster, failed, fault)
    if spoilt := [c for c in counts if c.bad_checksums]:
        nodes, number = _nodes(spoilt), sum(c.bad_checksums for c in spoilt)
        yield LossSign(
            "checksums",
            f"{nodes}: {counted(number, 'UDP datagram')} with a wrong checksum in {time_of(spoilt)}",
            f"Blocks reach {nodes} corrupt: a NIC, a cable or checksum offloading alters them (MOS 563566.1, cause 4).",
            on_nics(
                cluster,
                [c.node for c in spoilt],
                "Check the errors and the offloading of the private NICs.",
                ("ethtool -S {nic}", "ethtool -k {nic}"),
                f"any user on {nodes}",
            ),
        )
    if filtered := [c for c in counts if c.reverse_path]:
        nodes, number = _nodes(filtered), sum(c.reverse_path for c in filtered)
        yield LossSign(
            "rp_filter",
            f"{nodes}: {counted(number, 'packet')} dropped by rp_filter in {time_of(filtered)}",
            f"rp_filter on {nodes} drops packets that arrive on another interface than the answer would leave by "
            "(MOS 563566.1, cause 15).",
            NextStep(
                "Check rp_filter: it must be 0 or 2 on private interfaces; the check rp-filter has the details.",
                ("nstat -az TcpExtIPReversePathFilter", "sysctl -a --pattern rp_filter"),
                f"any user on {nodes}",
            ),
            in_network=False,
        )
    if dropping := [c for c in counts if c.backlog_dropped]:
        nodes, number = _nodes(dropping), sum(c.backlog_dropped for c in dropping)
        yield LossSign(
            "backlog",
            f"{nodes}: {counted(number, 'packet')} dropped from a CPU's backlog in {time_of(dropping)}",
            f"Packets arrived faster than the CPUs of {nodes} could process them (MOS 563566.1, cause 17).",
            NextStep(
                "Check whether the second column, packets dropped, still grows, and how busy the CPUs are.",
                ("cat /proc/net/softnet_stat", "mpstat -P ALL 1 5"),
                f"any user on {nodes}",
            ),
            in_network=False,
        )


def _reassembly(cluster: Cluster, failed: Sequence[NodeCounts], fault: ReassemblyFault) -> LossSign:
    nodes, size = _nodes(failed), cluster.block_size_bytes or USUAL_BLOCK_BYTES
    seen = (
        f"{nodes}: {sum(c.failed for c in failed):,} reassemblies failed in {time_of(failed)}, "
        f"{_timed_out(failed)} by timeout, with a fragment missing"
    )
    remedy = NextStep(
        "Check whether failed reassemblies still grow; the check reassembly reports the cause.",
        ("netstat -s | grep -iE 'reassembl|fragment'",),
        f"any user on {nodes}",
    )
    if fault is not ReassemblyFault.LOST:
        why = (
            "and the kernel had no room to reassemble them: the memory for reassembly is too small"
            if fault is ReassemblyFault.NO_ROOM
            else "and the kernel could not reassemble them: out of order, overlapping, or without memory"
        )
        return LossSign(
            "reassembly memory" if fault is ReassemblyFault.NO_ROOM else "reassembly",
            seen,
            f"Fragments reached {nodes}, {why} (MOS 563566.1, cause 3).",
            remedy,
            in_network=False,
        )
    cut = fragmenting(cluster, size)
    at = f"At MTU {listed(sorted({str(mtu) for _, mtu, _ in cut}))} a" if cut else "A"
    pieces = f"{max(p for _, _, p in cut)} fragments" if cut else "several fragments"
    return LossSign(
        PACKETS_LOST,
        seen,
        f"{at} block of {size_text(size)} is {pieces}, and one lost fragment loses the block: fragments are lost on "
        f"the way to {nodes} (MOS 563566.1, causes 3, 5 and 15).",
        remedy,
    )


def _timed_out(failed: Sequence[NodeCounts]) -> str:
    timed_out = sum(c.timed_out for c in failed)
    return "all of them" if timed_out == sum(c.failed for c in failed) else f"{timed_out:,} of them"


def _nodes(counts: Sequence[NodeCounts]) -> str:
    return named((c.node for c in counts), "node")


# --- what is no fault by itself ---------------------------------------------------------------------------------------


def _background(cluster: Cluster, counts: Sequence[NodeCounts]) -> Iterator[str]:
    size = cluster.block_size_bytes or USUAL_BLOCK_BYTES
    cut = fragmenting(cluster, size)
    yield from (mtu_line(network, mtu, pieces, size) for network, mtu, pieces in cut)
    timeout_s = {c.node: sysctl(cluster, c.node, "net.ipv4.ipfrag_time") or 0 for c in counts if not c.failed}
    early = [c for c in counts if c.seconds <= 2 * timeout_s.get(c.node, 0)]
    if cut and early:
        yield (
            f"{_nodes(early)}: an incomplete block is counted only after {timeout_s[early[0].node]} s "
            f"(net.ipv4.ipfrag_time): some of the last {time_of(early)} are not counted yet"
        )
