"""Operate racwire in a terminal by its keys."""

from __future__ import annotations

from bench.terminal import Terminal

CONCLUDED_WITHIN_S = 90.0
QUIET_S = 2.5
"""Seconds without output after which a screen counts as complete: while a run continues, it draws every second."""

SCREENS = {"1": "Checks", "2": "Paths", "3": "Traffic", "4": "Database", "5": "Change"}
"""The main screens by their key."""


def until_graphs_are_full(terminal: Terminal, size: tuple[int, int]) -> None:
    """Wait as many seconds as a graph can have columns: only then each sample moves the whole graph."""
    terminal.read_for(size[0] / 2)


def until_concluded(terminal: Terminal) -> None:
    """Wait until the first screen is drawn and its run is complete. Raises TerminalError."""
    terminal.read_until("1 Checks")
    terminal.read_until_quiet(QUIET_S, CONCLUDED_WITHIN_S)


def show(terminal: Terminal, key: str, settle_s: float = 2.0) -> None:
    """Change to a screen, and wait for `settle_s` seconds. Raises TerminalError when nothing is drawn."""
    terminal.send(key)
    terminal.read_until(f"{key} {SCREENS[key]}")
    terminal.read_for(settle_s)
