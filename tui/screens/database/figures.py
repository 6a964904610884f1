"""Figures of the Database screen as text. `checks.rules` decides their status.

A figure with a status other than PASS has the letter of the status, so that colour only repeats it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from checks.model.finding import Status
from checks.rules import cache_fusion

UNKNOWN = "?"
NONE = "-"
"""A figure without a value, such as the average time of no blocks."""


class Value(NamedTuple):
    """A figure in a table."""

    text: str
    status: Status | None = None
    """The status of the figure; None where it passes or is not judged."""
    role: str = ""

    @property
    def sign(self) -> str:
        """The letter of the status after the figure."""
        return self.status.letter if self.status else ""

    @property
    def drawn(self) -> str:
        """The role of the figure."""
        return self.status.value.lower() if self.status else self.role


def rate(value: float | None) -> str:
    """Return a rate per second with three significant digits; never 0 for a value above 0."""
    if value is None:
        return UNKNOWN
    if value >= 1e6:
        return f"{value / 1e6:,.1f} M"
    if value >= 1e4:
        return f"{value / 1e3:.1f} k"
    if 0 < value < 0.005:
        return "<0.01"
    return f"{value:,.0f}" if value >= 99.95 or value == 0 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def ms(value: float | None, none: str = NONE, blocks: int | None = None) -> str:
    """Return milliseconds: `0.42`, `12.3`, `1,234`; never 0 for a value above 0.

    The database counts times in hundredths of a second. An average of 0 over `blocks` blocks is therefore only below an
    upper bound: `<0.14`."""
    if value is None:
        return none
    if value == 0 and (least := cache_fusion.least_average_ms(blocks)) is not None:
        return f"<{max(math.ceil(round(100 * least, 6)), 1) / 100:g}"
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def percent(value: float | None, none: str = NONE) -> str:
    """Return percent: `12`, `3.4`, `0.05`; never 0 for a value above 0."""
    if value is None:
        return none
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:.0f}" if value >= 9.95 or value == 0 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def count(value: int) -> str:
    """Return a number: `12,437`, `1.2 M`."""
    return f"{value:,}" if value < 1_000_000 else f"{value / 1e6:.1f} M" if value < 1e9 else f"{value / 1e9:,.1f} G"


def volume(value: float) -> str:
    """Return bytes in units of 1000, as on the Traffic screen: `1.4 GB`. (A KB of AWR has 1024 bytes.)"""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"
