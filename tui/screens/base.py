"""The base of all main screens: header, tabs, rules, keys, and notices."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.message import Message

from tui.console.actions import TABS, Action, in_footer
from tui.console.app_state import AppState, News
from tui.console.finding_rows import FindingRow
from tui.screens.styled import StyledScreen
from tui.text.line import Line, sanitize_line, wrapped
from tui.widgets.bars import action_at, keys_line, rule_line, tab_at, tabs_line
from tui.widgets.header_text import header_line
from tui.widgets.help_text import Legend
from tui.widgets.lines import Lines

log = logging.getLogger(__name__)

_NOT_OF_THE_PAST = frozenset({"rerun", "rerun_one", "verify", "reset", "record"})
"""Actions that are useless where a recording or saved state is open."""


class ConsoleScreen(StyledScreen[None]):
    """A main screen: it draws the state, and requests everything else from the app by messages."""

    NAME: ClassVar[str]
    """The mode of the screen, a key of `tui.console.actions.TABS`."""
    ACTIONS: ClassVar[tuple[Action, ...]]
    """The commands of this screen only: for the bindings, the footer, the help screen and the palette."""
    DRAWS_MEASURE: ClassVar[bool] = False
    """Whether the body of the screen shows measurements."""
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual's name and type
        (0, "-single"),
        (60, "-narrow"),
        (80, "-normal"),
        (120, "-wide"),
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
        self._broken = False
        if state.feed.replayed:
            self.offer_only_replay()

    def offer_only_replay(self) -> None:
        """Offer only the commands that work without a cluster."""
        self.ACTIONS = tuple(a for a in self.ACTIONS if a.name not in _NOT_OF_THE_PAST)  # type: ignore[misc]

    def compose(self) -> ComposeResult:
        """Yield the header, the tabs, the body between two rules, and the keys."""
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

    def draw_keys(self) -> None:
        """Redraw the last line: the labels may have changed."""
        self.query_one("#keys", Lines).lay_out()

    # --- the rules ----------------------------------------------------------------------------------------------------

    def upper_rule(self, width: int) -> list[Line]:
        """Return the rule below the tabs."""
        return [rule_line(width)]

    def lower_rule(self, width: int) -> list[Line]:
        """Return the rule above the keys, while there is no notice."""
        return [rule_line(width)]

    def notice(self, text: str) -> None:
        """Display a notice in the lower rule until the next key."""
        self._notice = sanitize_line(text)
        self.draw_lower_rule()

    def draw_lower_rule(self) -> None:
        """Redraw the lower rule."""
        self.query_one("#lower-rule", Lines).show(self._lower_rule)

    def _lower_rule(self, width: int) -> list[Line]:
        return [rule_line(width, self._notice)] if self._notice or self._broken else self.lower_rule(width)

    def _header(self, width: int) -> list[Line]:
        sending = self.state.measures.sending
        mark = f"{sending.phase.value} {sending.kind}" if sending else ""
        return [header_line(self.state.run.in_header, width, self.state.feed, mark)]

    # --- the mouse ----------------------------------------------------------------------------------------------------

    @on(Lines.Clicked, "#tabs")
    async def show_tab(self, message: Lines.Clicked) -> None:
        """Change to the screen whose tab was clicked."""
        if mode := tab_at(TABS, self.NAME, self.size.width, message.column):
            await self.run_action(f"app.show('{mode}')")

    @on(Lines.Clicked, "#keys")
    async def do_key(self, message: Lines.Clicked) -> None:
        """Run the command of the clicked key."""
        if action := action_at(self.footer(), self.size.width, message.column):
            await self.run_action(action.action)

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
