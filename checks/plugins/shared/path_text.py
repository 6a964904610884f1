"""Texts of findings about paths: the pairs of nodes that lose packets, a line for each path, and the matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checks.model.facts import Cluster, FlowProbe, HaipPath, Leg, PathProbe, PingSeries, PrivateNetwork, Verdict
from checks.model.finding import Table
from checks.model.packet_sizes import SMALL_PAYLOAD, packet_of, payload_for
from checks.model.shell_command import shell
from checks.model.wording import NodePair, between, counted, listed

MOST_LINES = 4
"""The most lines of one sort in a finding; the finding counts the others, and the evidence has them."""


_MEANINGS = {
    Verdict.PASSES: "passes",
    Verdict.BLACK_HOLE: "black hole",
    Verdict.TOO_BIG: "router refuses",
    Verdict.LOCAL_MTU: "sender's MTU too small",
    Verdict.LOSS: "loss",
    Verdict.UNREACHABLE: "unreachable",
    Verdict.FILTERED: "no answer, node up",
    Verdict.UNKNOWN: "unknown",
}


def safe_change(mtu: int) -> str:
    """Return the command that plans the change of the private networks to an MTU."""
    return shell("racwire change new --to {mtu}", mtu=mtu)


def short_name(network: PrivateNetwork, node: str = "") -> str:
    """Return a short name for lists: the network's interface (its subnet if the name is a wildcard), and the node."""
    name = network.subnet if network.is_pattern else network.interface
    return f"{name} {node}" if node else name


def shared_subnet(cluster: Cluster, network: PrivateNetwork) -> tuple[str, ...]:
    """Return the note that the nodes have other private interfaces in the subnet of this network."""
    others = [n.interface for n in cluster.read_networks() if n.subnet == network.subnet and n is not network]
    if not others:
        return ()
    verb = "is" if len(others) == 1 else "are"
    return (f"{listed(others)} {verb} in the same subnet: packets to these addresses can arrive there",)


def pairs_of(paths: Iterable[PathProbe | HaipPath | FlowProbe]) -> set[NodePair]:
    """Return the pairs (from node, to node) of the paths."""
    return {(p.from_node, p.to_node) for p in paths}


def on_all_nodes(cluster: Cluster, network: PrivateNetwork) -> bool:
    """Return whether every node of the cluster could be probed on this network; only then a title has "every node"."""
    return all(network.port(node.name) for node in cluster.all_nodes())


def where(cluster: Cluster, network: PrivateNetwork, pairs: set[NodePair]) -> str:
    """Return the text for these pairs, each with its direction."""
    return between(pairs, [p.node for p in network.ports], on_all_nodes(cluster, network))


def lost_pairs(paths: Sequence[PathProbe]) -> set[NodePair]:
    """Return the pairs (from node, to node) that lost packets; for a lost answer, in the direction of the answer."""
    lost: set[NodePair] = set()
    for p in paths:
        if p.lost_leg in (Leg.REQUEST, Leg.BOTH):
            lost.add((p.from_node, p.to_node))
        if p.lost_leg in (Leg.REPLY, Leg.BOTH):
            lost.add((p.to_node, p.from_node))
    return lost


def result_lines(paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """Return the results of the paths, one line for paths with the same result, at most `MOST_LINES` and a count."""
    alike: dict[str, list[PathProbe]] = {}
    for path in paths:
        if outcome := _outcome(path):
            alike.setdefault(outcome, []).append(path)
    lines = [f"{pairs_text(group)}: {outcome}" for outcome, group in alike.items()]
    left = sum(len(group) for group in list(alike.values())[MOST_LINES:])
    return (*lines[:MOST_LINES], *([f"and {counted(left, 'more path')} with other counts"] if left else []))


def reasons_of(paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """Return the reasons for the verdicts, each once, at most `MOST_LINES` and a count."""
    return first_lines(tuple(dict.fromkeys(p.reason for p in paths if p.reason)), "reason like these")


def first_lines(lines: Sequence[str], ending: str) -> tuple[str, ...]:
    """Return the first `MOST_LINES` lines, and a count of the others with `ending`: `and 3 more paths like these`."""
    left = len(lines) - MOST_LINES
    noun, _, rest = ending.partition(" ")
    return (*lines[:MOST_LINES], *([f"and {counted(left, f'more {noun}')} {rest}"] if left > 0 else []))


def pairs_text(paths: Sequence[PathProbe]) -> str:
    """Return a short text for the paths at the start of a line: the first with its nodes, the others as a number."""
    pairs = [(p.from_node, p.to_node) for p in paths]
    first = f"{pairs[0][0]} -> {pairs[0][1]}"
    if len(pairs) == 2:
        there_and_back = pairs[1] == pairs[0][::-1]
        return f"{pairs[0][0]} <-> {pairs[0][1]}" if there_and_back else f"{first} and {pairs[1][0]} -> {pairs[1][1]}"
    return first if len(pairs) == 1 else f"{first} and {len(pairs) - 1} more paths"


def _outcome(path: PathProbe) -> str:
    """Return the results for small and full-size packets, and oddities; the evidence has all sizes that were tried."""
    results = [text for series in path.series if (text := _series(path, series))]
    if isinstance(path.path_mtu, int) and path.path_mtu != path.expected_mtu:
        results.append(f"largest that passes {path.path_mtu} bytes")
    return "; ".join(results)


def _series(path: PathProbe, series: PingSeries) -> str:
    over = series.payload == path.full_payload + 1
    if series.payload not in (SMALL_PAYLOAD, path.full_payload) and not (over and not series.refused_locally):
        return ""
    size = "small packets" if series.payload == SMALL_PAYLOAD else _size(path, series.payload)
    answered = f"{size} {series.received} of {series.sent} answered"
    if series.too_big_mtu:
        # Before the refusal by the kernel: the kernel refuses only because it remembers the router's answer.
        return f"{answered}, {series.too_big_from} reports MTU {series.too_big_mtu}"
    if series.refused_locally:
        mtu = f" (MTU {series.local_mtu})" if series.local_mtu else ""
        return f"{size} refused by the sender{mtu}"
    return answered if series.received or series.unreachable_from else f"{answered}, no error"


def size_text(path: PathProbe) -> str:
    """Return the expected packet size: `packets of 9000 bytes (ping -s 8972)`."""
    return _size(path, path.full_payload)


def _size(path: PathProbe, payload: int) -> str:
    return f"packets of {packet_of(payload, path.version)} bytes (ping -s {payload})"


def ping_commands(paths: Sequence[PathProbe]) -> tuple[str, ...]:
    """Return the ping commands that reproduce the result: full size, and the largest size that passes."""
    path = paths[0]
    passes = path.path_mtu if isinstance(path.path_mtu, int) else 1500
    sizes = (path.full_payload, payload_for(passes, path.version))
    return tuple(
        shell("ping -c 3 -M do -I {source} -s {size} {to}", source=path.source_ip, size=size, to=path.destination_ip)
        for size in dict.fromkeys(sizes)
    )


def evidence_of(paths: Sequence[PathProbe]) -> list[tuple[str, str]]:
    """Return the journal topics of the paths."""
    return [(p.from_node, f"path {p.network} {p.from_node} {p.to_node}") for p in paths]


def matrix(network: PrivateNetwork, paths: Sequence[PathProbe]) -> Table:
    """Return the matrix from (rows) to (columns): the letter of each verdict, and the path MTU."""
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
