"""The Measure screen: the experiments, what the selected one would send, and what is being sent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from checks.model.measurement import Measurement
from checks.model.shell_command import shell
from checks.report.measured.fit import not_shown
from checks.rules.measured_moment import Misfit, misfit, moment_of
from tui.cli.options import ENTERED
from tui.console.actions import Action, bindings
from tui.console.app_state import AppState, News
from tui.console.measure_state import (
    ENTRIES,
    FindResults,
    MeasureEntry,
    PathChoice,
)
from tui.console.messages import CopyWanted, MeasureWanted
from tui.screens.measure import keys as keys
from tui.screens.measure.lines import (
    ended_lines,
    entry_line,
    past_lines,
    plan_lines,
    rest_line,
    results_lines,
    sending_line,
    sending_lines,
)
from tui.screens.measure.plan_keys import PlanKeysScreen
from tui.screens.reader import ReaderScreen
from tui.screens.zoom import ZoomScreen
from tui.text.line import Line, cell_len, hanging, sanitize_line, side_by_side
from tui.text.measurement_lines import measurement_lines
from tui.widgets.bars import lines_below
from tui.widgets.choice_list import ChoiceList
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines
from tui.widgets.panes import Pane, Panes
from tui.widgets.run_text import state_of

_ROOM_FOR_RESULTS, _RESULTS = 130, 60
"""Columns from which the results of all experiments are at the right of the page, and their columns."""


class MeasureScreen(ZoomScreen, PlanKeysScreen):
    """The list of experiments and the page of the selected one. It requests plans and sending from the app."""

    NAME = "measure"
    ACTIONS: ClassVar[tuple[Action, ...]] = keys.IDLE
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(keys.ALL)]
    DRAWS_MEASURE = True

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._paged = ""
        """The kind whose page is displayed."""

    def compose_body(self) -> ComposeResult:
        """Yield the list and the page, and below them the line about what is being sent."""
        with Panes(id="panes"):
            with Pane(id="measure-left"):
                yield ChoiceList(id="measure-list")
            with Pane(id="right"):
                yield Lines(id="measure-page")
        yield Lines(self._line, id="measure-line", classes="bar")

    def on_mount(self) -> None:
        """Show the experiments."""
        self._show_list()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Find the last results and the plan when the screen opens: both may be others by now."""
        super().on_screen_resume(event)
        if self.is_current:
            self.post_message(MeasureWanted(FindResults()))
            self._find_plan()

    # --- the state ----------------------------------------------------------------------------------------------------

    @property
    def _page(self) -> Lines:
        return self.query_one("#measure-page", Lines)

    @property
    def _result(self) -> Measurement | None:
        """The last result of the selected experiment; of a saved state, the one that it has."""
        return self._results().get(self._entry.kind)

    def _results(self) -> dict[str, Measurement]:
        if not self.state.feed.replayed:
            return self._measures.results
        report = self.state.report
        return {one.kind: one for one in report.measurements} if report is not None else {}

    @property
    def _just_ended(self) -> Measurement | None:
        """The measurement of the selected experiment that has just ended, until the operator selects another one."""
        ended = self._measures.ended
        if ended is None or ended is self._dismissed or ended.kind != self._entry.kind:
            return None
        return ended.measurement

    def offer_only_replay(self) -> None:
        """Offer only what reads results: a saved state or a recording has no cluster to measure."""
        self.ACTIONS = keys.PAST  # type: ignore[misc]

    def _offer(self) -> None:
        if self._measures.sending is not None:
            self.offer(keys.SENDING)
        elif not self.state.feed.replayed:
            self.offer(keys.IDLE if self._entry.is_sent_here else keys.ELSEWHERE)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether the action works now: of the keys of this screen, only those of the moment."""
        mine = action in {a.name for a in keys.ALL}
        if mine and action not in {a.name for a in self.ACTIONS}:
            return False
        return super().check_action(action, parameters)

    def signs(self) -> Sequence[Legend]:
        """Return the legend of the signs in the list and on the page."""
        return keys.SIGNS

    # --- drawing ------------------------------------------------------------------------------------------------------

    def draw(self, news: News | None = None) -> None:
        """Draw the list, the page, and the line about what is being sent."""
        if news is News.SAMPLES:
            return
        if news is News.PROGRESS or (news is News.RUN and not self.state.feed.replayed):
            self.query_one("#measure-line", Lines).show(self._line)
            self.draw_lower_rule()
            return
        self._offer()
        if self.state.feed.replayed:
            self._show_list()
        self._list.lay_out()
        self._show_page()
        self.query_one("#measure-line", Lines).show(self._line)
        self.draw_lower_rule()

    def _show_list(self) -> None:
        chosen = self._list.chosen
        self._list.show_choices([partial(self._entry_line, entry) for entry in ENTRIES])
        self._list.move(chosen)

    def _entry_line(self, entry: MeasureEntry, width: int) -> Line:
        found, now = self._results().get(entry.kind), datetime.now(UTC)
        return entry_line(entry, found, self._others().get(entry.kind), self._measures.sending, now, width)

    def _others(self) -> dict[str, Misfit]:
        """Return why a result does not belong to the cluster as it was read, by kind; of those that do not."""
        if (report := self.state.report) is None:
            return {}
        moment = moment_of(report.cluster)
        return {kind: why for kind, one in self._results().items() if (why := misfit(one, moment)) is not None}

    def _show_page(self) -> None:
        """Show the page of the selected experiment, scrolled as before where it is the same one."""
        sending = self._measures.sending
        page = f"{self._entry.kind} {sending is not None and sending.kind == self._entry.kind}"
        top, self._paged = self._page.above if page == self._paged else 0, page
        self._page.show(self._lines, top=top)

    def _lines(self, width: int) -> list[Line]:
        entry, measures, others = self._entry, self._measures, self._others()
        if self.state.feed.replayed:
            return [
                *self._older(width),
                *past_lines(entry, self._result, others.get(entry.kind), self.state.feed, width),
            ]
        if measures.sending is not None and measures.sending.kind == entry.kind:
            return list(sending_lines(measures.sending, width))
        if (found := self._just_ended) is not None and measures.ended is not None:
            is_cut = cell_len(measures.ended.sentence) + 2 > self.size.width  # in the line below the page
            return list(ended_lines(found, measures.ended.sentence if is_cut else "", width))
        height, now = self._page.size.height, datetime.now(UTC)
        room = width - _RESULTS if width >= _ROOM_FOR_RESULTS else width
        own = room if room == width else room - 2
        lines = [
            *self._older(own),
            *plan_lines(entry, measures, others.get(entry.kind), self._commands(), now, own, height),
        ]
        if room == width:
            return lines
        return side_by_side(lines, list(results_lines(measures, others, ENTRIES, now, _RESULTS)), room)

    def _older(self, width: int) -> list[Line]:
        """Return the lines that say that the last result is older than a change of the cluster; none where it fits."""
        report, found = self.state.report, self._result
        text = not_shown(found, report.cluster) if found is not None and report is not None else ""
        return [*hanging([], text, width, "warn"), []] if text else []

    def _commands(self) -> tuple[str, ...]:
        cluster = self._measures.cluster_name or "CLUSTER"
        path = self._measures.chosen.get(self._entry.kind, PathChoice())
        # Before the command: one of its own options can have the same name.
        entered = f"{options} " if (options := os.environ.get(ENTERED)) else ""
        scripts = (path.peer and self._entry.on_path) or self._entry.commands
        return tuple(
            f"racwire {entered}" + shell(script, cluster=cluster, network=path.network, peer=path.peer)
            for script in scripts
        )

    def _line(self, width: int) -> list[Line]:
        if (sending := self._measures.sending) is not None:
            return [sending_line(sending, width)]
        if held_by := self.state.feed.held_by:
            return [[(f" {held_by} is open: nothing can be sent.", "faint")]]
        return [rest_line(self._measures, self._entry, width, is_checking=self.state.run.running)]

    @property
    def upper_joints(self) -> Sequence[int]:
        """The column of the line between the panes."""
        return [column for panes in self.query(Panes) for column in panes.joints]

    def lower_texts(self) -> tuple[str, str]:
        """Return the progress of a run of the checks, and how many lines of the page lie below."""
        below = self._page.below if self.query_one("#right").display else 0
        progress = state_of(self.state.run) if self.state.run.running else ""
        if not progress and self._measures.reading:
            progress = f"reading the cluster for the plan of {self._measures.reading}"
        if not progress and self._measures.ended is not None:
            progress = sanitize_line(self._measures.ended.kept)
        return progress, lines_below(below)

    @on(Pane.LaidOut)
    def join_rules(self) -> None:
        """Lay out the page for the new size, and join the rule to the line between the panes."""
        self.query_one("#upper-rule", Lines).show(self.upper_rule)
        self._page.lay_out()
        self.draw_lower_rule()

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Select another experiment."""
        self._list.move(by)
        self._selected()

    @on(ChoiceList.Taken)
    def _selected(self) -> None:
        """Show the selected experiment, and find its plan."""
        self._dismissed = self._measures.ended
        self._find_plan()
        self.draw()

    def action_page(self, pages: int) -> None:
        """Scroll the page by screens."""
        self._page.scroll_pages(pages)

    def action_copy(self) -> None:
        """Copy the command that does the same."""
        self.post_message(CopyWanted("\n".join(self._commands())))

    def action_whole(self) -> None:
        """Show the last result at full width."""
        found = self._result
        if found is None:
            self.notice(f"There is no result of {self._entry.kind} yet.")
            return
        title = f"Result  {sanitize_line(found.kind)}"
        self.app.push_screen(ReaderScreen(title, lambda width: list(measurement_lines(found, width))))
