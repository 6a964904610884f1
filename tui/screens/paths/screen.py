"""The Paths screen: which nodes reach each other over each private network, and with which packet size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from textual import events, on
from textual.app import ComposeResult

from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Cluster, PathProbe
from checks.model.report import Report
from checks.model.situation import Situation, Standing
from checks.report.matrices_now import matrices_now
from checks.report.standing_text import said_text
from checks.rules.path_matrix import MEANINGS, OWN, Cell, PathMatrix, problems
from tui.console.actions import EXPORT, Action, zoom_action
from tui.console.app_state import AppState, News
from tui.screens.filtered import CLEAR, FilteredScreen, filter_action
from tui.screens.paths.lines import PathsPage, foot_lines, no_networks_lines, page_of, waiting_lines
from tui.screens.paths.matrix import narrowed, place_at
from tui.screens.paths.reader_page import journal_lines, path_text, reader_lines
from tui.screens.reader import ReaderScreen
from tui.screens.zoom import ZoomScreen
from tui.text.line import Line, has_words, sanitize_line, wrapped
from tui.widgets.help_text import Legend, LegendEntry
from tui.widgets.lines import Lines
from tui.widgets.run_text import state_of

PATHS = (
    Action("up,k", "move(-1, 0)", "↑ k", "Select the path above, from another node."),
    Action("down,j", "move(1, 0)", "↓ j", "Select the path below."),
    Action("left,h", "move(0, -1)", "← h", "Select the path on the left, to another node."),
    Action("right,l", "move(0, 1)", "→ l", "Select the path on the right."),
    Action("home,g", "edge(False)", "g Home", "Select the paths of the first node."),
    Action("end,G", "edge(True)", "G End", "Select the paths of the last node."),
    Action(
        "enter",
        "read",
        "Enter",
        "Show the path in both directions, with all that racwire sent; so does a second click.",
        "read",
    ),
    Action("p", "problem", "p", "Select the next path that has a problem or is not known.", "next problem"),
    Action("n", "network", "n", "Select the next private network.", "next network"),
    filter_action("paths", label="filter"),
    CLEAR,
    Action("r", "app.rerun", "r", "Run all checks again.", "rerun"),
    EXPORT,
    zoom_action("the selected path"),
)

_BARS = 5
"""Lines of the screen outside the body."""
_LEAST_FOOT, _MOST_FOOT = 2, 40

Place = tuple[str, str, str]
"""A network, a from-node, a to-node."""


class PathsScreen(ZoomScreen, FilteredScreen):
    """The path matrices of the private networks, and below them the path under the cursor."""

    NAME = "paths"
    FILTERED = "path"
    ACTIONS = PATHS

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._report: Report | None = None
        self._drawn_of: tuple[Cluster | None, tuple[PathProbe, ...] | None, Situation | None] = (None, None, None)
        """The facts of the matrices; the paths that have been probed while others are pending; the situation."""
        self._all_grids: Sequence[PathMatrix] = ()
        self._grids: Sequence[PathMatrix] = ()
        """Those with a path that matches the filter, without the other paths."""
        self._texts: dict[Place, str] = {}
        """What the filter searches, once there is one."""
        self._place: Place | None = None
        self._moved = False
        self._page = PathsPage((), 0)

    def compose_body(self) -> ComposeResult:
        """Yield the matrices and the foot."""
        yield Lines(id="path-matrix")
        yield Lines(id="path-foot")
        yield self.filter_line

    def signs(self) -> Sequence[Legend]:
        """Return the legend of the letters in the matrices."""
        return [Legend("Paths", [LegendEntry(letter, meaning) for letter, meaning in MEANINGS.items()])]

    # --- drawing ------------------------------------------------------------------------------------------------------

    def draw(self, news: News | None = None) -> None:
        """Draw the paths of the newest run that has them."""
        if news is News.SAMPLES:
            return
        run = self.state.run
        report, so_far = run.report, None
        if report is not None and not report.cluster.is_gathered("paths") and not run.is_whole:
            report, so_far = (report, run.paths_so_far) if run.paths_so_far else (None, None)
        drawn_of = (report.cluster if report else None, so_far, self.state.situation)
        if any(one is not other for one, other in zip(drawn_of, self._drawn_of, strict=True)):
            self._all_grids = matrices_now(report.cluster, drawn_of[2], self.state.clock, so_far) if report else ()
            self._texts.clear()
        self._report, self._drawn_of = report, drawn_of
        self._grids = self._filtered()
        self._keep_cursor()
        self._lay_out()

    def _filtered(self) -> Sequence[PathMatrix]:
        """Return the matrices with the paths whose text has the words of the filter."""
        if not self.filter_text:
            return self._all_grids
        if not self._texts:
            for grid in self._all_grids:
                for cell in grid.ways:
                    self._texts[grid.network.name, cell.from_node, cell.to_node] = path_text(grid, cell)
        found = {place for place, text in self._texts.items() if has_words(text, self.filter_text)}
        self.note_remaining(len(found), len(self._texts))
        grids = (
            narrowed(grid, {place[1:] for place in found if place[0] == grid.network.name}) for grid in self._all_grids
        )
        return [grid for grid in grids if grid.nodes]

    def _keep_cursor(self) -> None:
        """Keep the cursor on its path; until the operator moves it, on the first path with a problem."""
        ways = {(g.network.name, *way) for g in self._grids for way in g.cells}
        if self._moved and self._place in ways:
            return
        first = [(g.network.name, c.from_node, c.to_node) for g in self._grids for c in (g.ways or g.cells.values())]
        self._place = next(iter([*problems(self._grids), *first]), None)

    def _lay_out(self) -> None:
        width, height = self.size.width, max(self.size.height - _BARS - self.filter_line.is_open, 3)
        way = self._place[1:] if self._place else None
        network = self._place[0] if self._place else ""
        whole = {grid.network.name: grid for grid in self._all_grids}
        self._page = page_of(self._grids, network, way, width, height - _LEAST_FOOT, whole)
        matrix, foot = self.query_one("#path-matrix", Lines), self.query_one("#path-foot", Lines)
        room = min(max(height - len(self._page.lines) - 1, _LEAST_FOOT), _MOST_FOOT) if self._grids else 0
        is_alone = self.is_zoomed and bool(self._grids)
        room = height if is_alone else room
        matrix.display = not is_alone
        foot.styles.height = room
        foot.display = bool(self._grids)
        if self._grids:
            rows = height - room
            top = min(max(matrix.above, self._page.cursor - rows + 1), max(self._page.cursor - 1, 0))
            matrix.show(lambda _: self._page.lines, top=top)
            foot.show(lambda wide: foot_lines(self._grids, self._cell, wide, room, self._journal_lines))
        else:
            matrix.show(self._nothing)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()

    def _journal_lines(self, width: int) -> Iterator[Line]:
        report, grid, cell = self._report, self._grid, self._cell
        if report is not None and grid is not None and cell is not None and cell.letter != OWN:
            yield from journal_lines(report, grid, cell, width)

    def _nothing(self, width: int) -> list[Line]:
        held_by = self.state.feed.held_by
        if self._all_grids:
            return [[(f" {line}", "faint")] for line in wrapped(self.nothing_matches(), width - 1)]
        if self._report is None and self.state.no_run_yet:
            return [[(f" {line}", "faint")] for line in wrapped(self.state.no_run_yet, width - 1)]
        if self._report is None:
            return waiting_lines(self.state.run.running, self.state.run.progress, width, held_by=held_by)
        cluster = self._report.cluster
        stack = self.state.situation.of_condition().get(Condition(ConditionKind.STACK, cluster.local_node))
        is_planned = stack is not None and stack.standing is Standing.PLANNED
        planned = said_text(stack, self.state.clock) if stack and is_planned else ""
        return no_networks_lines(cluster, width, held_by=held_by, planned=planned)

    def upper_texts(self) -> Sequence[tuple[str, str]]:
        """Return the filter, and the displayed network and its number where not all fit."""
        shorter = list(accumulate(self._page.title.split("  "), "{}  {}".format))[::-1]
        whole = [(text, place) for place in (self._page.place, "") for text in shorter]
        if note := self.filter_note:
            return [*((f"{note}  {text}" if text else note, place) for text, place in whole), (note, "")]
        return whole

    def lower_texts(self) -> tuple[str, str]:
        """Return the progress of the run, and how many lines lie below."""
        below = self.query_one("#path-matrix", Lines).below
        return state_of(self.state.run), f"{below} more below" if below else ""

    @on(Lines.Clicked, "#path-matrix")
    def choose_clicked(self, message: Lines.Clicked) -> None:
        """Select the clicked path; open it if it is selected already."""
        first = max((line for line in self._page.matrices if line <= message.line), default=None)
        if first is None:
            return
        grid = self._page.matrices[first]
        chosen = self._place[1:] if self._place and self._place[0] == grid.network.name else None
        way = place_at(grid, self.size.width, chosen, message.line - first, message.column)
        if way is not None and way == chosen:
            self.action_read()
        elif way is not None:
            self._go((grid.network.name, *way))

    def on_resize(self, event: events.Resize) -> None:
        """Lay out the matrices for the new width."""
        self.call_after_refresh(self._lay_out)

    # --- keys ---------------------------------------------------------------------------------------------------------

    @property
    def _grid(self) -> PathMatrix | None:
        return next((g for g in self._grids if self._place and g.network.name == self._place[0]), None)

    @property
    def _cell(self) -> Cell | None:
        return self._grid.cells.get(self._place[1:]) if self._grid and self._place else None

    def _go(self, place: Place) -> None:
        self._place, self._moved = place, True
        self._lay_out()

    def action_move(self, down: int, right: int) -> None:
        """Move the cursor; over the edge of a matrix into the next one, where both are displayed."""
        grid, cell = self._grid, self._cell
        if grid is None or cell is None:
            return
        row, column = grid.nodes.index(cell.from_node) + down, grid.nodes.index(cell.to_node) + right
        if not 0 <= row < len(grid.nodes) and not self._page.title:
            number = self._grids.index(grid) + down
            if 0 <= number < len(self._grids):
                grid = self._grids[number]
                row = 0 if down > 0 else len(grid.nodes) - 1
        row, column = (min(max(at, 0), len(grid.nodes) - 1) for at in (row, column))
        while (way := (grid.nodes[row], grid.nodes[column])) not in grid.cells:  # paths that the filter hides
            row, column = row + down, column + right
            if not (0 <= row < len(grid.nodes) and 0 <= column < len(grid.nodes)):
                return
        self._go((grid.network.name, *way))

    def action_edge(self, end: bool) -> None:
        """Move the cursor to the first or the last row of its matrix."""
        if self._grid and self._place:
            rows = [a for a in self._grid.nodes if (a, self._place[2]) in self._grid.cells]
            self._go((self._place[0], rows[-1 if end else 0], self._place[2]))

    def action_problem(self) -> None:
        """Move the cursor to the next path with a problem; after the last comes the first."""
        found = problems(self._grids)
        if not found:
            is_pending = any(grid.pending for grid in self._grids)
            passing = "The paths are still being probed." if is_pending else "Every path passes."
            self.notice(passing if self._grids else "No path is known.")
            return
        everything = [(g.network.name, *way) for g in self._grids for way in g.cells]
        at = everything.index(self._place) if self._place in everything else -1
        self._go(next((place for place in found if everything.index(place) > at), found[0]))

    def action_network(self) -> None:
        """Move the cursor to the same path of the next network, or to its first path."""
        if self._grid is None or self._place is None or len(self._grids) < 2:
            self.notice("There is no other private network.")
            return
        grid = self._grids[(self._grids.index(self._grid) + 1) % len(self._grids)]
        way = self._place[1:] if self._place[1:] in grid.cells else next(iter(grid.cells), None)
        if way is not None:
            self._go((grid.network.name, *way))

    def action_read(self) -> None:
        """Show the path under the cursor in both directions."""
        report, cell = self._report, self._cell
        grid = next((g for g in self._all_grids if self._place and g.network.name == self._place[0]), None)
        if report is None or grid is None or cell is None:
            return
        if cell.letter == OWN:
            self.notice(f"{cell.from_node} sends nothing to itself: choose a path to another node.")
            return
        nodes = f"{sanitize_line(cell.from_node)} and {sanitize_line(cell.to_node)}"
        title = f"Path  {sanitize_line(grid.network.name)}  {nodes}"
        self.app.push_screen(ReaderScreen(title, lambda width: list(reader_lines(report, grid, cell, width))))
