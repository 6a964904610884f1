"""A Textual app that only displays a number of widgets: `python bare_app.py COUNT`."""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import Static


class BareApp(App[None]):
    """An app with widgets, one below the other."""

    def compose(self) -> ComposeResult:
        """Return COUNT widgets."""
        for number in range(int(sys.argv[1])):
            yield Static(f"bare {number}")


BareApp().run()
