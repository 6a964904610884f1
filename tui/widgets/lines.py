"""A widget of lines that scrolls by keys and repaints only what changed, because every byte takes time on a slow
line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tui.terminal.cells import NARROW, CellWidget, Push, changed, pushed, repaint
from tui.text.line import Line, plain, wrapped

Build = Callable[[int], Sequence[Line]]
"""Makes the lines for a width."""

WHEEL = 3
"""Lines that one step of the mouse wheel scrolls."""

BROKEN = "This part could not be drawn; the details are in the log."

log = logging.getLogger(__name__)


class Lines(CellWidget):
    """Shows lines without a scroll bar: after `Scrolled` the screen displays how many lines lie below."""

    class Scrolled(Message):
        """Another part of the lines is in view."""

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
            """The number of the line, from 0; the number of lines where the click was below the last."""
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
        self._problem = ""
        self._lines: Sequence[Line] = ()
        self._top = 0
        self._cursor = -1
        self._cursor_height = 1
        self._styles: dict[tuple[str, bool], Style] = {}
        self._background: Color | None = None
        self._columns: dict[int, list[tuple[int, str, str]] | None] = {}
        self._is_drawn = False

    @property
    def text(self) -> str:
        """All lines, also those that are scrolled out of sight."""
        return plain(self._lines)

    @property
    def below(self) -> int:
        """The number of lines hidden below."""
        return max(len(self._lines) - self._top - self.size.height, 0)

    @property
    def above(self) -> int:
        """The number of lines hidden above."""
        return self._top

    def show(self, build: Build, *, top: int = 0) -> None:
        """Show other lines, from the one numbered `top` on."""
        self._build = build
        self._place(self._built(), top)

    def scroll_by(self, lines: int) -> None:
        """Scroll down, or up when negative."""
        self._place(self._lines, self._top + lines, self._cursor, self._cursor_height)

    def bring_into_sight(self, first: int, last: int) -> None:
        """Scroll as little as needed to have these lines in view, or the first of them."""
        if first < self.above:
            self.scroll_by(first - self.above)
        elif last >= self.above + self.size.height:
            self.scroll_by(last + 1 - self.size.height - self.above)

    def scroll_pages(self, pages: int) -> None:
        """Scroll by screens that overlap in one line."""
        self.scroll_by(pages * max(self.size.height - 1, 1))

    def on_resize(self, event: events.Resize) -> None:
        """Lay out the lines for the new width."""
        self.lay_out()

    def on_click(self, event: events.Click) -> None:
        """Post which line was clicked."""
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
        """Handle the mouse wheel: scroll down by that many lines, or up when negative."""
        self.scroll_by(lines)

    def lay_out(self) -> None:
        """Make the lines for the present width."""
        self._place(self._built(), self._top)

    def _built(self) -> Sequence[Line]:
        """Return the lines. Where they cannot be made, return a line that says so, and log the error once."""
        try:
            lines = self._build(self.size.width)
        except Exception as error:
            if (problem := repr(error)) != self._problem:
                self._problem = problem
                log.exception("%s could not be drawn", self.id or type(self).__name__)
            return [[(text, "fail")] for text in wrapped(BROKEN, self.size.width)]
        self._problem = ""
        return lines

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines of a part of the view. The first drawing does not wait for the event that has the size: the
        screen would be empty until then."""
        if not self._is_drawn:
            self.lay_out()
            self._is_drawn = True
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one line of the view."""
        index, width = self._top + y, self.size.width
        if index >= len(self._lines):
            return Strip.blank(width, self._style_of("", False))
        is_chosen = self._is_marked(index)
        segments = [Segment(text, self._style_of(role, is_chosen)) for text, role in self._lines[index]]
        return Strip(segments).extend_cell_length(width, self._style_of("", is_chosen)).crop(0, width)

    def cells(self, y: int, start: int, end: int, filters: Sequence[LineFilter]) -> Iterable[Segment]:
        """Return a part of a line of the view."""
        if not self._is_drawn:
            self.render_lines(Region(0, 0, 1, 1))
        segments = self._part(y, start, end)
        if segments is None:
            segments = list(self.render_line(y).crop(start, end))
        if self._background is None:
            _, self._background = self.background_colors
        for line_filter in filters:
            segments = line_filter.apply(segments, self._background)
        return segments

    def _part(self, y: int, start: int, end: int) -> list[Segment] | None:
        """Return a part of a line; None where its characters are not one column wide each."""
        index = self._top + y
        if index not in self._columns:
            self._columns[index] = _columns_of(self._lines[index]) if index < len(self._lines) else []
        spans = self._columns[index]
        if spans is None:
            return None
        is_chosen = index < len(self._lines) and self._is_marked(index)
        segments: list[Segment] = []
        at = 0
        for first, text, role in spans:
            at = first + len(text)
            if first >= end:
                return segments
            if at > start:
                segments.append(Segment(text[max(start - first, 0) : end - first], self._style_of(role, is_chosen)))
        if at < end:
            segments.append(Segment(" " * (end - max(at, start)), self._style_of("", is_chosen)))
        return segments

    def notify_style_update(self) -> None:
        """Drop the cached styles, which may have changed."""
        self._styles.clear()
        self._background = None
        super().notify_style_update()

    def _style_of(self, role: str, is_chosen: bool) -> Style:
        """Return the style of a role, from a cache: Textual would compute it for each line, through all styles."""
        found = self._styles.get((role, is_chosen))
        if found is None:
            row = self._style("cursor") if is_chosen else Style.null()
            # With sixteen colours, reversed text is readable only without another colour.
            own = row if row.reverse or not role else row + self._style(role)
            found = self._styles[role, is_chosen] = self.rich_style + own
        return found

    def _style(self, role: str) -> Style:
        return self.screen.get_component_rich_style(f"line--{role}", partial=True)

    def _place(self, lines: Sequence[Line], top: int, cursor: int = -1, cursor_height: int = 1) -> None:
        """Set lines, scroll position and cursor, which marks `cursor_height` lines; repaint the cells that differ from
        before."""
        width, height = self.size
        top = max(min(top, len(lines) - height), 0)
        before = self._in_view(height)
        moved = top != self._top or len(lines) != len(self._lines)
        self._columns.clear()
        self._lines, self._top, self._cursor, self._cursor_height = lines, top, cursor, cursor_height
        regions: list[Region] = []
        may_push = not self._repaint_regions  # otherwise the terminal displays something older than the old lines
        for y, ((old, was_chosen), (new, is_chosen)) in enumerate(zip(before, self._in_view(height), strict=True)):
            if was_chosen != is_chosen:
                regions.append(Region(0, y, width, 1))
            elif old is not new and old != new:
                parts, after = pushed(old, new, width) if may_push else ([], old)
                regions += [Push(x, y, end - x, 1) for x, end in parts]
                regions += [Region(x, y, end - x, 1) for x, end in changed(after, new, width)]
        if regions and self._is_drawn:  # the first drawing is a whole one
            repaint(self, regions)
        if moved:
            self.post_message(self.Scrolled(self))

    def _in_view(self, height: int) -> list[tuple[Line, bool]]:
        rows = range(self._top, self._top + height)
        return [(self._lines[i] if i < len(self._lines) else (), self._is_marked(i)) for i in rows]

    def _is_marked(self, line: int) -> bool:
        return self._cursor <= line < self._cursor + self._cursor_height and self._cursor >= 0


def _columns_of(line: Line) -> list[tuple[int, str, str]] | None:
    """Return the spans with their first columns; None where a character is not one column wide."""
    at, found = 0, []
    for text, role in line:
        if not NARROW.fullmatch(text):
            return None
        found.append((at, text, role))
        at += len(text)
    return found


class MarkedLines(Lines):
    """Lines of which one can be marked, as a selected link."""

    def mark(self, line: int) -> None:
        """Mark a line, or none where it is negative."""
        self._place(self._lines, self._top, line)
