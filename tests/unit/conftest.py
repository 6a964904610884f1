"""Fixtures of the unit tests."""

from __future__ import annotations

import pytest


@pytest.fixture
def any_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the persistent shell and the runner accept any command, for tests of how they run it.

    No part of the product can do this. test_read_only.py tests that they refuse commands that could change a node.
    """
    for name in (
        "checks.sources.nodes.shell.demand_registered_program",
        "checks.sources.nodes.shell.demand_read_only_command",
        "checks.sources.clusterware.grid_tool_command.demand_read_only_command",
    ):
        monkeypatch.setattr(name, lambda *_: None)
