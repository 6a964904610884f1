"""The paths of a private network as a matrix from each node to each other, with reasons for unknown paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checks.model.facts import Cluster, PathProbe, PrivateNetwork, Unknown, Verdict
from checks.model.finding import Status
from checks.model.wording import continued
from checks.rules.flow_verdicts import flows_of
from checks.rules.fragment_verdicts import networks_that_lose_fragments
from checks.rules.path_status import over_a_router, packet_loss, path_statuses

OWN = "·"
"""The letter of the diagonal, where a node meets itself."""
PENDING = "…"
"""The letter of a path that is still being probed."""
PLANNED = "~"
"""The letter of a path that a started step of a change has stopped."""
ROUTED = "R"
"""The letter of a path that passes over a router: df-ping calls that a failure."""

MEANINGS = {
    Verdict.PASSES.letter: "passes",
    ROUTED: "passes, over a router",
    Verdict.BLACK_HOLE.letter: "black hole",
    Verdict.TOO_BIG.letter: "too big for a router",
    Verdict.LOCAL_MTU.letter: "sender's MTU too small",
    Verdict.LOSS.letter: "loss",
    Verdict.UNREACHABLE.letter: "unreachable",
    Verdict.FILTERED.letter: "no answer, node up",
    Verdict.UNKNOWN.letter: "not known",
    PENDING: "being probed",
    PLANNED: "stopped by a change",
    OWN: "itself",
}
"""The meanings of the letters, in the order of a legend."""


@dataclass(frozen=True)
class Cell:
    """One cell of the matrix: a path in one direction."""

    from_node: str
    to_node: str
    letter: str
    status: Status | None
    """The status that df-ping gives the path; None on the diagonal."""
    figure: str = ""
    """The figure before the letter: the largest packet that passes in bytes, or the share of lost packets."""
    probe: PathProbe | None = None
    reason: str = ""
    """The reason for the verdict, or the reason why the path was not probed."""

    @property
    def role(self) -> str:
        """The name of the colour role of the cell."""
        return self.status.value.lower() if self.status else "faint"

    @property
    def is_problem(self) -> bool:
        """Whether the path needs attention."""
        return self.letter not in (OWN, PENDING, Verdict.PASSES.letter)


@dataclass(frozen=True)
class PathMatrix:
    """All paths of one network. Rows and columns are the nodes, including those without a port on the network."""

    network: PrivateNetwork
    nodes: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    fragments: tuple[int, int] = (0, 0)
    """How many blocks in fragments got no answer, of how many that were sent, where this speaks against the network."""
    as_of: str = ""
    """The time of the oldest reading of the paths that hold, for a title: `as of 20:18:04`; empty where none is."""

    @property
    def ways(self) -> list[Cell]:
        """The cells between two different nodes, row by row."""
        return [cell for cell in self.cells.values() if cell.letter != OWN]

    @property
    def pending(self) -> int:
        """How many paths are still being probed."""
        return sum(cell.letter == PENDING for cell in self.ways)

    @property
    def is_probed(self) -> bool:
        """Whether at least one path of the network was probed."""
        return any(cell.probe for cell in self.ways)

    def role_of(self, letter: str) -> str:
        """Return the role of the gravest cell with that letter."""
        cells = [cell for cell in self.cells.values() if cell.letter == letter]
        return min(cells, key=lambda c: c.status.gravity if c.status else len(Status)).role

    def letters(self) -> list[str]:
        """Return the letters that occur."""
        there = {cell.letter for cell in self.cells.values()}
        return [letter for letter in MEANINGS if letter in there]


def path_matrices(cluster: Cluster, so_far: Sequence[PathProbe] | None = None) -> tuple[PathMatrix, ...]:
    """Return a matrix for each private network; none where the networks are not known. `so_far` are the paths that
    have been probed while others are pending; None where none is pending."""
    flows = flows_of(cluster)
    losing = networks_that_lose_fragments(flows) if flows else {}
    grids = (_grid(cluster, network, so_far) for network in cluster.read_networks())
    return tuple(replace(grid, fragments=losing.get(grid.network.name, (0, 0))) for grid in grids)


def _grid(cluster: Cluster, network: PrivateNetwork, so_far: Sequence[PathProbe] | None) -> PathMatrix:
    known = cluster.all_nodes()
    probes = cluster.read_paths() if so_far is None else so_far
    by_way = {(p.from_node, p.to_node): p for p in probes if p.network == network.name}
    names = [*(n.name for n in known), *(p.node for p in network.ports), *(n for way in by_way for n in way)]
    nodes = tuple(dict.fromkeys(names))
    why = {node: _why_not(cluster, network, node) for node in nodes}
    paths = list(by_way.values())
    statuses = dict(zip(by_way, path_statuses(paths, cluster.thresholds), strict=True))
    routed = {(p.from_node, p.to_node) for p in over_a_router(paths)}
    cells: dict[tuple[str, str], Cell] = {}
    for a in nodes:
        for b in nodes:
            if a == b:
                cells[a, b] = Cell(a, b, OWN, None)
            elif (a, b) in by_way:
                cells[a, b] = _cell(by_way[a, b], statuses[a, b], (a, b) in routed)
            elif so_far is not None and not why[a] and not why[b] and isinstance(network.mtu, int):
                cells[a, b] = Cell(a, b, PENDING, None, reason="This path is still being probed.")
            else:
                reason = why[a] or why[b] or _why_none(cluster, network)
                cells[a, b] = Cell(a, b, Verdict.UNKNOWN.letter, Status.UNKNOWN, reason=reason)
    return PathMatrix(network, nodes, cells)


def _cell(probe: PathProbe, status: Status, routed: bool) -> Cell:
    letter = ROUTED if routed and probe.verdict is Verdict.PASSES else probe.verdict.letter
    return Cell(probe.from_node, probe.to_node, letter, status, _figure(probe), probe, probe.reason)


def _figure(probe: PathProbe) -> str:
    if probe.verdict is Verdict.UNREACHABLE:
        return "down"
    if probe.verdict is Verdict.LOSS and (percent := _lost_percent(probe)):
        return f"{percent:.0f}%" if percent >= 1 else "<1%"
    if isinstance(probe.path_mtu, int):
        return str(probe.path_mtu)
    return str(probe.expected_mtu) if probe.verdict is Verdict.PASSES else ""


def _lost_percent(probe: PathProbe) -> float:
    loss = packet_loss([probe])
    return loss.percent if loss else 0.0


def _why_not(cluster: Cluster, network: PrivateNetwork, node: str) -> str:
    """Return the reason in the node why its paths are not known; empty where the reason is not in the node."""
    unread = next((n for n in cluster.unread_nodes() if n.name == node), None)
    if unread is not None:
        return f"{node} could not be read: {continued(unread.reason)}"
    return "" if network.port(node) else f"{node} has no port on {network.name}."


def _why_none(cluster: Cluster, network: PrivateNetwork) -> str:
    if not cluster.is_gathered("paths"):
        return "No path was probed: no check of this run needs probes."
    if isinstance(cluster.paths, Unknown):
        return cluster.paths.reason
    if isinstance(network.mtu, Unknown):
        return f"The MTU of {network.name} is not known: {continued(network.mtu.reason)}"
    return "This path was not probed."


def problems(grids: Sequence[PathMatrix]) -> list[tuple[str, str, str]]:
    """Return network, from-node and to-node of each path that needs attention, in reading order."""
    return [(g.network.name, c.from_node, c.to_node) for g in grids for c in g.ways if c.is_problem]
