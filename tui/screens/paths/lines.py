"""The text of the Paths screen: its networks together or one at a time, the path under the cursor, the legend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType

from checks.model.facts import Cluster, Unknown, Verdict
from checks.model.wording import counted
from checks.report.path_lines import meaning_of, path_line
from checks.rules.path_matrix import MEANINGS, Cell, PathMatrix
from tui.screens.paths.matrix import Place, matrix_lines
from tui.screens.paths.reader_page import series_lines
from tui.text.line import Line, cut, fitted, hanging, sanitize_line, side_by_side, wrapped

_ROOM_FOR_HEADING = 60
"""Width from which the legend has a heading."""
_ROOM_FOR_BOTH = 160
"""Width from which the foot has both directions of a path."""
_LEAST_JOURNAL = 4
"""Fewest lines of the journal that are worth a heading."""


@dataclass(frozen=True)
class PathsPage:
    """The lines between the rules, above the foot."""

    lines: Sequence[Line]
    cursor: int
    """The number of the line with the cursor."""
    title: str = ""
    """The title for the upper rule, where only one of the networks is displayed."""
    place: str = ""
    """The number of the displayed network: `network 1 of 2`."""
    matrices: Mapping[int, PathMatrix] = field(default_factory=dict)
    """The displayed networks by the first line of their matrix."""


def page_of(
    grids: Sequence[PathMatrix],
    network: str,
    place: Place | None,
    width: int,
    height: int,
    whole: Mapping[str, PathMatrix] = MappingProxyType({}),
) -> PathsPage:
    """Return the page with all networks where they fit, otherwise with the one under the cursor. `whole` has the
    matrices with all paths by the name of their network, where a filter hides some: their titles count all paths."""
    titles = [_title(whole.get(grid.network.name, grid)) for grid in grids]
    chosen = next((n for n, grid in enumerate(grids) if grid.network.name == network), 0)
    stacked: list[Line] = []
    matrices: dict[int, PathMatrix] = {}
    cursor = 0
    for number, grid in enumerate(grids):
        if number:
            stacked.append([])
        stacked.append([(" " + fitted(titles[number], width - 2) if width > 2 else "", "title")])
        if number == chosen:
            cursor = len(stacked) + _row(grid, place)
        matrices[len(stacked)] = grid
        stacked += matrix_lines(grid, width, place if number == chosen else None)
    if len(stacked) <= height or not grids:
        return PathsPage(stacked, cursor, matrices=matrices)
    one = grids[chosen]
    which = f"network {chosen + 1} of {len(grids)}" if len(grids) > 1 else ""
    return PathsPage(matrix_lines(one, width, place), _row(one, place), titles[chosen], which, {0: one})


def _row(grid: PathMatrix, place: Place | None) -> int:
    return 1 + (grid.nodes.index(place[0]) if place and place[0] in grid.nodes else 0)


def _title(grid: PathMatrix) -> str:
    network, ways = grid.network, grid.ways
    mtu = f"MTU {network.mtu}" if isinstance(network.mtu, int) else "MTU not known"
    passed = sum(not cell.is_problem for cell in ways)
    passing = f"{passed} of {counted(len(ways), 'path')} pass" if grid.is_probed else "not probed"
    if unknown := sum(cell.letter == Verdict.UNKNOWN.letter for cell in ways) if grid.is_probed else 0:
        passing += f", {unknown} not known"
    if grid.as_of:
        passing += f", {grid.as_of}"
    if grid.pending:
        passing = f"{len(ways) - grid.pending} of {counted(len(ways), 'path')} probed"
    lost, sent = grid.fragments
    if lost:
        passing += f"  fragmented: {lost} of {sent} lost"
    if not ways:
        passing = "no paths: there is only one node"
    name = network.name if network.name.startswith(network.interface) else f"{network.interface} {network.name}"
    return f"{sanitize_line(name)}  {mtu}  {passing}"


# --- the foot ---------------------------------------------------------------------------------------------------------


def foot_lines(
    grids: Sequence[PathMatrix],
    cell: Cell | None,
    width: int,
    height: int,
    journal_lines: Callable[[int], Iterable[Line]] | None = None,
) -> list[Line]:
    """Return the foot in `height` lines: the path under the cursor, further facts about it if they fit, and the
    legend. A wide foot has the opposite path at its right, and a high one what racwire read and sent for both, by
    `journal_lines` of a width."""
    legend = _legend(grids, width)
    legend = legend[: max(height - 1, 1)] if len(legend) < height else legend[:1]
    room = height - len(legend)
    shown = _way_lines(cell, width, room) if cell else []
    if cell and width >= _ROOM_FOR_BOTH and (back := _opposite(grids, cell)):
        shown = side_by_side(_way_lines(cell, width // 2 - 1, room), _way_lines(back, width // 2, room), width // 2)
    spare = room - len(shown) - 2
    if journal_lines and spare >= _LEAST_JOURNAL and (read := list(islice(journal_lines(width - 2), spare))):
        shown += [[], [(" Commands and packets, from the journal", "title")]]
        shown += [[(" ", ""), *line] for line in read]
    return [*shown, *[[]] * (room - len(shown)), *legend]


def _opposite(grids: Sequence[PathMatrix], cell: Cell | None) -> Cell | None:
    return (
        next((grid.cells[cell.to_node, cell.from_node] for grid in grids if cell in grid.ways), None) if cell else None
    )


def _way_lines(cell: Cell, width: int, room: int) -> list[Line]:
    """Return a path in at most `room` lines."""
    if room == 1:
        text, role = next(_about(cell))
        return [[(" " + fitted(sanitize_line(text), width - 1), role)]]
    shown: list[Line] = [[(f" {line}", role)] for text, role in _about(cell) for line in wrapped(text, width - 1)]
    if cell.probe and cell.probe.series:
        probes = list(series_lines(cell.probe, width))
        shown += probes if len(shown) + len(probes) <= room else []
    return shown[:room]


def _about(cell: Cell) -> Iterator[tuple[str, str]]:
    yield path_line(cell), cell.role if cell.is_problem and cell.probe is None else ""
    if cell.probe is None:
        return
    yield f"{cell.letter} {meaning_of(cell)}", cell.role
    if cell.reason:
        yield cell.reason, ""


def _legend(grids: Sequence[PathMatrix], width: int) -> list[Line]:
    """Return the letters that occur with their meanings. The heading names them letters: `1500 B` could read as
    bytes."""
    roles: dict[str, str] = {}
    for grid in grids:
        for letter in grid.letters():
            roles[letter] = "fail" if roles.get(letter) == "fail" else grid.role_of(letter)
    heading = " Letters:" if width >= _ROOM_FOR_HEADING else ""
    line: list[tuple[str, str]] = [(heading, "faint")] if heading else []
    lines: list[Line] = []
    used = len(heading)
    for letter in (letter for letter in MEANINGS if letter in roles):
        text = cut(f" {MEANINGS[letter]}", max(width - 2, 0))
        gap = "  " if line and line[-1][0] != heading else " "
        needed = len(gap) + 1 + len(text)
        if line and used + needed > width:
            lines.append(line)
            line, used = [], 0
            gap, needed = " ", len(text) + 2
        line += [(gap, ""), (letter, roles[letter]), (text, "faint")]
        used += needed
    return [*lines, line]


# --- nothing to show --------------------------------------------------------------------------------------------------


def waiting_lines(running: bool, progress: str, width: int, *, held_by: str = "") -> list[Line]:
    """Return why no paths are known yet; for a recording, that it contains none."""
    text = "The paths are not known: the checks did not finish. r runs them again."
    if held_by:
        text = f"{held_by} contains no paths."
    elif running:
        text = f"The paths are not known yet: the checks are running ({sanitize_line(progress)})."
    return [[(f" {line}", "faint")] for line in wrapped(text, width - 1)]


def no_networks_lines(cluster: Cluster, width: int, *, held_by: str = "", planned: str = "") -> list[Line]:
    """Return why there is no private network, and what to do; for a recording only the reason, as where a step of a
    change has stopped Clusterware here: `planned by the step stack down, as of 20:18:04`."""
    if held_by:
        reason = cluster.networks.reason if isinstance(cluster.networks, Unknown) else "oifcfg listed none."
        return list(hanging([(" ? ", "unknown")], f"{held_by} contains no private networks. {reason}", width))
    if isinstance(cluster.networks, Unknown) and planned:
        text = f"The private networks are not known, {planned}. {cluster.networks.reason}"
        return list(hanging([(" ~ ", "accent")], text, width))
    if isinstance(cluster.networks, Unknown):
        text = f"The private networks are not known. {cluster.networks.reason}"
    else:
        text = "No private network is configured: oifcfg names none as cluster_interconnect."
    lines: list[Line] = list(hanging([(" ? ", "unknown")], text, width))
    advice = "The Checks screen (1) shows what to do; r runs the checks again."
    return [*lines, [], *hanging([("   ", "")], advice, width)]
