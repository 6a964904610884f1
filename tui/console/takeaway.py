"""Copied commands, for use in another terminal."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def keep_commands(text: str, state_directory: Path) -> str:
    """Write copied commands to a file too, because a terminal may ignore the clipboard; return a notice with the
    path."""
    # Late: the first screen of the console does not wait for what writes files.
    from checks.whole_files import OutputError
    from tui.terminal.clipboard import LIMIT, save_commands

    try:
        path = short(save_commands(text, state_directory))
    except (OutputError, OSError) as error:
        return f"Copied if the terminal allows; not saved: {error}"
    fits = len(text.encode()) <= LIMIT
    return f"Copied if the terminal allows; also in {path}" if fits else f"Saved in {path}"


def short(path: Path) -> str:
    """Return the path with `~` for the home directory."""
    with suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)
