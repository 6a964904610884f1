"""How findings tell of paths: the ways that lose packets, a line for each path, and the matrix of a network."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import Leg, PathProbe, PingSeries, PrivateNetwork, Verdict
from checks.model.finding import Table
from checks.model.packet_sizes import SMALL_PAYLOAD, packet_of, payload_for
from checks.model.wording import Way, counted

MOST_LINES = 4
"""Lines of one sort in a finding; what is over is counted, and stands in the evidence."""


_MEANINGS = {
    Verdict.PASSES: "passes",
    Verdict.BLACK_HOLE: "black hole",
    Verdict.TOO_BIG: "router refuses",
    Verdict.LOCAL_MTU: "sender's MTU too small",
    Verdict.LOSS: "loss",
    Verdict.UNREACHABLE: "unreachable",
    Verdict.FILTERED: "filtered",
    Verdict.UNKNOWN: "unknown",
}


def short_name(network: PrivateNetwork, node: str = "") -> str:
    """The network, and the node if one is at fault, in a word or two for lists: its interface, or its subnet where a
    wildcard stands for the interface."""
    name = network.subnet if network.is_pattern else network.interface
    return f"{name} {node}" if node else name


def lost_ways(paths: Sequence[PathProbe]) -> set[Way]:
    """The ways on which packets really got lost: a ping whose answer was lost accuses the way back."""
    lost: set[Way] = set()
    for p in paths:
        if p.lost_leg in (Leg.REQUEST, Leg.BOTH):
            lost.add((p.from_node, p.to_node))
        if p.lost_leg in (Leg.REPLY, Leg.BOTH):
            lost.add((p.to_node, p.from_node))
    return lost


def seen_lines(paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """What the paths answered; those with the same answer in one line, and those over `MOST_LINES` lines counted."""
    alike: dict[str, list[PathProbe]] = {}
    for path in paths:
        if outcome := _outcome(path):
            alike.setdefault(outcome, []).append(path)
    lines = [f"{ways_text(group)}: {outcome}" for outcome, group in alike.items()]
    left = sum(len(group) for group in list(alike.values())[MOST_LINES:])
    return (*lines[:MOST_LINES], *([f"and {counted(left, 'more path')} with other counts"] if left else []))


def reasons_of(paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """Why the paths are judged as they are, each reason once, and those over `MOST_LINES` lines counted."""
    return at_most(tuple(dict.fromkeys(p.reason for p in paths if p.reason)), "reason like these")


def at_most(lines: Sequence[str], what: str) -> tuple[str, ...]:
    """The first `MOST_LINES` lines, and how many more there are of what they tell."""
    left = len(lines) - MOST_LINES
    noun, _, rest = what.partition(" ")
    return (*lines[:MOST_LINES], *([f"and {counted(left, f'more {noun}')} {rest}"] if left > 0 else []))


def ways_text(paths: Sequence[PathProbe]) -> str:
    """Which paths, in a few words for the head of a line: the first by name, the others counted."""
    ways = [(p.from_node, p.to_node) for p in paths]
    first = f"{ways[0][0]} -> {ways[0][1]}"
    if len(ways) == 2:
        there_and_back = ways[1] == ways[0][::-1]
        return f"{ways[0][0]} <-> {ways[0][1]}" if there_and_back else f"{first} and {ways[1][0]} -> {ways[1][1]}"
    return first if len(ways) == 1 else f"{first} and {len(ways) - 1} more paths"


def _outcome(path: PathProbe) -> str:
    """Small and full-size packets, and what else was odd; the boundary that a search tried stands in the evidence."""
    told = [text for series in path.series if (text := _series(path, series))]
    if isinstance(path.path_mtu, int) and path.path_mtu != path.expected_mtu:
        told.append(f"largest that passes {path.path_mtu} bytes")
    return "; ".join(told)


def _series(path: PathProbe, series: PingSeries) -> str:
    over = series.payload == full_payload(path) + 1
    if series.payload not in (SMALL_PAYLOAD, full_payload(path)) and not (over and not series.refused_locally):
        return ""
    size = "small packets" if series.payload == SMALL_PAYLOAD else _size(path, series.payload)
    answered = f"{size} {series.received} of {series.sent} answered"
    if series.too_big_mtu:
        # Said before what the kernel refuses: it refuses only because it remembers what the router told it.
        return f"{answered}, {series.too_big_from} says MTU {series.too_big_mtu}"
    if series.refused_locally:
        mtu = f" (MTU {series.local_mtu})" if series.local_mtu else ""
        return f"{size} refused by the sender{mtu}"
    return answered if series.received or series.unreachable_from else f"{answered}, no error"


def size_text(path: PathProbe) -> str:
    """What is meant to pass: `packets of 9000 bytes (ping -s 8972)`."""
    return _size(path, full_payload(path))


def _size(path: PathProbe, payload: int) -> str:
    return f"packets of {packet_of(payload, _version(path))} bytes (ping -s {payload})"


def full_payload(path: PathProbe) -> int:
    """Bytes of ping payload that fill a packet of the network's MTU."""
    return payload_for(path.expected_mtu, _version(path))


def _version(path: PathProbe) -> int:
    return 6 if ":" in path.destination_ip else 4


def ping_commands(paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """The pings by which an operator sees the same: full size, and the largest that passes for comparison."""
    path = paths[0]
    passes = path.path_mtu if isinstance(path.path_mtu, int) else 1500
    start = f"ping -c 3 -M do -I {path.source_ip}"
    sizes = (full_payload(path), payload_for(passes, _version(path)))
    return tuple(f"{start} -s {size} {path.destination_ip}" for size in dict.fromkeys(sizes))


def evidence_of(paths: Sequence[PathProbe]) -> list[tuple[str, str]]:
    """The journal topics of the paths."""
    return [(p.from_node, f"path {p.network} {p.from_node} {p.to_node}") for p in paths]


def matrix(network: PrivateNetwork, paths: Sequence[PathProbe]) -> Table:
    """From (rows) and to (columns): the letter of each verdict, and the path MTU."""
    nodes = [p.node for p in network.ports]
    cells = {(p.from_node, p.to_node): _cell(p) for p in paths}
    rows = tuple((a, *("·" if a == b else cells.get((a, b), "") for b in nodes)) for a in nodes)
    there = {p.verdict for p in paths}
    meanings = [f"{verdict.letter} {meaning}" for verdict, meaning in _MEANINGS.items() if verdict in there]
    figures = ["figures: the largest packet that passes, in bytes"] if any(map(_figure, paths)) else []
    return Table(("from \\ to", *nodes), rows, "; ".join([*meanings, *figures]))


def _cell(path: PathProbe) -> str:
    return f"{path.verdict.letter} {_figure(path)}".rstrip()


def _figure(path: PathProbe) -> str:
    if isinstance(path.path_mtu, int) and path.verdict is not Verdict.UNREACHABLE:
        return str(path.path_mtu)
    return str(path.expected_mtu) if path.verdict is Verdict.PASSES else ""
