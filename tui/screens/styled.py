"""A screen whose lines are drawn in the roles of `tui.text.line`, and which outlives its own faults."""

from __future__ import annotations

import os
from typing import ClassVar

from textual.screen import Screen, ScreenResultType

from tui.console.error_guard import Guarded
from tui.terminal.cells import CellCompositor, can_move
from tui.text.line import ROLES


class StyledScreen(Guarded, Screen[ScreenResultType]):
    """Knows what each role looks like: once, since Textual works such styles out for every widget that has them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line--{role}" for role in ROLES} | {"line--cursor"}
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = CellCompositor(can_move=can_move(os.environ))
