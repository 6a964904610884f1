"""What all main screens share: header, tabs, rules, keys, and a line for notices."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.message import Message

from tui.console.actions import TABS, Action, in_footer
from tui.console.app_state import AppState, News
from tui.screens.styled import StyledScreen
from tui.text.line import Line, sanitize_line, wrapped
from tui.widgets.bars import action_at, keys_line, rule_line, tab_at, tabs_line
from tui.widgets.header_text import header_line
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines

log = logging.getLogger(__name__)

_NOT_OF_THE_PAST = frozenset({"rerun", "rerun_one", "pause", "reset", "record"})
"""Actions that do nothing, or nothing new, where a recording is shown, or what was saved."""


class ConsoleScreen(StyledScreen[None]):
    """A main screen: draws what is known, and asks the app for everything else by messages."""

    NAME: ClassVar[str]
    """Its mode, a key of `tui.console.actions.TABS`."""
    ACTIONS: ClassVar[tuple[Action, ...]]
    """What can be done here and not everywhere: for the keys, the footer, the help screen and the palette."""
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual's name and type
        (0, "-single"),
        (60, "-narrow"),
        (80, "-normal"),
        (120, "-wide"),
    ]

    class RunWanted(Message):
        """The operator wants the checks to be run again: one of them, or all where none is named."""

        def __init__(self, check: str = "") -> None:
            super().__init__()
            self.check = check

    def __init__(self, state: AppState) -> None:
        super().__init__()
        self.state = state
        self._notice = ""
        self._broken = False
        if state.feed.replayed:
            self.offer_only_replay()

    def offer_only_replay(self) -> None:
        """Offer only what can be done without a cluster."""
        self.ACTIONS = tuple(a for a in self.ACTIONS if a.name not in _NOT_OF_THE_PAST)  # type: ignore[misc]

    def compose(self) -> ComposeResult:
        """Header, tabs, the body between two rules, keys."""
        yield Lines(self._header, id="header", classes="bar")
        yield Lines(lambda width: [tabs_line(TABS, self.NAME, width)], id="tabs", classes="bar")
        yield Lines(self.upper_rule, id="upper-rule", classes="bar")
        try:
            yield from self.compose_body()
        except Exception:
            log.exception("the %s screen could not be made", self.NAME)
            self._broken = True
            yield Lines(_could_not_be_made, id="broken")
        yield Lines(self._lower_rule, id="lower-rule", classes="bar")
        yield Lines(lambda width: [keys_line(in_footer(self.ACTIONS), width)], id="keys", classes="bar")

    def compose_body(self) -> ComposeResult:
        """What stands between the rules."""
        raise NotImplementedError

    def draw(self, news: News | None = None) -> None:
        """Draw what is known now; `news` says what of it is, None that it may be all. Called only while the
        screen is the one that is shown."""
        raise NotImplementedError

    def refresh_state(self, news: News | None = None) -> None:
        """Draw header and body anew."""
        if news is not News.SAMPLES:
            self.query_one("#header", Lines).show(self._header)
        if not self._broken:
            self.draw(news)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """It is shown, perhaps again: much may have become known meanwhile. One that is only made ahead waits."""
        event.refresh_styles = False  # nothing can have changed them while it was not shown, and to look takes 20 ms
        if self.is_current:
            self.refresh_state()

    def signs(self) -> Sequence[Legend]:
        """What the letters and signs of this screen mean, for the help screen."""
        return ()

    # --- the rules ----------------------------------------------------------------------------------------------------

    def upper_rule(self, width: int) -> list[Line]:
        """The rule below the tabs."""
        return [rule_line(width)]

    def lower_rule(self, width: int) -> list[Line]:
        """The rule above the keys, where there is no notice to show in it."""
        return [rule_line(width)]

    def notice(self, text: str) -> None:
        """Say something in the lower rule until the next key."""
        self._notice = sanitize_line(text)
        self.draw_lower_rule()

    def draw_lower_rule(self) -> None:
        """Draw the lower rule anew."""
        self.query_one("#lower-rule", Lines).show(self._lower_rule)

    def _lower_rule(self, width: int) -> list[Line]:
        return [rule_line(width, self._notice)] if self._notice or self._broken else self.lower_rule(width)

    def _header(self, width: int) -> list[Line]:
        return [header_line(self.state.run.in_header, width, self.state.feed)]

    # --- the mouse ----------------------------------------------------------------------------------------------------

    @on(Lines.Clicked, "#tabs")
    async def show_tab(self, message: Lines.Clicked) -> None:
        """Change to the screen whose tab was clicked."""
        if mode := tab_at(TABS, self.NAME, self.size.width, message.column):
            await self.run_action(f"app.show('{mode}')")

    @on(Lines.Clicked, "#keys")
    async def do_key(self, message: Lines.Clicked) -> None:
        """Do what the key that was clicked does."""
        if action := action_at(in_footer(self.ACTIONS), self.size.width, message.column):
            await self.run_action(action.action)

    def on_key(self, event: events.Key) -> None:
        """A notice has been read by the time of the next key."""
        if self._notice:
            self.notice("")


class BrokenScreen(ConsoleScreen):
    """Stands for a main screen that could not be loaded."""

    ACTIONS = ()

    def __init__(self, state: AppState, mode: str) -> None:
        self.NAME = mode  # type: ignore[misc]
        super().__init__(state)

    def compose_body(self) -> ComposeResult:
        """One sentence."""
        yield Lines(_could_not_be_made, id="broken")

    def draw(self, news: News | None = None) -> None:
        """There is nothing to draw."""


def _could_not_be_made(width: int) -> list[Line]:
    text = (
        "This screen could not be made: internal error in racwire. The details are in the log; the other screens work."
    )
    return [[(part, "warn")] for part in wrapped(text, width)]
