"""The Checks screen: the list of causes and findings, and the selected one with its reasons and next steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from textual import on
from textual.app import ComposeResult

from checks.model.finding import Key
from checks.rules.waivers import ended
from tui.console.actions import CHECKS, Action, relabelled
from tui.console.app_state import AppState, News
from tui.console.finding_rows import FindingRow, RowMark, Section
from tui.console.messages import CopyWanted
from tui.screens.checks.finding_list import FindingList
from tui.screens.checks.run_keys import RunKeysScreen
from tui.screens.checks.verdict import has_problem, is_passed, passed_first, verdict_of
from tui.screens.zoom import ZoomScreen
from tui.terminal.clipboard import commands_text
from tui.text.line import Line, hanging, wrapped
from tui.widgets.bars import lines_below
from tui.widgets.help_text import MARKS, PATHS, STATUSES, Legend
from tui.widgets.lines import Lines
from tui.widgets.panes import Pane, Panes
from tui.widgets.run_text import counts_line, row_lines, state_of


class ChecksScreen(ZoomScreen, RunKeysScreen):
    """The list of findings and the selected one. It draws the run state, and requests runs and files from the app."""

    NAME = "checks"
    FILTERED = "finding"
    ACTIONS = CHECKS

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._problems_only = False
        self._unfolded: frozenset[Key] = frozenset()
        self._shown: FindingRow | None = None
        self._verdict = ""
        """The sentence of a run without an open problem."""
        self._evidence = Lines(self._evidence_lines, id="evidence")

    def compose_body(self) -> ComposeResult:
        """Yield the two panes."""
        with Panes(id="panes"):
            with Pane(id="left"):
                yield Lines(self._counts, id="counts", classes="bar")
                yield FindingList(id="list")
                yield self.filter_line
            with Pane(id="right"):
                yield Lines(id="finding")

    # --- drawing ------------------------------------------------------------------------------------------------------

    def draw(self, news: News | None = None) -> None:
        """Draw the state of the run."""
        if news is News.SAMPLES:
            return
        if news is not News.PROGRESS:
            query = self.filter_text
            listed = self.listed
            rows = listed.rows(query, problems_only=self._problems_only, unfolded=self._unfolded) if listed else []
            pending = self.state.run.pending if not query and self.state.run.history is None else ()
            if query and listed:
                self.note_remaining(_findings(rows), _findings(listed.rows()))
            self._verdict = "" if query or self._problems_only else verdict_of(self.state.run, self.listed, rows)
            new = self._new_problem(rows)
            self._list.show_rows(
                rows if query or has_problem(rows) else passed_first(rows),
                pending,
                ended(listed.report.waivers) if listed and not query else (),
                clock=self.state.clock,
                new=new,
                has_verdict=bool(self._verdict),
            )
            if new is not None:
                self.draw_keys()
            self.query_one("#counts", Lines).show(self._counts)
            self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()

    def _new_problem(self, rows: Sequence[FindingRow]) -> FindingRow | None:
        """Return the first problem that is new since the operator saw the list, where none is worse; one that has
        become less is not new. None during the first run, and where the list is not whole."""
        if self.filter_text or self._problems_only or self._past or not self.state.run.is_whole:
            return None
        problems = [row for row in rows if row.section <= Section.PROBLEMS and row.parent is None]
        worst = min((row.status.gravity for row in problems), default=0)
        new = self._list.eye.new_of([row.key for row in problems if row.mark is not RowMark.BETTER])
        return next((row for row in problems if row.key in new and row.status.gravity == worst), None)

    def _counts(self, width: int) -> list[Line]:
        limits = ["problems only"] if self._problems_only else []
        limits += [f"run {self._past_number} of {len(self.state.run.past)}"] if self._past else []
        return [counts_line(self.listed, limits, width)]

    @property
    def joints(self) -> Sequence[int]:
        """The columns of the lines between the panes."""
        return [column for panes in self.query(Panes) for column in panes.joints]

    def lower_texts(self) -> tuple[str, str]:
        """Return the progress of the run, and how many lines of the finding lie below."""
        progress = state_of(self.state.run, self.listed, self.state.clock) if self._past is None else ""
        return progress, lines_below(self._finding.below if self.query_one("#right").display else 0)

    @on(FindingList.Chosen)
    def show_finding(self, message: FindingList.Chosen) -> None:
        """Show the selected finding; an update of the same finding keeps the scroll position."""
        row, shown = message.row, self._shown
        self._shown = row
        same = row is not None and shown is not None and row.key == shown.key
        self._finding.show(lambda width: self._finding_lines(row, width), top=self._finding.above if same else 0)
        if self._evidence.is_mounted:
            self._evidence.show(self._evidence_lines)
        self.draw_lower_rule()

    def _evidence_lines(self, width: int) -> list[Line]:
        """Return what racwire read and sent for the selected row, that of its first finding before that of its effects
        and the shortest first, as far as it fits. Tab shows the rest."""
        room = self._evidence.size.height - 2
        if (row := self._shown) is None or row.is_fold or room <= 0:  # in a narrower terminal it is not shown
            return []
        from tui.text.evidence_lines import evidence_lines

        own = {id(entry) for entry in row.report.evidence(row.finding)}
        read = sorted(row.evidence(), key=lambda entry: (id(entry) not in own, len(entry.action) + len(entry.text)))
        return [[("Evidence", "title")], [], *islice(evidence_lines(read, width), room)]

    def _finding_lines(self, row: FindingRow | None, width: int) -> list[Line]:
        if row is None:
            return [[(text, "faint")] for text in wrapped(self._nothing(), width)]
        if self._verdict and is_passed(row):
            return [*hanging([], self._verdict, width, "title"), [], *row_lines(row, width, self.state.clock)]
        return row_lines(row, width, self.state.clock)

    def _nothing(self) -> str:
        if self.filter_text:
            return self.nothing_matches()
        if self._problems_only:
            return "There is no problem; Esc shows all findings again."
        if self.state.run.running:
            return "The runs are being judged." if self.state.feed.replayed else "The checks are running."
        return self.state.no_run_yet or "There are no findings."

    @on(Pane.LaidOut)
    async def join_rules(self) -> None:
        """Join the rules to the lines between the panes. Only a very wide terminal has room for the evidence."""
        if self.has_class("-large") and not self._evidence.is_attached:
            await self.query_one(Panes).mount(self._evidence)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()

    # --- keys ---------------------------------------------------------------------------------------------------------

    @property
    def _finding(self) -> Lines:
        return self.query_one("#finding", Lines)

    def action_move(self, by: int) -> None:
        """Select another finding."""
        self._list.move(by)

    def action_back(self) -> None:
        """Select what was selected before a new problem was."""
        if not self._list.go_back():
            self.notice("Backspace returns to what was selected before a new problem; there is nothing.")
        self.draw_keys()

    def footer(self) -> Sequence[Action]:
        """Return the commands for the last line: with a way back from a new problem."""
        if not self.query(FindingList) or self._list.way_back is None:
            return super().footer()
        return relabelled(super().footer(), {"back": "back", "filter": "", "copy": ""})

    def action_edge(self, end: bool) -> None:
        """Select the first or the last finding."""
        self._list.edge(end)

    def action_page(self, pages: int) -> None:
        """Scroll the finding by screens."""
        self._finding.scroll_pages(pages)

    def action_clear(self) -> None:
        """Show everything again, of the last run."""
        self._problems_only, self._past = False, None
        self.filter_line.clear()
        self.draw()

    def filter_by(self, text: str) -> None:
        """Show only the findings that contain the text."""
        self._past, self._problems_only = None, False
        self.filter_line.write(text)
        self.draw()

    def select_code(self, code: str) -> bool:
        """Select the first row of a cause or finding with that code, and unfold what contains it. Return False where
        there is none."""
        self._past, self._problems_only = None, False
        self.filter_line.write("")
        rows = self.listed.rows() if self.listed else []
        below = {row.key for row in rows if row.entry and any(f.code == code for f in row.entry.all_findings)}
        below |= {row.key for row in rows if any(one.finding.code == code for one in row.calm)}
        own = {row.key for row in rows if row.key[1] == code}
        self._unfolded |= below - own
        self.draw()
        return self._list.select(lambda row: row.key[1] == code)

    def action_problems(self) -> None:
        """Show only problems, or everything again."""
        self._problems_only = not self._problems_only
        self.draw()

    def action_whole(self, *, at_evidence: bool = False) -> None:
        """Show the cause or the finding at full width, and its evidence; or unfold what passed."""
        from tui.screens.finding_page import FindingScreen

        if (row := self._list.chosen) is None:
            return
        if row.is_fold:
            self.action_fold(row.is_open)
        else:
            self.app.push_screen(FindingScreen(row, self.listed, self.state.clock, at_evidence=at_evidence))

    def action_evidence(self) -> None:
        """Show what racwire read and sent for the cause or the finding."""
        self.action_whole(at_evidence=True)

    def action_fold(self, fold: bool) -> None:
        """Hide or show the findings of the selected row."""
        row = self._list.chosen
        parent = row and (row.key if row.entry or row.is_fold else row.parent)
        if not parent:
            return
        self._unfolded = self._unfolded - {parent} if fold else self._unfolded | {parent}
        self._list.stay()
        self.draw()

    def action_copy(self) -> None:
        """Copy the commands of the finding."""
        if row := self._list.chosen:
            if text := commands_text(row.next):
                self.post_message(CopyWanted(text))
            else:
                self.notice("This finding has no commands.")

    def signs(self) -> Sequence[Legend]:
        """Return the legends of statuses, marks, and the path letters in tables of findings."""
        return (STATUSES, MARKS, PATHS)


def _findings(rows: Iterable[FindingRow]) -> int:
    """Return the number of findings that the rows stand for."""
    return len({key for row in rows for key in (row.keys or (row.key,))})
