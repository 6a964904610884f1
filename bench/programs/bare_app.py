"""A Textual app that does nothing but show as many widgets as it is told: `python bare_app.py COUNT`."""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import Static


class BareApp(App[None]):
    """Widgets, one below the other."""

    def compose(self) -> ComposeResult:
        """As many as were asked for."""
        for number in range(int(sys.argv[1])):
            yield Static(f"bare {number}")


BareApp().run()
