"""The main screens, made in advance so that each key responds at once; and the help of the current screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from textual.app import App

from tui.console.actions import TABS, Action
from tui.console.app_state import AppState
from tui.screens.base import BrokenScreen, ConsoleScreen

if TYPE_CHECKING:
    from tui.console.past import Past


SCREENS = {
    "checks": "tui.screens.checks.screen:ChecksScreen",
    "paths": "tui.screens.paths.screen:PathsScreen",
    "traffic": "tui.screens.traffic.screen:TrafficScreen",
    "database": "tui.screens.database.screen:DatabaseScreen",
    "change": "tui.screens.change.screen:ChangeScreen",
    "report": "tui.screens.report.screen:ReportScreen",
    "measure": "tui.screens.measure.screen:MeasureScreen",
    "events": "tui.screens.events.screen:EventsScreen",
}
"""The main screens by mode."""


class MainScreens:
    """Makes each main screen once, as a mode of the app."""

    def __init__(self, app: App[None], state: AppState, past: Past | None, broke: Callable[[Exception], None]) -> None:
        """Prepare the screens, of a `past` where there is one. `broke` receives the error when a screen cannot be
        made."""
        self._app = app
        self._state = state
        self._past = past
        self._broke = broke
        self.made = asyncio.Event()
        """Happens once all screens are made, or cannot be made in advance."""

    def new(self, mode: str) -> ConsoleScreen:
        """Return a new main screen; a `BrokenScreen` where it cannot be made."""
        try:
            of = (self._past.track,) if mode == "traffic" and self._past is not None else ()
            screen = _class_of(mode)(self._state, *of)
        except Exception as error:
            self._broke(error)
            return BrokenScreen(self._state, mode)
        # Otherwise Textual takes the screen for unstyled and reads all style sheets twice: 40 ms. They are the ones
        # of the first screen.
        screen._css_update_count = self._app._css_update_count
        return screen

    def add_modes(self) -> None:
        """Register every main screen as a mode; a screen that is not made in advance is made when it is first
        opened."""
        for mode in TABS:
            self._app.add_mode(mode, lambda mode=mode: self.new(mode))  # type: ignore[misc]

    async def make_ahead(self) -> None:
        """Make all screens that do not exist yet, and load their modules in a thread."""
        try:
            await self._make_ahead()
        finally:
            self.made.set()

    async def _make_ahead(self) -> None:
        for mode in TABS:
            try:
                await asyncio.to_thread(_class_of, mode)
            except Exception:  # noqa: S112 - reported when the screen is opened
                continue
            if not self._app.is_running:
                return  # Textual closes the screens that exist; another one would disturb it
            # The first part of a change to a mode; Textual, whose version is pinned, has no public name for it.
            await self._app._init_mode(mode)


def _class_of(mode: str) -> type[ConsoleScreen]:
    module, _, name = SCREENS[mode].partition(":")
    found: type[ConsoleScreen] = getattr(import_module(module), name)
    return found


def actions_of(app: App[None], mode: str) -> tuple[Action, ...]:
    """Return the commands of a main screen as it is now; of one that is not made yet, those that it starts with."""
    made = app._screen_stacks.get(mode)  # Textual has no public name for it
    screen = made[0] if made else _class_of(mode)
    return screen.ACTIONS if isinstance(screen, ConsoleScreen) else _class_of(mode).ACTIONS


class HelpMixin(App[None]):
    """An app with a help screen for the commands of the current screen, which is loaded at first use."""

    def action_help(self) -> None:
        """Show the keys and signs of the current screen; the help screen itself has no help."""
        from tui.screens.reader import HelpScreen, ReaderScreen

        screen = self.screen
        if isinstance(screen, ConsoleScreen):
            self.push_screen(HelpScreen(TABS[screen.NAME][2:], screen.ACTIONS, screen.signs()))
        elif isinstance(screen, ReaderScreen) and not isinstance(screen, HelpScreen):
            self.push_screen(HelpScreen(screen.NAME, screen.ACTIONS, ()))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether the current screen allows the action now."""
        return self.screen.check_action(action, parameters)
