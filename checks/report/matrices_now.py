"""The path matrices at the moment of a situation: a path that is not known any more, or that a step of a change has
stopped, has its own letter, and every other one the time as of which it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Cluster, PathProbe, Verdict
from checks.model.finding import Status
from checks.model.situation import Situation, Standing, Statement
from checks.report.standing_text import Clock, said_text
from checks.rules.path_matrix import PLANNED, Cell, PathMatrix, path_matrices


def matrices_now(
    cluster: Cluster, situation: Situation | None, clock: Clock, so_far: Sequence[PathProbe] | None = None
) -> tuple[PathMatrix, ...]:
    """Return a matrix for each private network as the situation has its paths; without one, as the run read them.
    `so_far` is as `path_matrices` has it."""
    grids = path_matrices(cluster, so_far)
    if situation is None or so_far is not None:
        return grids
    said = situation.of_condition()
    return tuple(_at_moment(grid, said, clock) for grid in grids)


def _at_moment(grid: PathMatrix, said: Mapping[Condition, Statement], clock: Clock) -> PathMatrix:
    cells, held = dict(grid.cells), list[float]()
    for way, cell in grid.cells.items():
        path = said.get(Condition(ConditionKind.PATH, cell.from_node, grid.network.name, cell.to_node))
        if path is not None:
            cells[way] = _cell(cell, path, clock)
            held += [path.as_of] if cells[way].letter not in (PLANNED, Verdict.UNKNOWN.letter) else []
    return replace(grid, cells=cells, as_of=f"as of {clock(min(held))}" if held else "")


def _cell(cell: Cell, said: Statement, clock: Clock) -> Cell:
    if said.standing is Standing.UNKNOWN:
        text = said_text(said, clock, cell.status, can_verify=False)
        return replace(
            cell,
            letter=Verdict.UNKNOWN.letter,
            status=Status.UNKNOWN,
            figure="",
            reason=f"{text[:1].upper()}{text[1:]}.",
        )
    if said.standing is Standing.PLANNED:
        text = said_text(said, clock)
        return replace(cell, letter=PLANNED, status=Status.INFO, figure="", reason=f"{text[:1].upper()}{text[1:]}.")
    return replace(cell, reason=f"As of {clock(said.as_of)}. {cell.reason}".rstrip())
