"""A list of lines of which one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.message import Message

from tui.text.line import Line
from tui.widgets.lines import Lines


class ChoiceList(Lines):
    """Shows one line for each choice; the cursor stays in view."""

    class Taken(Message):
        """A choice was clicked; it is the chosen one now."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices: Sequence[Callable[[int], Line]] = ()
        self.chosen = 0
        """The number of the chosen one; 0 also where there is none."""

    def show_choices(self, choices: Sequence[Callable[[int], Line]]) -> None:
        """Show these, each drawn for a width, and choose the first."""
        self._choices, self.chosen = choices, 0
        self._draw()

    def move(self, by: int) -> None:
        """Choose another one."""
        self.chosen = max(min(self.chosen + by, len(self._choices) - 1), 0)
        self._draw()

    def wheel(self, lines: int) -> None:
        """The mouse wheel chooses."""
        self.move(1 if lines > 0 else -1)

    @on(Lines.Clicked)
    def take(self, message: Lines.Clicked) -> None:
        """Choose what was clicked."""
        message.stop()
        if message.line < len(self._choices):
            self.chosen = message.line
            self._draw()
            self.post_message(self.Taken())

    def lay_out(self) -> None:
        """Draw them for the width there is."""
        self._draw()

    def _draw(self) -> None:
        height = max(self.size.height, 1)
        top = min(max(self.above, self.chosen - height + 1), self.chosen)
        lines = [draw(self.size.width) for draw in self._choices]
        self._place(lines, top, self.chosen if lines else -1)
