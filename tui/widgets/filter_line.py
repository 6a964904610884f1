"""The line in which a filter or a search is typed, on every screen that has one."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.containers import Horizontal
from textual.widgets import Input

from tui.text.line import sanitize_line
from tui.widgets.lines import Lines


class _Query(Input):
    """The input. Enter leaves it at once, because the next key may have arrived already."""

    def __init__(self, leave: Callable[[], None]) -> None:
        super().__init__(id="filter", placeholder="text to search for", compact=True)
        self.cursor_blink = False
        self._leave = leave

    async def action_submit(self) -> None:
        """Keep the text."""
        self._leave()


class FilterLine(Horizontal):
    """A line that is hidden until it is opened. It calls `changed` with each letter, and when it is closed.

    Its parts are mounted at first use: before that their styles would only delay the first screen."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__(id="filter-line")
        self._changed = changed
        self._input = _Query(self.leave)

    @property
    def query_text(self) -> str:
        """The text, on one line and without spaces around it; empty where nothing is filtered."""
        return sanitize_line(self._input.value)

    @property
    def is_open(self) -> bool:
        """Whether the operator is typing."""
        return self.has_class("-open")

    async def open(self) -> None:
        """Let the operator type; the text from before can be changed."""
        if not self._input.is_mounted:
            await self.mount(Lines(lambda width: [[("/", "accent")]], id="filter-sign"), self._input)
        self.add_class("-open")
        self.screen.set_focus(self._input)

    def leave(self) -> None:
        """Keep the text, and return the keys to the screen."""
        self.remove_class("-open")
        self.screen.set_focus(None)
        self._changed()

    def clear(self) -> bool:
        """Remove the text and close the line. Return whether there was anything to remove or to close."""
        was_in_use = self.is_open or bool(self.query_text)
        if was_in_use:
            self._input.value = ""
            self.leave()
        return was_in_use

    def write(self, text: str) -> None:
        """Filter by another text, as if it had been typed."""
        self._input.value = text

    @on(Input.Changed)
    def follow(self, message: Input.Changed) -> None:
        """Filter with each letter."""
        message.stop()
        self._changed()
