"""The whole screen as a picture: one at each of the sizes that matter most. Everything else is asserted on text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.clusters import UNCHANGING, black_hole, engine
from tests.tui.conftest import NewConsole
from tests.tui.driving import concluded


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_checks(new_console: NewConsole, snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    assert snap_compare(new_console(lambda: engine(black_hole(), UNCHANGING)), terminal_size=size, run_before=concluded)
