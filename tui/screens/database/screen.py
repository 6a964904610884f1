"""The Database screen: Cache Fusion figures of the instances and their pairs, now and from AWR or Statspack."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.timer import Timer

from checks.model.finding import Status
from tui.console.actions import EXPORT, SCROLLING, Action
from tui.console.app_state import AppState, News
from tui.screens.database.instance_lines import SORTED_BY
from tui.screens.database.lines import DatabaseFacts as Facts
from tui.screens.database.lines import column_width, page_in_columns, sections_of
from tui.screens.database.live_source import LiveFigures, live_of
from tui.screens.database.narrowing import narrowed
from tui.screens.database.since_run import SinceRun
from tui.screens.filtered import CLEAR, filter_action
from tui.screens.sorted_tables import TableScreen
from tui.text.line import Line, wrapped
from tui.widgets.bars import lines_below
from tui.widgets.help_text import Legend, LegendEntry
from tui.widgets.lines import Lines
from tui.widgets.run_text import state_of
from tui.widgets.sorting import SORT

DATABASE = (
    *SCROLLING,
    Action("n,tab", "section(1)", "n Tab", "Go to the next section.", "next section"),
    Action("N,shift+tab", "section(-1)", "N", "Go to the previous section."),
    *SORT,
    filter_action("rows of all tables", label="filter"),
    CLEAR,
    Action("r", "app.rerun", "r", "Run all checks again.", "rerun"),
    EXPORT,
)

_SETTLE_S = 0.25
"""Seconds to wait after a sample: the samples of all instances arrive close together, and are drawn together."""


class DatabaseScreen(TableScreen):
    """One text of several sections, updated with each run and sample."""

    NAME = "database"
    FILTERED = "row"
    SORTED_BY = SORTED_BY
    ORDER_OF = "instances"
    ACTIONS = DATABASE

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._starts: Sequence[int] = ()
        self._drawn: object = None
        self._settling: Timer | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the text."""
        yield Lines(id="database-page")
        yield self.filter_line

    def signs(self) -> Sequence[Legend]:
        """Return the legend of the letters after figures."""
        return [
            Legend(
                "Database",
                [
                    LegendEntry("F", "worse than the check's limit for FAIL", Status.FAIL.value.lower()),
                    LegendEntry("W", "worse than the check's limit for WARN", Status.WARN.value.lower()),
                    LegendEntry(
                        "I", "worth knowing: happened earlier, or was likely miscounted", Status.INFO.value.lower()
                    ),
                    LegendEntry("?", "not known", Status.UNKNOWN.value.lower()),
                    LegendEntry("-", "no value: there was no block or no ping"),
                    LegendEntry("·", "the instance itself"),
                ],
            )
        ]

    # --- drawing ------------------------------------------------------------------------------------------------------

    @property
    def is_settled(self) -> bool:
        """Whether all samples of this screen are drawn."""
        return self._settling is None and self._newest() == self._drawn

    @property
    def _page(self) -> Lines:
        return self.query_one("#database-page", Lines)

    def draw(self, news: News | None = None) -> None:
        """Draw the newest run and the newest samples."""
        if news is News.SAMPLES:
            if self._settling is None and self._newest() != self._drawn:
                self._settling = self.set_timer(_SETTLE_S, self._draw_settled)
            return
        self._draw_all()

    def _draw_settled(self) -> None:
        self._settling = None
        self._draw_all()

    def _draw_all(self) -> None:
        self._drawn = self._newest()
        self._page.show(self._lines, top=self._page.above)
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self.draw_lower_rule()

    def _newest(self) -> object:
        """Return the newest samples of this screen, without those of nodes."""
        timeline = self.state.timeline
        sources = [s for s in timeline.sources() if s.is_of_database]
        feed = self.state.feed
        return feed.trouble, feed.pace_text, [timeline.newest(source) for source in sources]

    def _lines(self, width: int) -> list[Line]:
        facts = self._facts()
        if facts is None:
            self._starts = ()
            text = "The database is not known yet: the checks are running."
            if held_by := self.state.feed.held_by:
                text = self.state.no_run_yet or f"{held_by} is being read."
            return [[(f" {line}", "faint")] for line in wrapped(text, width - 1)]
        column = column_width(width)
        sections = sections_of(facts, column)
        if query := self.filter_text:
            sections, shown, known = narrowed(sections, query, column)
            self.note_remaining(shown, known)
            if not sections:
                return [[(f" {line}", "faint")] for line in wrapped(self.nothing_matches(), width - 1)]
        lines, self._starts = page_in_columns(sections, width)
        return lines

    def _facts(self) -> Facts | None:
        board = self.state.run
        newest = self.state.report
        if newest is None:
            return None
        cluster = newest.cluster
        return Facts(
            cluster.database,
            cluster.activity,
            cluster.history,
            newest.cluster,
            self._live(),
            board.progress if board.running else "",
            self.state.graphs,
            self.state.feed.held_by,
            self.state.feed.is_saved,
            self.sorting,
            SinceRun(newest, self.state.situation, self.state.clock),
        )

    def _live(self) -> LiveFigures:
        feed = self.state.feed
        pace = "" if feed.replayed else feed.pace_text
        return live_of(self.state.timeline, feed.trouble, feed.word, self.state.zone, pace)

    def lower_texts(self) -> tuple[str, str]:
        """Return the progress of the run, and how many lines lie below."""
        return state_of(self.state.run), lines_below(self._page.below)

    def on_resize(self, event: events.Resize) -> None:
        """Update the count of lines below after the widget has laid out its text."""
        self.call_after_refresh(self.draw_lower_rule)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._page.scroll_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by screens."""
        self._page.scroll_pages(pages)

    def action_edge(self, end: bool) -> None:
        """Go to the start or the end."""
        self._page.scroll_by(1_000_000 if end else -1_000_000)

    def action_section(self, by: int) -> None:
        """Go to the start of another section. The last sections may fit on one screen together."""
        page = self._page
        others = [at for at in self._starts if (at > page.above if by > 0 else at < page.above)]
        if others:
            page.scroll_by((others[0] if by > 0 else others[-1]) - page.above)
