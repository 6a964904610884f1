"""The base of all main screens: header, tabs, rules, keys, and notices."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.message import Message

from checks.model.situation import Episode
from checks.model.wording import counted
from checks.situation.foremost import foremost, needs_run
from tui.console.actions import TABS, Action, in_footer
from tui.console.app_state import AppState, News
from tui.console.finding_rows import FindingRow
from tui.screens.styled import StyledScreen
from tui.text.line import Line, sanitize_line, wrapped
from tui.widgets.bars import action_at, alarm_rule, fits_rule, keys_line, rule_line, tab_at, tabs_line
from tui.widgets.header_text import header_line
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines
from tui.widgets.run_text import run_labels

log = logging.getLogger(__name__)

_NOT_OF_THE_PAST = frozenset({"rerun", "rerun_one", "verify", "reset", "record"})
"""Actions that are useless where a recording or saved state is open."""


class ConsoleScreen(StyledScreen[None]):
    """A main screen: it draws the state, and requests everything else from the app by messages."""

    NAME: ClassVar[str]
    """The mode of the screen, a key of `tui.console.actions.TABS`."""
    DRAWS_MEASURE: ClassVar[bool] = False
    """Whether the body of the screen shows measurements."""
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual's name and type
        (0, "-single"),
        (60, "-narrow"),
        (80, "-normal"),
        (120, "-wide"),
        (160, "-large"),
    ]

    class RunWanted(Message):
        """The operator wants to run the checks again: the named ones, or all; to verify a row, where there is one."""

        def __init__(self, *checks: str, verified: FindingRow | None = None) -> None:
            super().__init__()
            self.checks = checks
            self.verified = verified

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self.state = state
        self._notice = ""
        self._alarm_of = 0
        """The number of the event in the rule above the keys; 0 where there is none."""
        self._broken = False
        if state.feed.replayed:
            self.offer_only_replay()

    def offer_only_replay(self) -> None:
        """Offer only the commands that work without a cluster."""
        self.ACTIONS = tuple(a for a in self.ACTIONS if a.name not in _NOT_OF_THE_PAST)  # type: ignore[misc]

    def compose(self) -> ComposeResult:
        """Yield the header, the tabs, the body between two rules, and the keys."""
        yield Lines(self._header, id="header", classes="bar")
        yield Lines(self._tabs_line, id="tabs", classes="bar")
        yield Lines(self.upper_rule, id="upper-rule", classes="bar")
        try:
            yield from self.compose_body()
        except Exception:
            log.exception("the %s screen could not be made", self.NAME)
            self._broken = True
            yield Lines(_could_not_be_made, id="broken")
        yield Lines(self._lower_rule, id="lower-rule", classes="bar")
        yield Lines(lambda width: [keys_line(self.footer(), width)], id="keys", classes="bar")

    def compose_body(self) -> ComposeResult:
        """Yield the widgets between the rules. Raises NotImplementedError: each screen defines it."""
        raise NotImplementedError

    def draw(self, news: News | None = None) -> None:
        """Draw the state. `news` is the part that changed; None: any part. Called only for the current screen.

        Raises NotImplementedError: each screen defines it."""
        raise NotImplementedError

    def refresh_state(self, news: News | None = None) -> None:
        """Redraw the header and the body."""
        if news is not News.SAMPLES:
            self.query_one("#header", Lines).show(self._header)
        if news in (News.RUN, News.MEASURE, News.MOMENT) or news is None:
            self.query_one("#upper-rule", Lines).show(self.upper_rule)
        if news in (News.EVENTS, News.MOMENT) or news is None:
            newest = self._foremost
            if newest and newest.event.number != self._alarm_of and needs_run(newest):
                self._notice = ""  # an older notice must not hide it
            self._alarm_of = newest.event.number if newest else 0
            self.query_one("#tabs", Lines).show(self._tabs_line)
            self.draw_lower_rule()
        is_of_another = news is News.MEASURE and not self.DRAWS_MEASURE  # which then has no part of it but the header
        if not self._broken and not is_of_another:
            self.draw(news)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Redraw the screen when it opens: the state may have changed. A screen that is only made in advance waits."""
        event.refresh_styles = False  # no style can have changed meanwhile, and the check takes 20 ms
        if self.is_current:
            self.refresh_state()

    def signs(self) -> Sequence[Legend]:
        """Return the legends of the letters and signs of this screen, for the help screen."""
        return ()

    def footer(self) -> Sequence[Action]:
        """Return the commands for the last line, with the labels of the present state."""
        return in_footer(self.ACTIONS)

    def offer(self, actions: tuple[Action, ...]) -> None:
        """Offer other commands."""
        if actions != self.ACTIONS:
            self.ACTIONS = actions  # type: ignore[misc]
            self.draw_keys()

    def draw_keys(self) -> None:
        """Redraw the last line: the labels may have changed."""
        self.query_one("#keys", Lines).lay_out()

    # --- the rules ----------------------------------------------------------------------------------------------------

    def upper_rule(self, width: int) -> list[Line]:
        """Return the rule below the tabs, which has the time of the last run on every screen."""
        runs = run_labels(
            self.state.report,
            datetime.now(),
            is_past=bool(self.state.feed.replayed),
            without_runs=self.state.without_runs,
            moment=self.moment_text(),
        )
        texts = self.upper_texts()
        for (left, right), run in product(texts, runs or ("",)):
            if fits_rule(width, left, right := "  ".join(filter(None, (run, right)))):
                break
        else:
            left, right = texts[-1]
        return [rule_line(width, left, right, joints=self.upper_joints, sign="┬")]

    def moment_text(self) -> str:
        """Return the moment of a recording, `at 20:18:04`; empty for the live cluster, and for a saved state, whose
        moment is in the header."""
        past = self.state.feed.past
        return f"at {self.state.clock(self.state.moment.now)}" if past is not None and not past.is_saved else ""

    def upper_texts(self) -> Sequence[tuple[str, str]]:
        """Return the texts at the left and at the right of the rule below the tabs, the longest first: the first that
        leaves room for the time of the last run is displayed."""
        return [("", "")]

    @on(Lines.Scrolled)
    def show_lines_below(self) -> None:
        """Update the count of lines below."""
        self.draw_lower_rule()

    @property
    def joints(self) -> Sequence[int]:
        """The columns at which the lines between panes meet the lower rule."""
        return ()

    @property
    def upper_joints(self) -> Sequence[int]:
        """The columns at which they meet the rule below the tabs."""
        return self.joints

    def lower_texts(self) -> tuple[str, str]:
        """Return the texts at the left and at the right of the rule above the keys."""
        return "", ""

    def notice(self, text: str) -> None:
        """Display a notice in the lower rule until the next key."""
        self._notice = sanitize_line(text)
        self.draw_lower_rule()

    def draw_lower_rule(self) -> None:
        """Redraw the lower rule."""
        self.query_one("#lower-rule", Lines).show(self._lower_rule)

    def _lower_rule(self, width: int) -> list[Line]:
        if self._notice or self._broken:
            return [rule_line(width, self._notice)]
        left, right = self.lower_texts()
        episode = self._foremost
        if episode is None or self.NAME == "events":
            return [rule_line(width, left, right, joints=self.joints, sign="┴")]
        # Most sessions have no event, and the module would delay the first screen.
        from tui.widgets.event_line import event_line, hint_for

        hint = hint_for(
            episode,
            is_past=bool(self.state.feed.replayed),
            is_running=self.state.run.running,
            on_checks=self.NAME == "checks",
            can_run=any(action.name == "rerun" for action in self.ACTIONS),
        )
        zone, now = self.state.zone, self.state.situation.at
        return [alarm_rule(width, left, right, lambda room: event_line(episode, hint, zone, now, room))]

    @property
    def _foremost(self) -> Episode | None:
        return foremost(self.state.situation, self.state.events.is_listed)

    def _header(self, width: int) -> list[Line]:
        sending = self.state.measures.sending
        mark = f"{sending.phase.value} {sending.kind}" if sending else ""
        return [header_line(self.state.report, width, self.state.feed, mark, self.state.situation)]

    def _tabs(self, width: int) -> dict[str, str]:
        """Return the tabs; that of the events with their number, and shorter where not all tabs have room."""
        count = sum(self.state.events.is_listed(one.event) for one in self.state.situation.episodes)
        tabs = {**TABS, "events": f"! {counted(count, 'event')}"} if count else TABS
        if sum(len(tab) + 2 for tab in tabs.values()) > width:
            tabs = {**TABS, "events": f"! {count}" if count else "!"}
        return tabs

    def _tabs_line(self, width: int) -> list[Line]:
        return [tabs_line(self._tabs(width), self.NAME, width)]

    # --- the mouse ----------------------------------------------------------------------------------------------------

    @on(Lines.Clicked, "#tabs")
    async def show_tab(self, message: Lines.Clicked) -> None:
        """Change to the screen whose tab was clicked."""
        if mode := tab_at(self._tabs(self.size.width), self.NAME, self.size.width, message.column):
            await self.run_action(f"app.show('{mode}')")

    @on(Lines.Clicked, "#keys")
    async def do_key(self, message: Lines.Clicked) -> None:
        """Run the command of the clicked key."""
        if action := action_at(self.footer(), self.size.width, message.column):
            await self.run_action(action.action)

    def hold(self, event: events.Key | events.Paste) -> bool:
        """Return whether the screen keeps a key for later: what the key is for is still being read."""
        return False

    def on_key(self, event: events.Key) -> None:
        """Remove the notice at the next key."""
        if self._notice:
            self.notice("")


class BrokenScreen(ConsoleScreen):
    """Stands for a main screen that could not be loaded."""

    ACTIONS = ()

    def __init__(self, state: AppState, mode: str) -> None:
        self.NAME = mode  # type: ignore[misc]
        super().__init__(state)

    def compose_body(self) -> ComposeResult:
        """Yield the sentence that says so."""
        yield Lines(_could_not_be_made, id="broken")

    def draw(self, news: News | None = None) -> None:
        """Draw nothing."""


def _could_not_be_made(width: int) -> list[Line]:
    text = (
        "This screen could not be made: internal error in racwire. The details are in the log; the other screens work."
    )
    return [[(part, "warn")] for part in wrapped(text, width)]
