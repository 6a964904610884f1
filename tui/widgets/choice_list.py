"""A list of lines, one of which is selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.message import Message

from tui.text.line import Line
from tui.widgets.lines import Lines


class ChoiceList(Lines):
    """Shows one line per choice; the cursor stays in view."""

    class Taken(Message):
        """A choice was clicked, and is selected."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices: Sequence[Callable[[int], Line]] = ()
        self.chosen = 0
        """The number of the selected choice; 0 also where there is none."""

    def show_choices(self, choices: Sequence[Callable[[int], Line]], chosen: int = 0) -> None:
        """Show these choices, each drawn for a width, and select the one of that number."""
        self._choices, self.chosen = choices, chosen
        self._draw()

    def move(self, by: int) -> None:
        """Select another choice."""
        self.chosen = max(min(self.chosen + by, len(self._choices) - 1), 0)
        self._draw()

    def wheel(self, lines: int) -> None:
        """Select another choice with the mouse wheel."""
        self.move(1 if lines > 0 else -1)

    @on(Lines.Clicked)
    def take(self, message: Lines.Clicked) -> None:
        """Select the clicked choice."""
        message.stop()
        if message.line < len(self._choices):
            self.chosen = message.line
            self._draw()
            self.post_message(self.Taken())

    def lay_out(self) -> None:
        """Draw the choices for the present width."""
        self._draw()

    def _draw(self) -> None:
        height = max(self.size.height, 1)
        top = min(max(self.above, self.chosen - height + 1), self.chosen)
        lines = [draw(self.size.width) for draw in self._choices]
        self._place(lines, top, self.chosen if lines else -1)
