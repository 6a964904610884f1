"""The two themes: a calm dark one, and the sixteen colours of the terminal where more are uncertain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import BUILTIN_THEMES, Theme

from tui import colours
from tui.text.sanitize import for_encoding

DARK = Theme(name="racwire", **colours.DARK)
_ANSI = BUILTIN_THEMES["ansi-dark"]
TERMINAL = replace(
    _ANSI,
    name="racwire-terminal",
    **{**colours.TERMINAL, "variables": {**_ANSI.variables, **colours.TERMINAL["variables"]}},
)
ROLE_RULES = "\n".join(f".line--{role} {{ {rule}; }}" for role, (_, rule) in colours.ROLES.items())
"""The rules of the style sheet for the roles of spans: once for each screen, and not for each of its widgets."""


def _height(dots: int) -> int:
    """Return the height of a braille character in dots: that of the higher of its two columns."""
    return next((height for height, bits in ((4, 0x09), (3, 0x12), (2, 0x24), (1, 0xC0)) if dots & bits), 0)


_DRAWN: dict[int, int | str | None] = {
    **str.maketrans("─│┌┐└┘├┤┬┴┼…·→←↑↓", "-|" + "+" * 9 + "~.><^v"),
    **str.maketrans("▶▸◀▲▼▾✓✗✔✘●○", ">><^vvvxvx*o"),
    **str.maketrans("▁▂▃▄▅▆▇█", "_.-=+*%#"),
    **{0x2800 + dots: sign for dots in range(256) for sign in " .-=#"[_height(dots)]},
}
"""Line and graph characters, each with its replacement for a terminal without Unicode. Graphs keep their shape."""


class PlainSigns(LineFilter):
    """Replaces characters for a terminal without Unicode; each replacement has the same width."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without characters that the terminal cannot display."""
        return [Segment(self._plain(text), style, control) for text, style, control in segments]

    def _plain(self, text: str) -> str:
        if text.isascii():
            return text
        text = text.translate(_DRAWN)
        return "".join(sign if sign.isascii() else self._sign(sign) for sign in text)

    def _sign(self, sign: str) -> str:
        carried = for_encoding(sign, self._encoding)
        return carried if cell_len(carried) == cell_len(sign) else "?" * cell_len(sign)


def filters_for(encoding: str) -> Sequence[LineFilter]:
    """Return the filters for every line on a terminal of that encoding."""
    return [] if encoding.lower().replace("-", "") == "utf8" else [PlainSigns(encoding)]


SHOWN_AFTER_S = 0.001
"""Seconds between a change of screens and the drawing of the new one; Textual's default is 50 ms."""

_LOOKS = {look.name: look for look in (DARK, TERMINAL)}


def theme_of(chosen: str, terminal_colours: bool) -> tuple[str, bool]:
    """Return the usual theme of this terminal, and whether to use the colours of the terminal: as chosen earlier, or as
    usual. NO_COLOR has priority over the choice."""
    usual = TERMINAL.name if terminal_colours else DARK.name
    if chosen in _LOOKS and not os.environ.get("NO_COLOR"):
        terminal_colours = chosen == TERMINAL.name
    return usual, terminal_colours


class ThemeMixin(App[None]):
    """An app in one of the two themes."""

    usual_theme = ""
    """The theme of this terminal where none was chosen."""
    _filters_for_terminal: Sequence[LineFilter] = ()

    def put_on(self, *, terminal_colours: bool, encoding: str) -> None:
        """Choose the theme, before anything is drawn."""
        for look in _LOOKS.values():
            self.register_theme(look)
        # A change of `theme` would make Textual read all style sheets again, before anything is drawn.
        self.set_reactive(App.theme, TERMINAL.name if terminal_colours else DARK.name)
        self.stylesheet.set_variables(self.get_css_variables())
        self._filters_for_terminal = filters_for(encoding)

    def get_theme(self, theme_name: str) -> Theme | None:
        """Return the theme. Textual calls this for each widget that it draws, and would search all its themes."""
        return _LOOKS.get(theme_name) or super().get_theme(theme_name)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters for every line."""
        return [*super().get_line_filters(), *self._filters_for_terminal]

    def delay_update(self, delay: float = SHOWN_AFTER_S) -> None:
        """Delay drawing while screens change."""
        super().delay_update(delay)
