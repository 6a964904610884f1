"""Figures of the Database screen as text. How grave they are, `checks.rules` says.

A figure that is grave carries the letter of its status, so that colour only repeats it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from checks.model.finding import Status
from checks.rules import cache_fusion

UNKNOWN = "?"
NONE = "-"
"""Where there is nothing to divide by: the time of no blocks."""


class Value(NamedTuple):
    """A figure in a table."""

    text: str
    status: Status | None = None
    """Where it is more than a figure: how grave."""
    role: str = ""

    @property
    def sign(self) -> str:
        """The letter after it."""
        return self.status.letter if self.status else ""

    @property
    def drawn(self) -> str:
        """The role that it is drawn in."""
        return self.status.value.lower() if self.status else self.role


def rate(value: float | None) -> str:
    """So many a second, with three digits that say something; never 0 for what is more."""
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
    """Milliseconds: `0.42`, `12.3`, `1,234`; never 0 for what is more. An average over so many blocks, which the
    database counts in hundredths of a second, is only less than what it can tell where it is 0: `<0.14`."""
    if value is None:
        return none
    if value == 0 and (least := cache_fusion.least_average_ms(blocks)) is not None:
        return f"<{max(math.ceil(round(100 * least, 6)), 1) / 100:g}"
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def percent(value: float | None, none: str = NONE) -> str:
    """`12`, `3.4`, `0.05`; never 0 for what is more."""
    if value is None:
        return none
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:.0f}" if value >= 9.95 or value == 0 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def count(value: int) -> str:
    """`12,437`, `1.2 M`."""
    return f"{value:,}" if value < 1_000_000 else f"{value / 1e6:.1f} M" if value < 1e9 else f"{value / 1e9:,.1f} G"


def volume(value: float) -> str:
    """Bytes, in steps of 1000 as on the Traffic screen and as networks count: `1.4 GB`. (AWR's KB are of 1024.)"""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def span(seconds: float) -> str:
    """`1 s`, `30 s`, `15 min`."""
    if seconds >= 600:
        return f"{seconds / 60:,.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 or round(seconds, 1) == round(seconds) else f"{seconds:.1f} s"


def moment(text: str) -> str:
    """A time of the database as people write it: `2026-11-18 03:00`."""
    return text.replace("T", " ")[:16]
