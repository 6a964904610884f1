"""Panes next to each other, with a line between them that the rules above and below meet."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.containers import Horizontal, Vertical
from textual.message import Message


class Pane(Vertical):
    """A pane. A column at which it starts changes only with the width of a pane."""

    class LaidOut(Message):
        """A pane has another size."""

    def on_resize(self, event: events.Resize) -> None:
        """Say so: only now are the columns of the panes those of the present size."""
        self.post_message(self.LaidOut())


class Panes(Horizontal):
    """The panes of a screen."""

    @property
    def joints(self) -> Sequence[int]:
        """The columns of the lines between the panes that are shown, as they are laid out now."""
        return [pane.region.x for pane in self.children if pane.display and pane.region.x > self.region.x]
