"""How a source reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, str, int, int], None]
"""Called as work goes on: the group of facts, what is being done, how many are done, of how many."""
