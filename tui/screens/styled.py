"""The base of all screens: it styles the roles of `tui.colours` and continues after an internal error."""

from __future__ import annotations

import os
from typing import ClassVar

from textual.screen import Screen, ScreenResultType

from tui.colours import ROLES
from tui.console.error_guard import Guarded
from tui.terminal.cells import CellCompositor, can_move


class StyledScreen(Guarded, Screen[ScreenResultType]):
    """Defines the style of each role once: Textual computes such styles for every widget that declares them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{role}" for role in ROLES} | {"line--cursor"}
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = CellCompositor(can_move=can_move(os.environ))
