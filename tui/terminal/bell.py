"""The bell of the terminal: BEL, which many terminals and tmux show as a mark of the window."""

from __future__ import annotations

from textual.app import App


def ring(app: App[None]) -> None:
    """Ring the bell. It is silent while a shell has the terminal, and without a terminal."""
    if getattr(app._driver, "is_lent", False) is False:
        app.bell()
