"""What the Change screen shows: the planned change of the MTU, one step large, the way behind and ahead small."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult

from checks.change.change_plan import Step
from checks.change.state import Change
from tui.console.actions import in_footer
from tui.console.app_state import AppState, News
from tui.console.change_state import ChangeState, Doing, Follow, Refused
from tui.console.messages import ChangeWanted
from tui.screens.base import ConsoleScreen
from tui.screens.change import keys as keys
from tui.screens.change.alarms import alarm_lines
from tui.screens.change.change_words import in_keys
from tui.screens.change.head import ahead_line, behind_line, head_line
from tui.screens.change.overview import overview_page, past_page, refused_page
from tui.screens.change.step_page import StepPage, next_words, step_page
from tui.text.line import Line, hanging
from tui.widgets.bars import keys_line, lines_below, rule_line
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines

_NOTICE_MARGIN = 6


class ShownChange(ConsoleScreen):
    """Draws the change that is open, or what there is to know where none is."""

    NAME = "change"
    ACTIONS = keys.NONE

    def __init__(self, state: AppState) -> None:
        super().__init__(state)
        self._page = StepPage(())
        self._chosen = 0
        self._looked_at = ""
        """The id of a step that is looked at though it is not the current one."""
        self._told = ""
        """A notice that is too long for the rule."""
        self._drawn: tuple[object, ...] = ()
        self._refused: Refused | None = None
        self._left: Refused | None = None
        """A refusal that was read and left."""
        self._height = 1
        """Of what stands above the step."""
        self._wants_gate = False
        """Whether something was said of the gate, so that it is brought into sight."""

    def compose_body(self) -> ComposeResult:
        """Which change and the way behind; the step; the way ahead."""
        yield Lines(id="change-top")
        yield Lines(id="change-page")
        yield Lines(id="change-ahead", classes="bar")

    def signs(self) -> Sequence[Legend]:
        """The signs of steps and gates."""
        return keys.SIGNS

    # --- what is shown ------------------------------------------------------------------------------------------------

    @property
    def desk(self) -> ChangeState:
        """What is known of changes."""
        return self.state.changes

    @property
    def change(self) -> Change | None:
        """The change that is shown."""
        return None if self.refused else self.desk.change

    @property
    def refused(self) -> Refused | None:
        """Why no change could begin, until that was left."""
        return self._refused if self.desk.refused is not self._left else None

    @property
    def step(self) -> Step | None:
        """The step that is shown: the current one, the last where all are done, or another that is looked at."""
        change = self.change
        if change is None:
            return None
        if self._looked_at in (step.id for step in change.plan.steps):
            return change.plan.step(self._looked_at)
        return change.current or change.plan.steps[-1]

    def offer_only_replay(self) -> None:
        """With a recording, or what was saved, nothing can be changed."""
        self.ACTIONS = ()  # type: ignore[misc]

    def _offer(self) -> None:
        if self.state.feed.replayed:
            return
        change = self.change
        now = keys.REFUSED if self.refused else keys.OVERVIEW if self.desk.others else keys.NONE
        if change is not None:
            now = keys.OPEN if change.is_open else keys.OVER
        if now is not self.ACTIONS:
            self.ACTIONS = now  # type: ignore[misc]
            self.query_one("#keys", Lines).show(lambda width: [keys_line(in_footer(self.ACTIONS), width)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether it can be done now: of the keys of this screen, those of the moment."""
        mine = action in {a.name for a in keys.ALL}
        if mine and action not in {a.name for a in self.ACTIONS}:
            return False
        return super().check_action(action, parameters)

    # --- drawing ------------------------------------------------------------------------------------------------------

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """It is shown: others may have written to the journal meanwhile."""
        super().on_screen_resume(event)
        if self.is_current:
            self.post_message(ChangeWanted(Follow()))

    def draw(self, news: News | None = None) -> None:
        """Draw where the change stands. The run of the checks tells only what the MTUs are before there is one."""
        if news in (News.SAMPLES, News.PROGRESS) or (news is News.RUN and self.change is not None):
            return
        if self.desk.refused is None or self._refused is None or self.desk.refused.target != self._refused.target:
            self._refused = self.desk.refused
        self._offer()
        top = self._top_after_news()
        self._body.show(self._lines, top=top)
        if self._wants_gate:
            self._show_gate()
        self._draw_bars()

    def _top_after_news(self) -> int:
        """Where to read on: where one was, or at the beginning of another step."""
        change = self.change
        current = change.current.id if change and change.current else ""
        place = (self.desk.path, change.plan.kind if change else None, current, self.refused is None)
        count, is_looking = len(change.lines) if change else 0, self.desk.work.doing is Doing.VERIFYING
        is_new, self._wants_gate = place != self._drawn[:4], False
        if is_new:
            self._chosen, self._looked_at = 0, ""
        elif not self._looked_at:
            mark = change.mark(change.current) if change and change.current else None
            is_waiting = mark is not None and mark.verified is not None and not mark.passed
            self._wants_gate = self._drawn[4:] != (count, is_looking) and (is_looking or is_waiting)
        self._drawn = (*place, count, is_looking)
        return 0 if is_new else self._body.above

    def _show_gate(self) -> None:
        if self._page.gate is not None:
            first, last = self._page.gate
            self._body.bring_into_sight(first, min(last, first + max(self._body.size.height - 1, 0)))

    def _draw_bars(self) -> None:
        change, step = self.change, self.step
        top, ahead = self.query_one("#change-top", Lines), self.query_one("#change-ahead", Lines)
        height = min(len(self._top(self.size.width)), max(self.size.height // 2, 1))
        top.display, ahead.display = height > 0, change is not None
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
            lines += [head_line(change, width), behind_line(change, self.step, width), *alarm_lines(change, width)]
        if self._told:
            lines += hanging([(" ", "")], self._told, width, "accent")
        return lines

    def _lines(self, width: int) -> Sequence[Line]:
        change, step = self.change, self.step
        if self.state.feed.replayed:
            self._page = past_page(is_saved=self.state.feed.is_saved, width=width)
        elif self.refused:
            self._page = refused_page(self.refused, self._chosen, width)
        elif change is not None and step is not None:
            self._page = step_page(change, step, self._chosen, self.desk.work, width)
        else:
            self._page = overview_page(self.desk, self.state.cluster, self._chosen, width)
        return self._page.lines

    def lower_rule(self, width: int) -> list[Line]:
        """What goes on, or what to do next; and how much there is to read below."""
        below = self._body.below
        words = next_words(self.change) if self.change else ""
        if self._looked_at:
            words = "viewing another step: [ and ] move, Esc goes to the current step"
        if self.desk.work.progress:
            words = f"{self.desk.work.progress}  Esc cancels"
        return [rule_line(width, words, lines_below(below))]

    def notice(self, text: str) -> None:
        """Say something until the next key: in the rule, or above the step where it is longer."""
        text = in_keys(text)
        fits = cell_len(text) + _NOTICE_MARGIN <= self.size.width
        super().notice(text if fits else "")
        if self._told != (told := "" if fits else text):
            self._told = told
            self._draw_bars()

    def on_key(self, event: events.Key) -> None:
        """A notice has been read by the time of the next key."""
        super().on_key(event)
        if self._told:
            self.notice("")

    @on(Lines.Scrolled, "#change-page")
    def choose_in_sight(self) -> None:
        """What `c` copies is in sight, where any block is."""
        first, last = self._body.above, self._body.above + self._body.size.height - 1
        seen = [n for n, (begin, _) in enumerate(self._page.blocks) if first <= begin <= last]
        if seen and self._chosen not in seen:
            self._choose(seen[0])
        self.draw_lower_rule()

    @on(Lines.Clicked, "#change-page")
    def choose_clicked(self, message: Lines.Clicked) -> None:
        """The block or entry under the mouse."""
        for number, (first, last) in enumerate(self._page.blocks):
            if first <= message.line <= last:
                self._choose(number)

    def on_resize(self, event: events.Resize) -> None:
        """The page is laid out by its widget; what stands around it changes with it."""
        self.call_after_refresh(self._draw_bars)

    @property
    def _body(self) -> Lines:
        return self.query_one("#change-page", Lines)

    def _choose(self, number: int) -> None:
        self._chosen = number
        self._body.show(self._lines, top=self._body.above)

    def _show_step(self, step: str) -> None:
        """Show that step; the current one where none is named."""
        self._looked_at, self._chosen = step, 0
        self._body.show(self._lines)
        self._draw_bars()
