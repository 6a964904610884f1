"""How the console looks on this terminal, and how soon: what Textual would work out anew each time is known here."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import App
from textual.filter import LineFilter
from textual.theme import Theme

from tui.console.theme import DARK, TERMINAL, filters_for

SHOWN_AFTER_S = 0.001
"""How long after a change of screens the new one is drawn; Textual waits 50 ms for it."""

_LOOKS = {look.name: look for look in (DARK, TERMINAL)}


class LookingApp(App[None]):
    """An app in one of the two looks, which stays as it is."""

    _filters_for_terminal: Sequence[LineFilter] = ()

    def put_on(self, *, terminal_colours: bool, encoding: str) -> None:
        """Choose the look, before anything is drawn."""
        for look in _LOOKS.values():
            self.register_theme(look)
        # Not by a change of `theme`: for that Textual reads all style sheets once more, before anything is drawn.
        self.set_reactive(App.theme, TERMINAL.name if terminal_colours else DARK.name)
        self.stylesheet.set_variables(self.get_css_variables())
        self._filters_for_terminal = filters_for(encoding)

    def get_theme(self, theme_name: str) -> Theme | None:
        """The look. Textual asks for it with each widget that it draws, and would look through all that it has."""
        return _LOOKS.get(theme_name) or super().get_theme(theme_name)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is applied to every line before it is drawn."""
        return [*super().get_line_filters(), *self._filters_for_terminal]

    def delay_update(self, delay: float = SHOWN_AFTER_S) -> None:
        """Wait with drawing while screens change."""
        super().delay_update(delay)
