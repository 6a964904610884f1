"""Updates a screen cell by cell: only changed cells are written to the terminal.

Textual 8.2.8 writes each changed row from the left edge of its widget, whatever part of the row changed, and repeats
the colour for every piece (`ChopsUpdate.render_segments`). On a slow line that causes most of the delay. A graph that
moves by one character is not written again: an escape sequence moves it within the terminal. Widgets that know their
own cells are not rendered in whole for that, which would be a third of the CPU time of live figures. Textual is pinned
exactly; `tests/tui/test_lines.py` tests the internals that this module uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import ne
from typing import Any

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor
from textual.filter import LineFilter
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.text.line import Line, Span

_MOVE = 7
"""Bytes of a cursor movement within a row; a gap of fewer cells is cheaper to write again."""

_RESET = "\x1b[0m"

NARROW = re.compile(r"[ -~\u2500-\u259f\u2800-\u28ff\xb0-\xff\u2190-\u2199\u25a0-\u25c4…]*")
"""Characters of one column each, as nearly all are: ASCII, lines, blocks, braille, Latin letters, arrows and marks."""


_LEAST_PUSHED = 12
"""Fewest unchanged characters for which the terminal moves a graph: a move costs as much as writing eight
characters."""

_MOVING = re.compile(
    r"xterm|screen|tmux|linux|putty|rxvt|vt[2-5]\d\d|alacritty|foot|kitty|wezterm|konsole|gnome|vte|mintty|iterm"
    r"|ghostty|contour|st-|st$"
)
"""Prefixes of the terminal types (TERM) that delete characters of a row (DCH) and insert blanks (ICH), as the VT220 and
its successors do. The VT100 has neither, the VT102 and `ansi` perhaps not both; other types are not known."""


def can_move(environment: Mapping[str, str]) -> bool:
    """Return whether this terminal can move a part of a row."""
    return _MOVING.match(environment.get("TERM", "")) is not None


class Push(Region):
    """A part of a row that moves one column to the left; the new content at the right is written as usual.

    It is one of the regions that a widget has to repaint: code that does not know this class repaints the part.
    """

    def translate(self, offset: tuple[int, int]) -> Push:  # type: ignore[override]
        """Return the same part at another position."""
        return Push(*super().translate(offset))


class CellWidget(Widget):
    """A widget that knows its cells: the compositor asks for those that changed, and not for whole lines."""

    def cells(self, y: int, start: int, end: int, filters: Sequence[LineFilter]) -> Iterable[Segment]:
        """Return the columns of one line from `start` to before `end`, as `render_lines` and the filters make them.

        Raises NotImplementedError: each such widget defines it."""
        raise NotImplementedError


Piece = tuple[int, int, Iterable[Segment]]
"""Column, row, and what is written there."""


class CellUpdate(ChopsUpdate):
    """Writes exactly the changed spans, and a style only where it differs from that of the previous piece."""

    pushes: Sequence[Region] = ()
    pieces: Sequence[Piece] | None = None
    """What is written, where the widgets made it themselves."""

    def render_segments(self, console: Console) -> str:
        """Return the text to write to the terminal."""
        system = console._color_system or ColorSystem.TRUECOLOR
        # Deletes the character at the left, which moves the rest of the row; inserts a blank where the part ends.
        written = [f"{_at(x, y)}\x1b[P{_at(x + width - 1, y)}\x1b[@" for x, y, width, _ in self.pushes]
        pen: Style | None = None
        here: tuple[int, int] | None = None
        for style, x, y, text in self._runs(system):
            if here != (x, y):
                is_ahead = here is not None and here[1] == y and here[0] < x
                written.append(f"\x1b[{x - here[0]}C" if here is not None and is_ahead else _at(x, y))
            written.append(_pen_change(pen, style, system))
            written.append(text)
            pen = style
            # After other characters, some terminals have the cursor elsewhere: the next movement is absolute.
            here = (x + len(text), y) if text.isascii() else None
        return "".join([*written, _RESET])

    def _runs(self, system: ColorSystem) -> Iterator[tuple[Style, int, int, str]]:
        """Yield each text with its style, column and row; where a colour takes more bytes than a movement of the
        cursor, those of one style together."""
        runs: dict[Style | None, list[tuple[Style, int, int, str]]] = {}
        is_cheap = system not in (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT)
        for x, y, segments in self._cut() if self.pieces is None else self.pieces:
            for text, style, _ in segments:
                pen = style or Style.null()
                runs.setdefault(None if is_cheap else pen, []).append((pen, x, y, text))
                x += cell_len(text)
        return chain.from_iterable(runs.values())

    def _cut(self) -> Iterator[tuple[int, int, Strip]]:
        for y, x1, x2 in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(x, x1), min(end, x2)
                if strip is not None and left < right:
                    yield left, y, strip.crop(left - x, right - x)


class CellCompositor(Compositor):
    """A compositor with partial updates cell by cell; a screen uses it as its `_compositor`."""

    def __init__(self, *, can_move: bool = True) -> None:
        """Create the compositor; without `can_move`, parts that would move are written again."""
        super().__init__()
        self._can_move = can_move
        self._pushes: list[Region] = []
        self._in_front: list[tuple[Region, CellWidget]] = []
        self._in_front_of: object = None
        """The visible widgets among which `_in_front` was found."""

    def update_widgets(self, widgets: set[Widget]) -> None:
        """Collect the regions that the widgets have to repaint."""
        # A pending update might be within a part that moves: then that part is repainted.
        if self._can_move and not self._dirty_regions and not self._pushes:
            for widget in self.visible_widgets.keys() & widgets:
                region, clip = self.visible_widgets[widget]
                pushes = [part for part in widget._repaint_regions if isinstance(part, Push)]
                if pushes and clip.contains_region(region):
                    widget._repaint_regions.difference_update(pushes)
                    self._pushes += [part.translate(region.offset) for part in pushes]
        super().update_widgets(widgets)

    def render_update(
        self, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
    ) -> RenderableType | None:
        """Return the pending update; None where there is none."""
        pushes, self._pushes = self._pushes, []
        update = super().render_update(full, screen_stack, simplify)
        if pushes and update is None:
            update = CellUpdate([], [], [])
        if isinstance(update, CellUpdate):
            update.pushes = pushes
        return update

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return the changes since the last update; None where there are none."""
        pieces = self._pieces()
        if pieces:
            self._dirty_regions.clear()
            made = CellUpdate([], [], [])
            made.pieces = pieces
            return made
        update = super().render_partial_update()
        return None if update is None else CellUpdate(update.chops, update.spans, update.chop_ends)

    def _pieces(self) -> list[Piece] | None:
        """Return the changes, made by the widgets themselves; None where a change is not within one of them."""
        pieces: list[Piece] = []
        filters: Sequence[LineFilter] | None = None
        for y, start, end in self._regions_to_spans(self._dirty_regions):
            region, widget = self._owner(y, start, end)
            if widget is None:
                return None
            filters = widget.get_line_filters() if filters is None else filters
            pieces.append((start, y, widget.cells(y - region.y, start - region.x, end - region.x, filters)))
        return pieces

    def _owner(self, y: int, start: int, end: int) -> tuple[Region, CellWidget | None]:
        for region, widget in self._owners():
            if region.y <= y < region.bottom and region.x <= start and end <= region.right:
                return region, widget
        return Region(), None

    def _owners(self) -> list[tuple[Region, CellWidget]]:
        """Return the regions in which a widget that knows its cells is alone in front."""
        visible = self.visible_widgets
        if visible is not self._in_front_of:
            self._in_front_of, self._in_front = visible, []
            before: list[Region] = []
            for widget, (region, clip) in visible.items():  # from the front to the back
                is_plain = isinstance(widget, CellWidget) and widget.region.size == widget.content_region.size
                if is_plain and clip.contains_region(region) and not any(map(region.overlaps, before)):
                    self._in_front.append((region, widget))  # type: ignore[arg-type]
                before.append(region.intersection(clip))
        return self._in_front


def repaint(widget: Widget, regions: Sequence[Region]) -> None:
    """Redraw parts of a widget, as `Widget.refresh` does, but at once: that method posts three messages, one after
    another through the loops of the widget and its screen, which costs as much as the drawing."""
    screen = widget.screen
    if not widget._is_mounted or screen not in screen._compositor:
        widget.refresh(*regions)
        return
    widget._set_dirty(*regions)
    widget._dirty_regions.clear()  # only the rendering of other widgets would clear this set, which grows
    screen._dirty_widgets.add(widget)
    screen.check_idle()


def _at(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"


@lru_cache(maxsize=512)
def _pen_change(before: Style | None, after: Style, system: ColorSystem) -> str:
    """Return the escape sequence that changes one style into another; `before` is None after a reset."""
    if before == after:
        return ""
    if (
        before is not None
        and after.color
        and (before.bgcolor, before.without_color) == (after.bgcolor, after.without_color)
    ):
        return f"\x1b[{Strip.render_ansi(Style(color=after.color), system)}m"
    codes = Strip.render_ansi(after, system)
    # Only a reset removes an attribute, such as bold, that the old style has and the new style lacks.
    return f"\x1b[0;{codes}m" if codes and before is not None else f"\x1b[{codes}m" if codes else _RESET


def pushed(old: Line, new: Line, width: int) -> tuple[list[tuple[int, int]], Line]:
    """Return the parts of a row that move one column to the left, as graphs do, each as (first column, end column); and
    the old line after the move, which differs from the new one where a part ends, because a blank moves in there."""
    if len(old) != len(new) or not any(
        _is_next_point(*spans) for spans in zip(old, new, strict=True) if spans[0] != spans[1]
    ):
        return [], old
    parts: list[tuple[int, int]] = []
    after: list[Span] = []
    column = 0
    for before, now in zip(old, new, strict=True):
        text, role = before
        if len(text) != len(now[0]) or not NARROW.fullmatch(text) or column + len(text) > width:
            break
        if _is_next_point(before, now):
            parts.append((column, column + len(text)))
            # The inserted blank has the background of the terminal: it is overwritten in any case.
            before = text[1:] + ("▁" if now[0].endswith(" ") else " "), role
        after.append(before)
        column += len(text)
    return parts, [*after, *old[len(after) :]]


def _is_next_point(before: Span, now: Span) -> bool:
    """Return whether `now` is the same graph one point later, and moving it is cheaper than writing it."""
    (old, role), (new, new_role) = before, now
    return (
        len(old) == len(new) > _LEAST_PUSHED
        and role == new_role
        and old[1:] == new[:-1]
        and sum(map(ne, old, new)) > _LEAST_PUSHED
    )


def changed(old: Line, new: Line, width: int) -> list[tuple[int, int]]:
    """Return the column ranges where two lines differ in text or role; close ranges are joined."""
    if old == new:
        return []
    columns = _different(old, new, width)
    if columns is None:
        cells = zip(_cells(old, width), _cells(new, width), strict=True)
        columns = [x for x, (was, is_) in enumerate(cells) if was != is_]
    ranges: list[tuple[int, int]] = []
    for x in columns:
        if ranges and x - ranges[-1][1] < _MOVE:
            ranges[-1] = (ranges[-1][0], x + 1)
        else:
            ranges.append((x, x + 1))
    return ranges


def _different(old: Line, new: Line, width: int) -> list[int] | None:
    """Return the columns that differ between lines of spans of the same widths and roles; None for other lines."""
    if len(old) != len(new):
        return None
    columns: list[int] = []
    at = 0
    for (before, role), (now, new_role) in zip(old, new, strict=True):
        if role != new_role:
            return None
        if before != now:
            if len(before) != len(now) or not NARROW.fullmatch(before) or not NARROW.fullmatch(now):
                return None
            columns += [x for x, (was, is_) in enumerate(zip(before, now, strict=True), at) if was != is_]
            at += len(before)
        else:
            at += cell_len(before)
    return columns if at <= width else None


def _cells(line: Line, width: int) -> list[tuple[str, str]]:
    """Return the content of each column; the second column of a wide character has it too, so that both change
    together."""
    cells: list[tuple[str, str]] = []
    for text, role in line:
        if NARROW.fullmatch(text):
            cells += [(sign, role) for sign in text]
            continue
        for sign in text:
            columns = cell_len(sign)
            if columns == 1:
                cells.append((sign, role))
            elif columns > 1:
                cells += [(f"{sign}{part}", role) for part in range(columns)]
            elif cells:  # a combining character
                cells[-1] = (cells[-1][0] + sign, f"{cells[-1][1]} {role}")
    return (cells + [(" ", "")] * (width - len(cells)))[:width]
