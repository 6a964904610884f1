"""The parts of results of `racwire measure rate` and `racwire measure hashes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from checks.model.measured_rate import MeasuredRate, PublicMtu, RateLimit, RateStep
from checks.model.measurement import HashDirection, MeasuredHashes, MeasuredPath
from checks.model.packet_sizes import USUAL_BLOCK_BYTES
from checks.model.wording import counted, listed
from checks.report.measured.parts import Grid, Look, Part, Prose, figure, grid
from checks.rules.flow_verdicts import FlowVerdict
from checks.traffic.compare.public_ratio import Carried, PublicRatio, public_ratios

_PACED = 0.95
"""The share of a step below which the text says that less was sent. Ours."""


def rate_parts(result: MeasuredRate, path: int) -> Iterator[Part]:
    """Yield the parts of one path; steps of several nodes stand with the first of their paths."""
    own = [step for step in result.steps if step.paths[0] == path]
    for title, steps in (
        ("one stream or sender", [step for step in own if len(step.paths) == 1]),
        *(
            (f"{number} nodes to this one at the same time", [step for step in own if len(step.paths) == number])
            for number in sorted({len(step.paths) for step in own} - {1})
        ),
    ):
        if steps:
            yield _grid(title, steps)
    udp = [step for step in own if step.protocol == "udp"]
    if udp:
        yield from _losses(udp)
    if any(step.protocol == "tcp" for step in own):
        yield Prose(
            "TCP does not show the MTU where a NIC cuts segments by itself (offload): use the datagrams for that.",
            "faint",
        )


def public_parts(result: MeasuredRate, paths: Sequence[MeasuredPath]) -> Iterator[Part]:
    """Yield how the private network compares with the public one, and the MTU of the public one."""
    ratios = list(public_ratios(result, paths))
    if ratios and all(one.carried is Carried.BOTH for one in ratios) and len({one.limit for one in ratios}) == 1:
        most = max(one.cap_bps for one in ratios) / 1e6
        yield Prose(
            f"Both networks carried what was sent, up to {most:,.1f} Mb/s of payload, {_LIMITS[ratios[0].limit]}: no "
            "ratio.",
            is_of_all=True,
        )
    else:
        yield from (Prose(_ratio(one), is_of_all=True) for one in ratios)
    if result.public_mtus:
        yield Prose(_public_mtu(result.public_mtus, paths), "faint", is_of_all=True)


def buffer_parts(result: MeasuredRate) -> Iterator[Part]:
    """Yield the socket buffers of both ends."""
    heads = ("node", "asked", "given to receive", "given to send", "net.core.rmem_max")
    rows = [
        (one.node, *(f"{size:,}" for size in (one.asked, one.received, one.sent)), figure(one.rmem_max))
        for one in result.buffers
    ]
    if rows:
        yield grid("socket buffers for datagrams, in bytes", heads, rows, words=1, minor=("given to send",))


_USUAL_MTU = 1500
_LIMITS = {
    RateLimit.STEP: "the largest step of the plan",
    RateLimit.BITS: "the plan's limit of bits a second",
    RateLimit.PACKETS: "the plan's limit of packets a second",
    RateLimit.PUBLIC: "the limit on a public network",
}


def _ratio(one: PublicRatio) -> str:
    what = "TCP" if one.protocol == "tcp" else "Datagrams of 8 KB"
    private, public = (f"{median(rates) / 1e6:,.1f} Mb/s" for rates in (one.private_bps, one.public_bps))
    begin = f"{what} {'to' if one.is_towards_here else 'from'} this node:"
    if one.carried is Carried.NEITHER and one.ratio is not None:
        rounds = counted(len(one.private_bps), "round")
        sure = (
            f"95 %: {one.interval[0]:.2f} to {one.interval[1]:.2f}, {rounds}" if one.interval else f"{rounds}, too few"
        )
        sure += "" if one.interval else " for an interval: --rounds 6"
        return (
            f"{begin} the private network carried {one.ratio:.2f} times as much as the public one ({sure}): {private} "
            f"against {public}."
        )
    if one.carried is Carried.NEITHER:
        return f"{begin} the private network carried {private}, and the public one nothing."
    cap = f"{one.cap_bps / 1e6:,.1f} Mb/s, {_LIMITS[one.limit]}"
    if one.carried is Carried.BOTH:
        return f"{begin} both networks carried what was sent, {cap}."
    all_of_it, other, rate = ("private", "public", public) if one.carried is Carried.PRIVATE else (
        "public", "private", private
    )  # fmt: skip
    return (
        f"{begin} the {all_of_it} network carried what was sent, {cap}, and may carry more: no ratio. The {other} one "
        f"carried {rate}."
    )


def _public_mtu(mtus: Sequence[PublicMtu], paths: Sequence[MeasuredPath]) -> str:
    by_mtu: dict[int | None, list[str]] = {}
    for one in mtus:
        by_mtu.setdefault(one.mtu, []).append(one.node)
    if len(by_mtu) > 1 or None in by_mtu:
        each = listed(
            f"{'not known' if mtu is None else mtu} on {listed(nodes)}"
            for mtu, nodes in sorted(by_mtu.items(), key=lambda one: one[0] or 0)
        )
        return f"The MTU of the public network is {each}."
    (mtu,) = by_mtu
    begin = f"The public network has MTU {mtu} on all nodes"
    if mtu != _USUAL_MTU:
        return f"{begin}; the interconnect does not depend on it."
    if any(path.mtu > mtu for path in paths if not path.is_public):
        return f"{begin}: usual; the interconnect's jumbo frames do not need it to be larger."
    return f"{begin}: usual."


def _losses(steps: Sequence[RateStep]) -> Iterator[Prose]:
    """Yield whose the datagrams are that did not arrive; the numbers add up to those that were sent."""

    def total(name: str) -> int:
        return sum(getattr(step, name) for step in steps)

    sent, lost, dropped, kernel, unsent, unknown = map(
        total, ("sent", "lost", "dropped", "kernel_refused", "unsent", "unknown")
    )
    network = f"The network lost {'at least ' if kernel or unsent or unknown else ''}{lost:,} of "
    network += f"{counted(sent, 'datagram')} ({lost / sent * 100:.2f} %)." if lost else f"{counted(sent, 'datagram')}."
    ends = [
        *([f"the receivers' full sockets dropped {dropped:,}"] if dropped else []),
        *([f"the receivers' kernels and NICs up to {kernel:,}"] if kernel else []),
        *([f"the senders' queues and NICs up to {unsent:,}"] if unsent else []),
    ]
    if ends:
        network += f" Of those that did not arrive, {listed(ends)}: racwire's own ends, not the network."
    if refused := total("refused"):
        network += f" The senders' queues refused {refused:,} more, which never left."
    yield Prose(network, "fail" if lost else "faint")
    if discarded := total("discarded"):
        yield Prose(
            f"Not known whose: {counted(discarded, 'datagram')} that did not arrive; the receivers' kernels discarded "
            "at least as many packets of all networks. A rule of a host firewall does that.",
            "unknown",
        )
    if rest := unknown - discarded:
        why = [
            *(["the counters of a receiver"] if any(step.is_receiver_unread for step in steps) else []),
            *(["the queues of a sender"] if any(step.is_sender_unread for step in steps) else []),
        ]
        reason = f"{listed(why)} could not be read" if why else "datagrams still arrived when they were counted last"
        yield Prose(f"Not known whose: {counted(rest, 'datagram')} that did not arrive; {reason}.", "unknown")
    due = sum((step.cap_bps or 0.0) * step.seconds / 8 / USUAL_BLOCK_BYTES for step in steps)
    if sent + refused < _PACED * due:
        yield Prose(
            f"The senders sent {(sent + refused) / due:.0%} of what the steps ask for: they were late, or the path "
            "held their datagrams back.",
            "faint",
        )


def _grid(title: str, steps: Sequence[RateStep]) -> Grid:
    heads = ("what", "way", "% link", "cap Mb/s", "Mb/s", "sent", "lost", "refused", "dropped", "CPU here", "there")
    cells = [
        (
            "TCP" if step.protocol == "tcp" else "8 KB",
            "here" if step.is_towards_here else "there",
            "-" if step.share is None else f"{step.share * 100:.3g}",
            "-" if step.cap_bps is None else f"{step.cap_bps / 1e6:,.1f}",
            f"{step.received_bps / 1e6:,.1f}",
            *(
                ("-", "-", "-", "-")
                if step.protocol == "tcp"
                else (f"{step.sent:,}", f"{step.lost:,}", f"{step.refused:,}", f"{step.dropped:,}")
            ),
            _cpu(step.cpu_here_s, step.seconds),
            _cpu(step.cpu_there_s, step.seconds),
        )
        for step in steps
    ]
    return grid(title, heads, cells, words=2, minor=("there", "CPU here", "cap Mb/s", "refused", "dropped", "sent"))


def _cpu(cpu_s: float | None, seconds: float) -> str:
    return "-" if cpu_s is None or not seconds else f"{cpu_s / seconds:.0%}"


def hash_parts(result: MeasuredHashes, path: int) -> Iterator[Part]:
    """Yield the parts of one path."""
    for one in result.directions:
        if one.path == path:
            text, look = _verdict(one)
            way = "towards this node" if one.is_towards_here else "from this node"
            yield Prose(f"{way}, {counted(one.of, 'source port')}: {text}", look)


def _verdict(one: HashDirection) -> tuple[str, Look]:
    kinds = {
        FlowVerdict.SHORT_MEMBER: "loses full-size packets",
        FlowVerdict.DEAD_MEMBER: "loses all packets",
    }
    if one.verdict == FlowVerdict.PASSES:
        return "every one passes full-size packets.", "pass"
    if one.verdict in kinds and one.members is None:
        kind = kinds[FlowVerdict(one.verdict)]
        return (
            f"{one.dead:,} get nothing through. A parallel link {kind}, or several: with one of N equal links another "
            "share of the ports would fail.",
            "fail",
        )
    if one.verdict in kinds:
        which = (
            f"{one.members}"
            if one.least_members == one.most_members
            else f"{one.members} (from {one.least_members} to {one.most_members} agree with this share)"
        )
        kind = kinds[FlowVerdict(one.verdict)]
        return f"{one.dead:,} get nothing through. One of the parallel links {kind}; there are {which}.", "fail"
    arrived = f"{one.counted:,} of {counted(one.sent, 'datagram')} arrived"
    if one.verdict == FlowVerdict.UNDECIDED:
        return f"not decided, {one.reason or arrived}.", "unknown"
    return f"{one.verdict}; {arrived}.", "fail"
