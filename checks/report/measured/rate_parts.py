"""The parts of results of `racwire measure rate` and `racwire measure hashes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.measurement import HashDirection, MeasuredHashes, MeasuredRate, RateStep
from checks.model.wording import counted
from checks.report.measured.parts import Grid, Look, Part, Prose, grid
from checks.rules.flow_verdicts import FlowVerdict


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
        yield Prose(_losses(udp), "fail" if any(step.lost for step in udp) else "faint")
    if any(step.protocol == "tcp" for step in own):
        yield Prose(
            "TCP does not show the MTU where a NIC cuts segments by itself (offload): use the datagrams for that.",
            "faint",
        )


def _losses(steps: Sequence[RateStep]) -> str:
    sent, lost = sum(step.sent for step in steps), sum(step.lost for step in steps)
    refused, dropped = sum(step.refused for step in steps), sum(step.dropped for step in steps)
    kernel = sum(step.kernel_refused for step in steps)
    network = f"The network lost {'at least ' if kernel else ''}{lost:,} of {counted(sent, 'datagram')}"
    network += f" ({lost / sent * 100:.2f} %)." if sent and lost else "."
    if not refused and not dropped and not kernel:
        return network
    return (
        f"{network} The network did not lose those that racwire's own ends missed: the senders' queues refused "
        f"{refused:,}, and the receivers' full sockets dropped {dropped:,}."
        + (f" The receivers' kernels refused up to {kernel:,}, without room for them." if kernel else "")
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
