"""The base of all screens: it styles the roles of `tui.colours` and continues after an internal error."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from textual.screen import Screen, ScreenResultType

from tui.colours import ROLES
from tui.console.actions import Action, bindings
from tui.console.error_guard import Guarded
from tui.terminal.cells import CellCompositor, can_move


class StyledScreen(Guarded, Screen[ScreenResultType]):
    """Defines the style of each role once: Textual computes such styles for every widget that declares them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{role}" for role in ROLES} | {"line--cursor"}
    AUTO_FOCUS = ""

    ACTIONS: ClassVar[tuple[Action, ...]] = ()
    """The commands of this screen only: for the footer, the help screen and the palette, and for its bindings unless it
    has `BINDINGS`."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Bind the keys of the commands."""
        if "ACTIONS" in cls.__dict__ and "BINDINGS" not in cls.__dict__:
            cls.BINDINGS = [*bindings(cls.ACTIONS)]
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._compositor = CellCompositor(can_move=can_move(os.environ))
