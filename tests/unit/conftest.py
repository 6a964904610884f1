"""Fixtures of the unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.recording_support import busy, recorded


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


@pytest.fixture
def busy_file(tmp_path: Path) -> Path:
    """Return a recording of two minutes of a busy cluster."""
    return recorded(tmp_path / "busy.rec", *busy(120))
