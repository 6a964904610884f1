"""The paths of each private network as a matrix of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.model.facts import Cluster, Unknown
from checks.model.wording import counted
from checks.report.path_lines import meaning_of, path_line
from checks.rules.path_matrix import MEANINGS, OWN, Cell, PathMatrix, path_matrices

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


def matrices(cluster: Cluster) -> tuple[MatrixSection, ...]:
    """One of each private network with two nodes or more."""
    return tuple(_matrix(grid) for grid in path_matrices(cluster) if grid.ways)


def why_none(cluster: Cluster) -> str:
    """Why there are no squares."""
    if isinstance(cluster.networks, Unknown):
        return f"The private networks are not known. {cluster.networks.reason}"
    return "There are no paths: no private network with two nodes on it was found."


def _matrix(grid: PathMatrix) -> MatrixSection:
    ill = [cell for cell in grid.ways if cell.is_problem]
    told = [f"{path_line(cell)}: {meaning_of(cell)}. {cell.reason}".rstrip() for cell in ill if cell.probe]
    told += list(dict.fromkeys(cell.reason for cell in ill if not cell.probe))
    network = grid.network
    name = network.name if network.name.startswith(network.interface) else f"{network.interface} {network.name}"
    letters = grid.letters()
    return MatrixSection(
        title=name,
        sentence=_sentence(grid, len(grid.ways) - len(ill)),
        grid=grid,
        legend=tuple((grid.role_of(letter), letter, MEANINGS[letter]) for letter in letters),
        upright=len(grid.nodes) > _UPRIGHT_NODES or max(map(len, grid.nodes)) > _UPRIGHT_LETTERS,
        ways=tuple(told[:_MOST_WAYS]),
        more_ways=max(len(told) - _MOST_WAYS, 0),
    )


def _sentence(grid: PathMatrix, well: int) -> str:
    mtu = grid.network.mtu
    meant = f"MTU {mtu}" if isinstance(mtu, int) else f"MTU not known: {mtu.reason}"
    passing = f"{well} of {counted(len(grid.ways), 'path')} pass" if grid.is_probed else "nothing was probed"
    return f"{meant}; {passing}."
