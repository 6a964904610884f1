"""Paths on the screen."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def short(path: Path) -> str:
    """Return the path with `~` for the home directory."""
    with suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)
