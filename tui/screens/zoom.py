"""A main screen with several panes, of which `z` gives one the whole screen."""

from __future__ import annotations

from collections.abc import Sequence

from tui.console.actions import Action, relabelled
from tui.screens.base import ConsoleScreen

ZOOMED = "-zoomed"
"""The class of a screen on which one pane has the whole room."""


class ZoomScreen(ConsoleScreen):
    """A screen that can show one pane alone; `app.tcss`, or its layout, hides the others then."""

    @property
    def is_zoomed(self) -> bool:
        """Whether one pane has the whole screen."""
        return self.has_class(ZOOMED)

    def action_zoom(self) -> None:
        """Show one pane alone, or all again."""
        self.toggle_class(ZOOMED)
        self.draw()
        self.draw_keys()

    def footer(self) -> Sequence[Action]:
        """Return the commands for the last line: while a pane is alone, the key that shows all comes first."""
        actions = super().footer()
        if not self.is_zoomed:
            return actions
        actions = relabelled(actions, {"zoom": "all panes"})
        return sorted(actions, key=lambda action: action.name != "zoom")
