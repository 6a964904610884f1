"""The main screens, made ahead one after the other so that their keys are answered at once; and what the one that is
shown offers: its help, and its keys by words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from textual.app import App

from tui.console.actions import EVERYWHERE, TABS, Action
from tui.console.app_state import AppState
from tui.screens.base import BrokenScreen, ConsoleScreen

if TYPE_CHECKING:
    from tui.console.live import Past


SCREENS = {
    "checks": "tui.screens.checks.screen:ChecksScreen",
    "paths": "tui.screens.paths.screen:PathsScreen",
    "traffic": "tui.screens.traffic.screen:TrafficScreen",
    "database": "tui.screens.database.screen:DatabaseScreen",
    "change": "tui.screens.change.screen:ChangeScreen",
    "report": "tui.screens.report.screen:ReportScreen",
}
"""The main screens by mode."""


class MainScreens:
    """Makes each of them once, as a mode of the app."""

    def __init__(self, app: App[None], state: AppState, past: Past | None, broke: Callable[[Exception], None]) -> None:
        """With a `past` that is shown. `broke` is told why a screen could not be made."""
        self._app = app
        self._state = state
        self._past = past
        self._broke = broke

    def new(self, mode: str) -> ConsoleScreen:
        """A main screen; one that says so where it cannot be made."""
        try:
            of = (self._past.track,) if mode == "traffic" and self._past is not None else ()
            screen = _class_of(mode)(self._state, *of)
        except Exception as error:
            self._broke(error)
            return BrokenScreen(self._state, mode)
        # Else Textual takes it for one that has to be styled anew, and reads all style sheets twice: 40 ms. They are
        # those that the first screen was drawn with.
        screen._css_update_count = self._app._css_update_count
        return screen

    def add_modes(self) -> None:
        """Let the app change to each of them; what was not made ahead by then is made when it is first shown."""
        for mode in TABS:
            self._app.add_mode(mode, lambda mode=mode: self.new(mode))  # type: ignore[misc]

    async def make_ahead(self) -> None:
        """Make all that are not there yet, the modules they need loaded in a thread meanwhile."""
        for mode in TABS:
            try:
                await asyncio.to_thread(_class_of, mode)
            except Exception:  # noqa: S112 - told of when it is shown
                continue
            # What changing to a mode does first; Textual, whose version is pinned, has no other name for it.
            await self._app._init_mode(mode)


def _class_of(mode: str) -> type[ConsoleScreen]:
    module, _, name = SCREENS[mode].partition(":")
    found: type[ConsoleScreen] = getattr(import_module(module), name)
    return found


class HelpMixin(App[None]):
    """An app that shows the keys of the screen that is shown, and finds them by words. Both are loaded when they are
    first asked for."""

    def action_help(self) -> None:
        """Show the keys and the signs; of the help itself there is no help."""
        from tui.screens.reader import HelpScreen, ReaderScreen

        screen = self.screen
        if isinstance(screen, ConsoleScreen):
            self.push_screen(HelpScreen(TABS[screen.NAME][2:], screen.ACTIONS, screen.signs()))
        elif isinstance(screen, ReaderScreen) and not isinstance(screen, HelpScreen):
            self.push_screen(HelpScreen(screen.NAME, screen.ACTIONS, ()))

    async def action_palette(self) -> None:
        """Let the operator find an action by its words, and do it on the screen that is shown now: one of its own, or
        of those of every screen."""
        from tui.screens.palette import PaletteScreen

        screen = self.screen

        async def act(action: Action | None) -> None:
            if action is not None:
                await self.run_action(action.action, screen)

        own: Sequence[Action] = getattr(screen, "ACTIONS", ())
        others = (a for a in EVERYWHERE if a not in own and a.action != "app.palette")
        palette = PaletteScreen((*own, *others))
        await self.push_screen(palette, act)
        palette.set_focus(palette.query_one("#words"))  # the next key may be here already, and is a letter of the words

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether the action can be done now, as the screen that is shown has it."""
        return self.screen.check_action(action, parameters)
