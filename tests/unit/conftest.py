"""For the unit tests."""

from __future__ import annotations

import pytest


@pytest.fixture
def any_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The held shell and the runner take any command, for tests of how they run what they are given.

    Nothing in the product can do this; that they refuse what could change a node is tested in test_read_only.py.
    """
    for name in (
        "checks.sources.nodes.shell.demand_registered_program",
        "checks.sources.nodes.shell.demand_read_only_command",
        "checks.sources.clusterware.grid_tool_command.demand_read_only_command",
    ):
        monkeypatch.setattr(name, lambda *_: None)
