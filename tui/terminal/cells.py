"""What changed goes to the terminal, and nothing else: a screen's update cell by cell.

Textual 8.2.8 writes each changed row from the left edge of its widget on, whatever part of it changed, and a colour
anew for every piece (`ChopsUpdate.render_segments`). On a slow line that is most of what is waited for. And a graph
that goes on by one sign is not written again: the terminal itself is told to move it. Textual is pinned exactly;
`tests/tui/test_lines.py` holds what is relied on here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import ne
from typing import Any

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.text.line import Line, Span

_MOVE = 7
"""What going to another place in the row costs, in bytes; over fewer cells it is cheaper to write them again."""

_RESET = "\x1b[0m"

_NARROW = re.compile(r"[ -~\u2500-\u259f\u2800-\u28ff]*")
"""Signs that take one column each, as nearly all do: plain ones, lines, blocks and braille."""


_LEAST_PUSHED = 12
"""So many signs must be spared to let the terminal move a graph: that costs what writing eight of them does."""

_MOVING = re.compile(
    r"xterm|screen|tmux|linux|putty|rxvt|vt[2-5]\d\d|alacritty|foot|kitty|wezterm|konsole|gnome|vte|mintty|iterm"
    r"|ghostty|contour|st-|st$"
)
"""How the types (TERM) of terminals begin that take signs out of a row (DCH) and put blanks in (ICH), as the VT220 and
all after it do. The VT100 has neither, the VT102 and `ansi` not both for sure; of another one nothing is known."""


def can_move(environment: Mapping[str, str]) -> bool:
    """Whether this terminal can be told to move a part of a row."""
    return _MOVING.match(environment.get("TERM", "")) is not None


class Push(Region):
    """Part of a row in which everything goes one column to the left; what comes in at the right is written as ever.

    It stands among the regions that a widget has to repaint: whoever does not know of it repaints that part.
    """

    def translate(self, offset: tuple[int, int]) -> Push:  # type: ignore[override]
        """The same part, elsewhere."""
        return Push(*super().translate(offset))


class CellUpdate(ChopsUpdate):
    """Writes exactly the changed spans, and a style only where it differs from that of the piece before."""

    pushes: Sequence[Region] = ()

    def render_segments(self, console: Console) -> str:
        """The update as what is written to the terminal."""
        system = console._color_system or ColorSystem.TRUECOLOR
        # The sign at the left is taken out, and all of the row follows; a blank is put in where the part ends.
        written = [f"{_at(x, y)}\x1b[P{_at(x + width - 1, y)}\x1b[@" for x, y, width, _ in self.pushes]
        pen: Style | None = None
        for x, y, strip in self._pieces():
            written.append(_at(x, y))
            for text, style, _ in strip:
                written.append(_pen_change(pen, style or Style.null(), system))
                pen = style or Style.null()
                written.append(text)
        return "".join([*written, _RESET])

    def _pieces(self) -> Iterator[tuple[int, int, Strip]]:
        for y, x1, x2 in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(x, x1), min(end, x2)
                if strip is not None and left < right:
                    yield left, y, strip.crop(left - x, right - x)


class CellCompositor(Compositor):
    """A screen's compositor whose partial updates are cell by cell; a screen takes it as its `_compositor`."""

    def __init__(self, *, can_move: bool = True) -> None:
        """`can_move`: whether the terminal can; on another one, what would be moved is written anew."""
        super().__init__()
        self._can_move = can_move
        self._pushes: list[Region] = []

    def update_widgets(self, widgets: set[Widget]) -> None:
        """Take over what the widgets have to repaint."""
        # What is still to be written might lie in a part that is moved: then that part is repainted.
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
        """What is to be written by now; None where nothing is."""
        pushes, self._pushes = self._pushes, []
        update = super().render_update(full, screen_stack, simplify)
        if pushes and update is None:
            update = CellUpdate([], [], [])
        if isinstance(update, CellUpdate):
            update.pushes = pushes
        return update

    def render_partial_update(self) -> ChopsUpdate | None:
        """What changed since the last update; None where nothing did."""
        update = super().render_partial_update()
        return None if update is None else CellUpdate(update.chops, update.spans, update.chop_ends)


def repaint(widget: Widget, regions: Sequence[Region]) -> None:
    """Have parts of a widget drawn anew. As `Widget.refresh`, but at once: that goes by three messages, one after the
    other through the loops of the widget and its screen, which costs as much as the drawing."""
    screen = widget.screen
    if not widget._is_mounted or screen not in screen._compositor:
        widget.refresh(*regions)
        return
    widget._set_dirty(*regions)
    screen._dirty_widgets.add(widget)
    screen.check_idle()


def _at(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"


@lru_cache(maxsize=512)
def _pen_change(before: Style | None, after: Style, system: ColorSystem) -> str:
    """What has to be written to go from one style to the other; `before` is None after a reset."""
    if before == after:
        return ""
    if (
        before is not None
        and after.color
        and (before.bgcolor, before.without_color) == (after.bgcolor, after.without_color)
    ):
        return f"\x1b[{Strip.render_ansi(Style(color=after.color), system)}m"
    codes = Strip.render_ansi(after, system)
    # What the old style has and the new one has not (bold) only a reset takes away.
    return f"\x1b[0;{codes}m" if codes and before is not None else f"\x1b[{codes}m" if codes else _RESET


def pushed(old: Line, new: Line, width: int) -> tuple[list[tuple[int, int]], Line]:
    """The parts of a row, from and up to which column, that go one column to the left, as graphs do; and the old line
    after that, other than the new one wherever a part ends: what has come in there is not what is wanted."""
    if len(old) != len(new) or not any(_goes_on(*spans) for spans in zip(old, new, strict=True)):
        return [], old
    parts: list[tuple[int, int]] = []
    after: list[Span] = []
    column = 0
    for before, now in zip(old, new, strict=True):
        text, role = before
        if len(text) != len(now[0]) or not _NARROW.fullmatch(text) or column + len(text) > width:
            break
        if _goes_on(before, now):
            parts.append((column, column + len(text)))
            # The blank that comes in has the terminal's own background: it is written over in any case.
            before = text[1:] + ("▁" if now[0].endswith(" ") else " "), role
        after.append(before)
        column += len(text)
    return parts, [*after, *old[len(after) :]]


def _goes_on(before: Span, now: Span) -> bool:
    """Whether that is the same graph a point later, and writing it would cost more than moving it."""
    (old, role), (new, new_role) = before, now
    return (
        len(old) == len(new) > _LEAST_PUSHED
        and role == new_role
        and old[1:] == new[:-1]
        and sum(map(ne, old, new)) > _LEAST_PUSHED
    )


def changed(old: Line, new: Line, width: int) -> list[tuple[int, int]]:
    """The columns from and up to which two lines differ, in text or role; what lies close together is one range."""
    if old == new:
        return []
    ranges: list[tuple[int, int]] = []
    for x in _different(old, new, width):
        if ranges and x - ranges[-1][1] < _MOVE:
            ranges[-1] = (ranges[-1][0], x + 1)
        else:
            ranges.append((x, x + 1))
    return ranges


def _different(old: Line, new: Line, width: int) -> list[int]:
    """The columns that differ."""
    before, after = "".join([text for text, _ in old]), "".join([text for text, _ in new])
    if (
        len(before) == len(after) <= width
        and [(len(text), role) for text, role in old] == [(len(text), role) for text, role in new]
        and _NARROW.fullmatch(before)
        and _NARROW.fullmatch(after)
    ):
        return [x for x, (was, is_) in enumerate(zip(before, after, strict=True)) if was != is_]
    cells = zip(_cells(old, width), _cells(new, width), strict=True)
    return [x for x, (was, is_) in enumerate(cells) if was != is_]


def _cells(line: Line, width: int) -> list[tuple[str, str]]:
    """What stands in each column; the second of a wide sign has the sign too, so that both change together."""
    cells: list[tuple[str, str]] = []
    for text, role in line:
        if _NARROW.fullmatch(text):
            cells += [(sign, role) for sign in text]
            continue
        for sign in text:
            columns = cell_len(sign)
            if columns == 1:
                cells.append((sign, role))
            elif columns > 1:
                cells += [(f"{sign}{part}", role) for part in range(columns)]
            elif cells:  # a mark that is drawn on the sign before it
                cells[-1] = (cells[-1][0] + sign, f"{cells[-1][1]} {role}")
    return (cells + [(" ", "")] * (width - len(cells)))[:width]
