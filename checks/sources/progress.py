"""The callback by which a source reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, str, int, int], None]
"""Called with the group of facts, the current step as text, the steps done, and the number of steps."""
