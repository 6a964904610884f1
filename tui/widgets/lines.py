"""A widget of lines that scrolls by keys and repaints only what changed: on a slow line every byte is waited for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.terminal.cells import Push, changed, pushed, repaint
from tui.text.line import Line, plain, wrapped

Build = Callable[[int], Sequence[Line]]
"""Makes the lines for a width."""

WHEEL = 3
"""Lines that one step of the mouse wheel scrolls."""

BROKEN = "This part could not be drawn; the details are in the log."

log = logging.getLogger(__name__)


class Lines(Widget):
    """Shows lines; no scroll bar: how many lines lie below is told by `Scrolled`, for the screen to say in words."""

    class Scrolled(Message):
        """Another part of the lines is shown."""

        def __init__(self, lines: Lines) -> None:
            super().__init__()
            self.lines = lines

        @property
        def control(self) -> Lines:
            """The widget that scrolled."""
            return self.lines

    class Clicked(Message):
        """A line was clicked with the mouse."""

        def __init__(self, lines: Lines, line: int, column: int) -> None:
            super().__init__()
            self.lines = lines
            self.line = line
            """Its number among all lines, from 0; as many as there are lines where none stands there."""
            self.column = column

        @property
        def control(self) -> Lines:
            """The widget that was clicked."""
            return self.lines

    def __init__(
        self,
        build: Build | None = None,
        *,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Build = build or (lambda width: ())
        self._trouble = ""
        self._lines: Sequence[Line] = ()
        self._top = 0
        self._cursor = -1
        self._looks: dict[tuple[str, bool], Style] = {}

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
        self._place(self._built(), top)

    def scroll_by(self, lines: int) -> None:
        """Scroll down, or up when negative."""
        self._place(self._lines, self._top + lines, self._cursor)

    def bring_into_sight(self, first: int, last: int) -> None:
        """Scroll no further than to have these lines in sight, or the first of them."""
        if first < self.above:
            self.scroll_by(first - self.above)
        elif last >= self.above + self.size.height:
            self.scroll_by(last + 1 - self.size.height - self.above)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by screenfuls that overlap in one line."""
        self.scroll_by(pages * max(self.size.height - 1, 1))

    def on_resize(self, event: events.Resize) -> None:
        """Lay the lines out anew for the new width."""
        self.lay_out()

    def on_click(self, event: events.Click) -> None:
        """Tell which line it was."""
        self.post_message(self.Clicked(self, min(self._top + event.y, len(self._lines)), event.x))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self.wheel(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self.wheel(-WHEEL)

    def wheel(self, lines: int) -> None:
        """What the mouse wheel does here, so many lines down, or up when negative: it scrolls."""
        self.scroll_by(lines)

    def lay_out(self) -> None:
        """Make the lines for the width there is."""
        self._place(self._built(), self._top)

    def _built(self) -> Sequence[Line]:
        """The lines; where they cannot be made one that says so, and in the log why, once."""
        try:
            lines = self._build(self.size.width)
        except Exception as error:
            if (trouble := repr(error)) != self._trouble:
                self._trouble = trouble
                log.exception("%s could not be drawn", self.id or type(self).__name__)
            return [[(text, "fail")] for text in wrapped(BROKEN, self.size.width)]
        self._trouble = ""
        return lines

    def render_line(self, y: int) -> Strip:
        """One line of what is in view."""
        index, width = self._top + y, self.size.width
        if index >= len(self._lines):
            return Strip.blank(width, self._look("", False))
        is_chosen = index == self._cursor
        segments = [Segment(text, self._look(role, is_chosen)) for text, role in self._lines[index]]
        return Strip(segments).extend_cell_length(width, self._look("", is_chosen)).crop(0, width)

    def notify_style_update(self) -> None:
        """The looks may be others now."""
        self._looks.clear()
        super().notify_style_update()

    def _look(self, role: str, is_chosen: bool) -> Style:
        """What a role looks like here. Worked out once: Textual would do it for each line anew, through all styles."""
        found = self._looks.get((role, is_chosen))
        if found is None:
            row = self._style("cursor") if is_chosen else Style.null()
            # Sixteen colours: what is reversed stays readable only without more colours.
            own = row if row.reverse or not role else row + self._style(role)
            found = self._looks[role, is_chosen] = self.rich_style + own
        return found

    def _style(self, role: str) -> Style:
        return self.screen.get_component_rich_style(f"line--{role}", partial=True)

    def _place(self, lines: Sequence[Line], top: int, cursor: int = -1) -> None:
        """Take over lines, place and cursor; repaint the cells that look different from before."""
        width = self.size.width
        top = max(min(top, len(lines) - self.size.height), 0)
        before = self._in_view()
        moved = top != self._top or len(lines) != len(self._lines)
        self._lines, self._top, self._cursor = lines, top, cursor
        regions: list[Region] = []
        may_push = not self._repaint_regions  # else what the terminal shows is something older than the old lines
        for y, ((old, was_chosen), (new, is_chosen)) in enumerate(zip(before, self._in_view(), strict=True)):
            if was_chosen != is_chosen:
                regions.append(Region(0, y, width, 1))
            elif old is not new:
                parts, after = pushed(old, new, width) if may_push else ([], old)
                regions += [Push(x, y, end - x, 1) for x, end in parts]
                regions += [Region(x, y, end - x, 1) for x, end in changed(after, new, width)]
        if regions:
            repaint(self, regions)
        if moved:
            self.post_message(self.Scrolled(self))

    def _in_view(self) -> list[tuple[Line, bool]]:
        rows = range(self._top, self._top + self.size.height)
        return [(self._lines[i] if i < len(self._lines) else (), i == self._cursor) for i in rows]
