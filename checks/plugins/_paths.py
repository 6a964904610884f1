"""How findings tell of paths: the ways that lose packets, a line for each path, and the matrix of a network."""

from __future__ import annotations

from collections.abc import Sequence

from checks.facts import Leg, PathProbe, PrivateNetwork, Verdict
from checks.finding import Table
from checks.wording import Way

LEGEND = (
    "P passes  B black hole  T router refuses  M sender's MTU too small  L loss  U unreachable  F filtered  ? unknown"
)


def lost_ways(paths: Sequence[PathProbe]) -> set[Way]:
    """The ways on which packets really got lost: a ping whose answer was lost accuses the way back."""
    lost: set[Way] = set()
    for p in paths:
        if p.lost_leg in (Leg.REQUEST, Leg.BOTH):
            lost.add((p.from_node, p.to_node))
        if p.lost_leg in (Leg.REPLY, Leg.BOTH):
            lost.add((p.to_node, p.from_node))
    return lost


def seen_lines(paths: Sequence[PathProbe], most: int = 4) -> tuple[str, ...]:
    """What each path answered, a line each; many paths alike are counted, not listed."""
    lines = [_line(p) for p in paths]
    return (*lines[:most], *([f"and {len(lines) - most} more paths alike"] if len(lines) > most else []))


def _line(path: PathProbe) -> str:
    parts = []
    for series in path.series:
        answered = f"{series.payload} bytes {series.received}/{series.sent}"
        if series.refused_locally:
            answered = f"{series.payload} bytes refused by {path.from_node}"
            if series.local_mtu:
                answered += f" (MTU {series.local_mtu})"
        elif series.too_big_mtu:
            answered += f", {series.too_big_from} says {series.too_big_mtu}"
        elif series.received == 0 and not series.unreachable_from:
            answered += ", no error"
        parts.append(answered)
    if isinstance(path.path_mtu, int) and path.path_mtu != path.expected_mtu:
        parts.append(f"largest that passes {path.path_mtu}")
    return f"{path.from_node} -> {path.to_node}: {'; '.join(parts) or path.reason}"


def full_payload(path: PathProbe) -> int:
    """Bytes of ping payload that fill a packet of the network's MTU: 28 less for IPv4, 48 for IPv6."""
    return path.expected_mtu - (48 if ":" in path.destination_ip else 28)


def ping_commands(paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """The pings by which an operator sees the same: full size, and small for comparison."""
    path = paths[0]
    start = f"ping -c 3 -M do -I {path.source_ip}"
    return (f"{start} -s {full_payload(path)} {path.destination_ip}", f"{start} -s 1472 {path.destination_ip}")


def evidence_of(paths: Sequence[PathProbe]) -> list[tuple[str, str]]:
    """The journal topics of the paths."""
    return [(p.from_node, f"path {p.network} {p.from_node} {p.to_node}") for p in paths]


def matrix(network: PrivateNetwork, paths: Sequence[PathProbe]) -> Table:
    """From (rows) and to (columns): the letter of each verdict, the path MTU before it."""
    nodes = [p.node for p in network.ports]
    cells = {(p.from_node, p.to_node): _cell(p) for p in paths}
    rows = tuple((a, *("·" if a == b else cells.get((a, b), "") for b in nodes)) for a in nodes)
    return Table(("from \\ to", *nodes), rows, LEGEND)


def _cell(path: PathProbe) -> str:
    if isinstance(path.path_mtu, int) and path.verdict is not Verdict.UNREACHABLE:
        return f"{path.path_mtu} {path.verdict.letter}"
    if path.verdict is Verdict.PASSES:
        return f"{path.expected_mtu} {path.verdict.letter}"
    return path.verdict.letter
