"""The view of the Change screen: one step of the change in full, the steps before and after in short."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult

from checks.change.plan.change_plan import Step
from checks.change.progress.state import Change
from tui.console.app_state import AppState, News
from tui.console.change_state import ChangeState, Doing, Follow, Refused
from tui.console.messages import ChangeWanted
from tui.screens.change import keys as keys
from tui.screens.change.alarms import alarm_lines
from tui.screens.change.head import ahead_line, behind_line, head_line, steps_lines
from tui.screens.change.overview import overview_page, refused_page, replay_page
from tui.screens.change.step_page import StepPage, next_action, step_page
from tui.screens.zoom import ZoomScreen
from tui.text.line import Line, hanging, side_by_side
from tui.widgets.bars import lines_below
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines

_NOTICE_MARGIN = 6
_ROOM_FOR_STEPS, _STEPS = 160, 56
"""Columns from which all steps are at the right of the page, and their columns."""


class ChangeView(ZoomScreen):
    """Draws the open change, or an overview where there is none."""

    NAME = "change"
    ACTIONS = keys.NONE

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._page = StepPage(())
        self._chosen = 0
        self._viewed = ""
        """The id of a step on the screen that is not the current one; empty for the current one."""
        self._long_notice = ""
        """A notice that is too long for the rule, displayed above the step."""
        self._drawn: tuple[object, ...] = ()
        self._refused: Refused | None = None
        self._left: Refused | None = None
        """A list of obstacles that the operator has closed."""
        self._height = 1
        """The height of the lines above the step."""
        self._wants_gate = False
        """Whether to scroll to the gate, because it has new results."""
        self._held: list[events.Key | events.Paste] = []
        """Keys that wait until the journals are read."""

    def compose_body(self) -> ComposeResult:
        """Yield the change and the steps before; the step; the steps after."""
        yield Lines(id="change-top")
        yield Lines(id="change-page")
        yield Lines(id="change-ahead", classes="bar")

    def signs(self) -> Sequence[Legend]:
        """The signs of steps and gates."""
        return keys.SIGNS

    # --- the state ----------------------------------------------------------------------------------------------------

    @property
    def desk(self) -> ChangeState:
        """The known state of changes."""
        return self.state.changes

    @property
    def change(self) -> Change | None:
        """The displayed change."""
        return None if self.refused else self.desk.change

    @property
    def refused(self) -> Refused | None:
        """Why no change could start, until the operator closes that list."""
        return self._refused if self.desk.refused is not self._left else None

    @property
    def step(self) -> Step | None:
        """The displayed step: the current one, the last where all are done, or another one that the operator views."""
        change = self.change
        if change is None:
            return None
        if self._viewed in (step.id for step in change.plan.steps):
            return change.plan.step(self._viewed)
        return change.current or change.plan.steps[-1]

    def offer_only_replay(self) -> None:
        """Offer the keys that only look: a change of a recording cannot go on."""
        self.ACTIONS = keys.OF_PAST  # type: ignore[misc]

    def _offer(self) -> None:
        if self.state.feed.replayed:
            return
        change = self.change
        now = keys.REFUSED if self.refused else keys.OVERVIEW if self.desk.others else keys.NONE
        if change is not None:
            now = keys.OPEN if change.is_open else keys.OVER
        self.offer(now)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether the action works now: of the keys of this screen, only those of the moment."""
        mine = action in {a.name for a in keys.ALL}
        if mine and action not in {a.name for a in self.ACTIONS}:
            return False
        return super().check_action(action, parameters)

    # --- drawing ------------------------------------------------------------------------------------------------------

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Read the journal again when the screen opens: other processes may have written to it."""
        super().on_screen_resume(event)
        if self.is_current:
            self.post_message(ChangeWanted(Follow()))

    def on_screen_suspend(self) -> None:
        """Drop the keys that wait: they were for this moment."""
        self._held.clear()

    def hold(self, event: events.Key | events.Paste) -> bool:
        """Return whether a key waits for the first reading of the journals, which decides what it does: a key of this
        screen, and those that follow it. Esc drops them; a directory that hangs holds no other key."""
        if self.desk.work.doing is not Doing.READING or self.state.feed.replayed:
            return False
        key = event.key if isinstance(event, events.Key) else ""
        if key in ("escape", "ctrl+c", "ctrl+q") or not (self._held or key in keys.WAITING):
            self._held.clear()
            return False
        self._held.append(event)
        self.notice("The key waits until the journals are read; Esc drops it.")
        return True

    def _release(self) -> None:
        """Handle the keys that waited."""
        if self._held and self.desk.work.doing is not Doing.READING:
            held, self._held = self._held, []
            self.notice("")
            for event in held:
                self.app.post_message(event)

    def draw(self, news: News | None = None) -> None:
        """Draw the state of the change. Without a change, a run of the checks shows the MTUs."""
        if news in (News.SAMPLES, News.PROGRESS) or (news is News.RUN and self.change is not None):
            return
        if self.desk.refused is None or self._refused is None or self.desk.refused.plan != self._refused.plan:
            self._refused = self.desk.refused
        self._offer()
        top = self._top_after_news()
        self._body.show(self._lines, top=top)
        if self._wants_gate:
            self._show_gate()
        self._draw_bars()
        self._release()

    def _top_after_news(self) -> int:
        """Return the first line to display: the present one, or the start of another step."""
        change = self.change
        current = change.current.id if change and change.current else ""
        place = (self.desk.path, change.plan.kind if change else None, current, self.refused is None)
        count, is_checking = len(change.lines) if change else 0, self.desk.work.doing is Doing.VERIFYING
        is_new, self._wants_gate = place != self._drawn[:4], False
        if is_new:
            self._chosen, self._viewed = 0, ""
        elif not self._viewed:
            mark = change.mark(change.current) if change and change.current else None
            is_waiting = mark is not None and mark.verified is not None and not mark.passed
            self._wants_gate = self._drawn[4:] != (count, is_checking) and (is_checking or is_waiting)
        self._drawn = (*place, count, is_checking)
        return 0 if is_new else self._body.above

    def _show_gate(self) -> None:
        if self._page.gate is not None:
            first, last = self._page.gate
            self._body.bring_into_sight(first, min(last, first + max(self._body.size.height - 1, 0)))

    def _draw_bars(self) -> None:
        change, step = self.change, self.step
        top, ahead = self.query_one("#change-top", Lines), self.query_one("#change-ahead", Lines)
        height = min(len(self._top(self.size.width)), max(self.size.height // 2, 1))
        top.display, ahead.display = height > 0, change is not None and not self.is_zoomed
        if height != self._height:
            self._height = height
            top.styles.height = height
        top.show(self._top)
        ahead.show(lambda width: [ahead_line(change, step, width)] if change else [])
        self.draw_lower_rule()

    def _top(self, width: int) -> list[Line]:
        change = self.change
        lines: list[Line] = []
        if change is not None:
            lines += [] if self.is_zoomed else [head_line(change, width), behind_line(change, self.step, width)]
            lines += alarm_lines(change, width)
        if self._long_notice:
            lines += hanging([(" ", "")], self._long_notice, width, "accent")
        return lines

    def _lines(self, width: int) -> Sequence[Line]:
        change, step = self.change, self.step
        if self.state.feed.replayed and change is None:
            self._page = replay_page(is_saved=self.state.feed.is_saved, width=width)
        elif self.refused:
            self._page = refused_page(self.refused, self._chosen, width)
        elif change is not None and step is not None:
            room = width - _STEPS if width >= _ROOM_FOR_STEPS and not self.is_zoomed else width
            self._page = step_page(change, step, self._chosen, self.desk.work, room)
            if room < width:
                return side_by_side(self._page.lines, steps_lines(change, step, _STEPS), room)
        else:
            self._page = overview_page(self.desk, self.state.cluster, self._chosen, width)
        return self._page.lines

    def lower_texts(self) -> tuple[str, str]:
        """Return the running work or what to do next, and how many lines lie below."""
        below = self._body.below
        left = next_action(self.change) if self.change and not self.state.feed.replayed else ""
        if self._viewed:
            left = "viewing: [ and ] move, Esc shows the current step"
        if self.desk.work.progress:
            left = f"{self.desk.work.progress}  Esc cancels"
        return left, lines_below(below)

    def notice(self, text: str) -> None:
        """Display a notice until the next key: in the rule, or above the step where it is too long for that."""
        fits = cell_len(text) + _NOTICE_MARGIN <= self.size.width
        super().notice(text if fits else "")
        if self._long_notice != (long_notice := "" if fits else text):
            self._long_notice = long_notice
            self._draw_bars()

    def on_key(self, event: events.Key) -> None:
        """Remove the notice at the next key."""
        super().on_key(event)
        if self._long_notice:
            self.notice("")

    @on(Lines.Scrolled, "#change-page")
    def choose_in_sight(self) -> None:
        """Mark a block that is in view, where there is one: `c` copies it."""
        first, last = self._body.above, self._body.above + self._body.size.height - 1
        seen = [n for n, (begin, _) in enumerate(self._page.blocks) if first <= begin <= last]
        if seen and self._chosen not in seen:
            self._choose(seen[0])
        self.draw_lower_rule()

    @on(Lines.Clicked, "#change-page")
    def choose_clicked(self, message: Lines.Clicked) -> None:
        """Mark the clicked block or entry."""
        for number, (first, last) in enumerate(self._page.blocks):
            if first <= message.line <= last:
                self._choose(number)

    def on_resize(self, event: events.Resize) -> None:
        """Redraw the lines around the page, whose widget lays itself out."""
        self.call_after_refresh(self._draw_bars)

    @property
    def _body(self) -> Lines:
        return self.query_one("#change-page", Lines)

    def _choose(self, number: int) -> None:
        self._chosen = number
        self._body.show(self._lines, top=self._body.above)

    def _show_step(self, step: str) -> None:
        """Show a step; the current one where none is named."""
        self._viewed, self._chosen = step, 0
        self._body.show(self._lines)
        self._draw_bars()
