"""What a screen offers, from its table of actions: as a help page, and as commands to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import App
from textual.screen import Screen

from tui.console.actions import EVERYWHERE, TABS, Action
from tui.screens.base import ConsoleScreen
from tui.screens.palette import PaletteScreen
from tui.screens.reader import HelpScreen, ReaderScreen


def help_for(screen: Screen[Any]) -> HelpScreen | None:
    """The keys and signs of a screen; of the help itself there is no help."""
    if isinstance(screen, ConsoleScreen):
        return HelpScreen(TABS[screen.NAME][2:], screen.ACTIONS, screen.signs())
    if isinstance(screen, ReaderScreen) and not isinstance(screen, HelpScreen):
        return HelpScreen(screen.NAME, screen.ACTIONS, ())
    return None


async def offer_actions(app: App[None]) -> None:
    """Let the operator find an action by its words, and do it on the screen that is shown now."""
    screen = app.screen

    async def act(action: Action | None) -> None:
        if action is not None:
            await app.run_action(action.action, screen)

    palette = palette_for(screen)
    await app.push_screen(palette, act)
    palette.set_focus(palette.query_one("#words"))  # the next key may be here already, and is a letter of the words


def palette_for(screen: Screen[Any]) -> PaletteScreen:
    """The screen's own actions, then those of every screen."""
    own: Sequence[Action] = getattr(screen, "ACTIONS", ())
    others = (a for a in EVERYWHERE if a not in own and a.action != "app.palette")
    return PaletteScreen((*own, *others))
