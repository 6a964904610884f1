"""Pairs of instances as a table that fits a terminal: a matrix, or the worst pairs where a matrix is too wide."""

from __future__ import annotations

from collections.abc import Mapping

from checks.model.facts import Cluster
from checks.model.finding import Table
from checks.model.known_instances import instance_name
from checks.model.wording import counted

Pair = tuple[int, int]

_MOST_ROWS = 12
_WORST = 8


def pairs_table(
    cluster: Cluster,
    ends: tuple[str, str],
    cells: Mapping[Pair, str],
    gravity: Mapping[Pair, float],
    legend: str,
    *,
    heading: str,
    most: int = 6,
) -> Table | None:
    """Return a table with a row for the first and a column for the second instance of each pair.

    `ends` names the two: `("to", "from")`. A matrix of all instances has at most `most` columns; with more instances
    it has only those with a gravity above 0. Where the matrix is still too wide, the table lists the worst pairs, under
    `heading`. None where there is nothing to display.
    """
    everyone = sorted({n for pair in cells for n in pair})
    grave = sorted((p for p in cells if gravity.get(p, 0) > 0), key=lambda p: (-gravity[p], p))
    rows, columns = everyone, everyone
    if len(everyone) > most:
        rows, columns = sorted({a for a, _ in grave}), sorted({b for _, b in grave})
    if not rows:
        return None
    if len(columns) > most or len(rows) > _MOST_ROWS:
        worst = tuple((*(instance_name(cluster, n) for n in pair), cells[pair]) for pair in grave[:_WORST])
        more = f"; the {len(worst)} worst of {counted(len(grave), 'pair')}" if len(grave) > len(worst) else ""
        return Table((*ends, heading), worst, f"{legend}{more}")
    return Table(
        (" \\ ".join(ends), *(instance_name(cluster, n) for n in columns)),
        tuple((instance_name(cluster, a), *("·" if a == b else cells.get((a, b), "") for b in columns)) for a in rows),
        legend,
    )
