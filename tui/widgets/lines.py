"""A widget of lines that scrolls by keys and repaints only what changed: on a slow line every byte is waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.line import ROLES, Line, plain

Build = Callable[[int], Sequence[Line]]
"""Makes the lines for a width."""


class Lines(Widget):
    """Shows lines; no scroll bar: how many lines lie below is told by `Scrolled`, for the screen to say in words."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{role}" for role in ROLES} | {"line--cursor"}

    class Scrolled(Message):
        """Another part of the lines is shown."""

        def __init__(self, lines: Lines) -> None:
            super().__init__()
            self.lines = lines

        @property
        def control(self) -> Lines:
            """The widget that scrolled."""
            return self.lines

    def __init__(self, build: Build | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._build: Build = build or (lambda width: ())
        self._lines: Sequence[Line] = ()
        self._top = 0
        self._cursor = -1

    @property
    def text(self) -> str:
        """All lines, also those that are scrolled out of sight."""
        return plain(self._lines)

    @property
    def below(self) -> int:
        """How many lines are hidden below."""
        return max(len(self._lines) - self._top - self.size.height, 0)

    @property
    def above(self) -> int:
        """How many lines are hidden above."""
        return self._top

    def show(self, build: Build, *, top: int = 0) -> None:
        """Show other lines, from the one numbered `top` on."""
        self._build = build
        self._place(build(self.size.width), top)

    def scroll_by(self, lines: int) -> None:
        """Scroll down, or up when negative."""
        self._place(self._lines, self._top + lines, self._cursor)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by screenfuls that overlap in one line."""
        self.scroll_by(pages * max(self.size.height - 1, 1))

    def on_resize(self, event: events.Resize) -> None:
        """Lay the lines out anew for the new width."""
        self.lay_out()

    def lay_out(self) -> None:
        """Make the lines for the width there is."""
        self._place(self._build(self.size.width), self._top)

    def render_line(self, y: int) -> Strip:
        """One line of what is in view."""
        base = self.rich_style
        index = self._top + y
        if index >= len(self._lines):
            return Strip.blank(self.size.width, base)
        row = self._style("cursor") if index == self._cursor else Style.null()
        reversed_row = bool(row.reverse)  # sixteen colours: what is reversed stays readable only without more colours
        segments = [
            Segment(text, row if reversed_row or not role else row + self._style(role))
            for text, role in self._lines[index]
        ]
        strip = Strip(segments).extend_cell_length(self.size.width, row).crop(0, self.size.width)
        return strip.apply_style(base)

    def _style(self, role: str) -> Style:
        return self.get_component_rich_style(f"line--{role}", partial=True)

    def _place(self, lines: Sequence[Line], top: int, cursor: int = -1) -> None:
        """Take over lines, place and cursor; repaint the rows that look different from before."""
        top = max(min(top, len(lines) - self.size.height), 0)
        before = self._in_view()
        moved = top != self._top or len(lines) != len(self._lines)
        self._lines, self._top, self._cursor = lines, top, cursor
        for y, (old, new) in enumerate(zip(before, self._in_view(), strict=True)):
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))
        if moved:
            self.post_message(self.Scrolled(self))

    def _in_view(self) -> list[tuple[Line, bool]]:
        rows = range(self._top, self._top + self.size.height)
        return [(self._lines[i] if i < len(self._lines) else (), i == self._cursor) for i in rows]
