"""The findings as the page has them: each problem a part of its own, with what it is joined with and what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster, Unknown
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.folding import told_together
from checks.report.html.output_section import Outputs, ShownOutput
from checks.report.path_lines import meaning_of, path_line
from checks.report.summary import problems, waived
from checks.rules.path_matrix import MEANINGS, OWN, Cell, PathMatrix, path_matrices

MOST_JOINED = 4


@dataclass(frozen=True)
class Joined:
    """Another problem that is likely of the same cause."""

    anchor: str
    finding: Finding


@dataclass(frozen=True)
class Problem:
    """A part of the page."""

    anchor: str
    finding: Finding
    likewise: tuple[Finding, ...]
    """Others that could not tell for the very same reason."""
    joined: tuple[Joined, ...]
    joined_more: int
    """How many more it is joined with."""
    outputs: tuple[ShownOutput, ...]


def problem_parts(report: Report, outputs: Outputs) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """The problems worst first, and those that the operator lives with."""
    told = [list(told_together(found)) for found in (problems(report), waived(report))]
    anchors: dict[int, str] = {}
    for number, (first, likewise) in enumerate((one for group in told for one in group), 1):
        for finding in (first, *likewise):
            anchors[id(finding)] = f"p{number}"
    open_, lived_with = ([_problem(report, *one, anchors, outputs) for one in group] for group in told)
    return tuple(open_), tuple(lived_with)


def together(parts: Sequence[Problem], report: Report) -> str:
    """Why there are fewer entries than findings, in a sentence; empty where there are not."""
    findings = len(problems(report)) + len(waived(report))
    if findings == len(parts):
        return ""
    entries = "1 entry" if len(parts) == 1 else f"{len(parts)} entries"
    return f"{entries} for {findings} findings: those that could not tell for the same reason share one."


def _problem(
    report: Report, finding: Finding, likewise: tuple[Finding, ...], anchors: dict[int, str], outputs: Outputs
) -> Problem:
    joined = _joined(report.joined_with(finding), finding, anchors)
    return Problem(
        anchor=anchors[id(finding)],
        finding=finding,
        likewise=likewise,
        joined=tuple(joined[:MOST_JOINED]),
        joined_more=max(len(joined) - MOST_JOINED, 0),
        outputs=outputs.take(report.evidence(finding)),
    )


def _joined(others: Iterable[Finding], finding: Finding, anchors: dict[int, str]) -> list[Joined]:
    """One of each code, and none of its own."""
    by_code = {other.code: Joined(anchors[id(other)], other) for other in reversed(list(others))}
    return [joined for code, joined in reversed(by_code.items()) if code != finding.code]


def calm(report: Report) -> Sequence[Finding]:
    """What is well, and what is only worth knowing."""
    return [f for f in report.findings if f.status in (Status.INFO, Status.PASS)]


@dataclass(frozen=True)
class NodeJournal:
    """All that was done on one node."""

    node: str
    sentence: str
    outputs: tuple[ShownOutput, ...]


def journals(report: Report, outputs: Outputs) -> tuple[NodeJournal, ...]:
    """Each node, in the order in which they were first asked."""
    by_node: dict[str, list[ShownOutput]] = {}
    for output in outputs.take(report.journal):
        by_node.setdefault(output.entry.node, []).append(output)
    return tuple(NodeJournal(node, _sentence(done), tuple(done)) for node, done in by_node.items())


def _sentence(done: list[ShownOutput]) -> str:
    failed = sum(output.entry.outcome != "ok" for output in done)
    return f"{counted(len(done), 'action')}{f', {failed} of them without success' if failed else ''}."


_MOST_WAYS = 40
_UPRIGHT_NODES, _UPRIGHT_LETTERS = 8, 6
"""More nodes, or longer names: the heads of the columns stand upright."""


@dataclass(frozen=True)
class MatrixSection:
    """The paths of one network."""

    title: str
    sentence: str
    grid: PathMatrix
    legend: tuple[tuple[str, str, str], ...]
    """Role, letter and meaning of each sign that occurs."""
    upright: bool
    ways: tuple[str, ...]
    """Those that do not pass, with their figures."""
    more_ways: int

    def rows(self) -> Iterator[tuple[str, list[Cell]]]:
        """Each node with its ways to all."""
        for node in self.grid.nodes:
            yield node, [self.grid.cells[node, to] for to in self.grid.nodes]


def tip(cell: Cell) -> str:
    """What stands over a cell."""
    return path_line(cell) if cell.letter == OWN or not cell.probe else f"{path_line(cell)}: {meaning_of(cell)}"


def squares(cluster: Cluster) -> tuple[MatrixSection, ...]:
    """One of each private network with two nodes or more."""
    return tuple(_square(grid) for grid in path_matrices(cluster) if grid.ways)


def why_none(cluster: Cluster) -> str:
    """Why there are no squares."""
    if isinstance(cluster.networks, Unknown):
        return f"The private networks are not known. {cluster.networks.reason}"
    return "There are no paths: no private network with two nodes on it was found."


def _square(grid: PathMatrix) -> MatrixSection:
    ill = [cell for cell in grid.ways if cell.is_problem]
    told = [f"{path_line(cell)}: {meaning_of(cell)}. {cell.reason}".rstrip() for cell in ill if cell.probe]
    told += list(dict.fromkeys(cell.reason for cell in ill if not cell.probe))
    network = grid.network
    name = network.name if network.name.startswith(network.interface) else f"{network.interface} {network.name}"
    letters = grid.letters()
    return MatrixSection(
        title=name,
        sentence=_path_section_sentence(grid, len(grid.ways) - len(ill)),
        grid=grid,
        legend=tuple((grid.role_of(letter), letter, MEANINGS[letter]) for letter in letters),
        upright=len(grid.nodes) > _UPRIGHT_NODES or max(map(len, grid.nodes)) > _UPRIGHT_LETTERS,
        ways=tuple(told[:_MOST_WAYS]),
        more_ways=max(len(told) - _MOST_WAYS, 0),
    )


def _path_section_sentence(grid: PathMatrix, well: int) -> str:
    mtu = grid.network.mtu
    meant = f"MTU {mtu}" if isinstance(mtu, int) else f"MTU not known: {mtu.reason}"
    passing = f"{well} of {counted(len(grid.ways), 'path')} pass" if grid.is_probed else "nothing was probed"
    return f"{meant}; {passing}."
