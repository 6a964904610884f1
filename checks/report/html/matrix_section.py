"""The section of the HTML page with the path matrix of each private network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.model.facts import Cluster, Unknown
from checks.model.wording import counted
from checks.report.path_lines import meaning_of, path_line
from checks.rules.path_matrix import MEANINGS, OWN, Cell, PathMatrix

_MOST_WAYS = 40
_UPRIGHT_NODES, _UPRIGHT_LETTERS = 8, 6
"""With more nodes, or with longer names, the column headings are written vertically."""


@dataclass(frozen=True)
class MatrixSection:
    """The path matrix of one network."""

    title: str
    sentence: str
    grid: PathMatrix
    legend: tuple[tuple[str, str, str], ...]
    """Role, letter and meaning of each letter in the matrix."""
    upright: bool
    ways: tuple[str, ...]
    """The paths that do not pass, with their figures."""
    more_ways: int

    def rows(self) -> Iterator[tuple[str, list[Cell]]]:
        """Yield each node with its paths to all nodes."""
        for node in self.grid.nodes:
            yield node, [self.grid.cells[node, to] for to in self.grid.nodes]


def tip(cell: Cell) -> str:
    """The tooltip of a cell."""
    return path_line(cell) if cell.letter == OWN or not cell.probe else f"{path_line(cell)}: {meaning_of(cell)}"


def matrices(grids: Iterable[PathMatrix]) -> tuple[MatrixSection, ...]:
    """Return a section for each private network with at least two nodes."""
    return tuple(_matrix(grid) for grid in grids if grid.ways)


def reason_for_no_matrix(cluster: Cluster) -> str:
    """Return the sentence that says why the page has no path matrix."""
    if isinstance(cluster.networks, Unknown):
        return f"The private networks are not known. {cluster.networks.reason}"
    return "There are no paths: racwire found no private network with two nodes."


def _matrix(grid: PathMatrix) -> MatrixSection:
    failing = [cell for cell in grid.ways if cell.is_problem]
    failures = [f"{path_line(cell)}: {meaning_of(cell)}. {cell.reason}".rstrip() for cell in failing if cell.probe]
    failures += list(dict.fromkeys(cell.reason for cell in failing if not cell.probe))
    network = grid.network
    name = network.name if network.name.startswith(network.interface) else f"{network.interface} {network.name}"
    letters = grid.letters()
    return MatrixSection(
        title=name,
        sentence=_sentence(grid, len(grid.ways) - len(failing)),
        grid=grid,
        legend=tuple((grid.role_of(letter), letter, MEANINGS[letter]) for letter in letters),
        upright=len(grid.nodes) > _UPRIGHT_NODES or max(map(len, grid.nodes)) > _UPRIGHT_LETTERS,
        ways=tuple(failures[:_MOST_WAYS]),
        more_ways=max(len(failures) - _MOST_WAYS, 0),
    )


def _sentence(grid: PathMatrix, passed: int) -> str:
    mtu = grid.network.mtu
    expected = f"MTU {mtu}" if isinstance(mtu, int) else f"MTU not known: {mtu.reason}"
    passing = f"{passed} of {counted(len(grid.ways), 'path')} pass" if grid.is_probed else "no path was probed"
    return f"{expected}; {passing}{f', {grid.as_of}' if grid.as_of else ''}."
