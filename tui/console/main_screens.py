"""The main screens: where each is found, and how those that are not shown yet are made ahead, one after the other, so
that their keys are answered at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from textual.app import App

from tui.console.actions import TABS
from tui.console.app_state import Known
from tui.screens.base import BrokenScreen, ConsoleScreen

if TYPE_CHECKING:
    from tui.console.saved_source import Past

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

    def __init__(self, app: App[None], known: Known, past: Past | None, broke: Callable[[Exception], None]) -> None:
        """With a `past` that is shown. `broke` is told why a screen could not be made."""
        self._app = app
        self._known = known
        self._past = past
        self._broke = broke

    def new(self, mode: str) -> ConsoleScreen:
        """A main screen; one that says so where it cannot be made."""
        try:
            of = (self._past.track,) if mode == "traffic" and self._past is not None else ()
            screen = _class_of(mode)(self._known, *of)
        except Exception as error:
            self._broke(error)
            return BrokenScreen(self._known, mode)
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
