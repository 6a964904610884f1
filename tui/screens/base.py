"""What all main screens share: header, tabs, rules, keys, and a line for notices."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from tui.actions import TABS, Action
from tui.known import Change, Known
from tui.widgets.bars import keys_line, rule_line, tabs_line
from tui.widgets.header_text import header_line
from tui.widgets.line import Line, clean
from tui.widgets.lines import Lines


class ConsoleScreen(Screen[None]):
    """A main screen: draws what is known, and asks the app for everything else by messages."""

    NAME: ClassVar[str]
    """Its mode, a key of `tui.actions.TABS`."""
    ACTIONS: ClassVar[tuple[Action, ...]]
    """Its keys, for the footer, the help screen and the command palette."""
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual's name and type
        (0, "-single"),
        (60, "-narrow"),
        (80, "-normal"),
        (120, "-wide"),
    ]
    AUTO_FOCUS = ""

    def __init__(self, known: Known) -> None:
        super().__init__()
        self.known = known
        self._notice = ""

    def compose(self) -> ComposeResult:
        """Header, tabs, the body between two rules, keys."""
        yield Lines(self._header, id="header").add_class("bar")
        yield Lines(lambda width: [tabs_line(TABS, self.NAME, width)], id="tabs").add_class("bar")
        yield Lines(self.upper_rule, id="upper-rule").add_class("bar")
        yield from self.compose_body()
        yield Lines(self._lower_rule, id="lower-rule").add_class("bar")
        yield Lines(lambda width: [keys_line(self.ACTIONS, width)], id="keys").add_class("bar")

    def compose_body(self) -> ComposeResult:
        """What stands between the rules."""
        raise NotImplementedError

    def draw(self, change: Change | None = None) -> None:
        """Draw what is known now; `change` says what of it is new, None that it may be all. Called only while the
        screen is the one that is shown."""
        raise NotImplementedError

    def refresh_known(self, change: Change | None = None) -> None:
        """Draw header and body anew."""
        if change is not Change.SAMPLES:
            self.query_one("#header", Lines).show(self._header)
        self.draw(change)

    def on_screen_resume(self) -> None:
        """It is shown, perhaps again: much may have become known meanwhile."""
        self.refresh_known()

    # --- the rules ----------------------------------------------------------------------------------------------------

    def upper_rule(self, width: int) -> list[Line]:
        """The rule below the tabs."""
        return [rule_line(width)]

    def lower_rule(self, width: int) -> list[Line]:
        """The rule above the keys, where there is no notice to show in it."""
        return [rule_line(width)]

    def notice(self, text: str) -> None:
        """Say something in the lower rule until the next key."""
        self._notice = clean(text)
        self.draw_lower_rule()

    def draw_lower_rule(self) -> None:
        """Draw the lower rule anew."""
        self.query_one("#lower-rule", Lines).show(self._lower_rule)

    def _lower_rule(self, width: int) -> list[Line]:
        return [rule_line(width, self._notice)] if self._notice else self.lower_rule(width)

    def _header(self, width: int) -> list[Line]:
        return [header_line(self.known.board.in_header, width)]

    def on_key(self, event: events.Key) -> None:
        """A notice has been read by the time of the next key."""
        if self._notice:
            self.notice("")
