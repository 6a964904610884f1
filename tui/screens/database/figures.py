"""Figures of the Database screen as text, and how grave they are: by the thresholds of the checks, and as they judge.

A figure that is grave carries the letter of its status, so that colour only repeats it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from checks.model.facts import Activity, InstanceActivity, InstancePing, NotAsked, Thresholds, Unknown
from checks.model.finding import Status
from checks.rules import cache_fusion

UNKNOWN = "?"
NONE = "-"
"""Where there is nothing to divide by: the time of no blocks."""

_LEAST_GAP_US = 100.0
"""As instance-ping has it: below that a ratio of two pings says nothing."""


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


# --- how grave --------------------------------------------------------------------------------------------------------


def of_loss(lost: int, received: int | None, limits: Thresholds, waits_are_on_top: bool = False) -> Status | None:
    """As gc-blocks-lost: any loss is a warning; above a share of the blocks that were sent, or where waits for lost
    blocks are among those that cost most, a failure."""
    if lost <= 0:
        return None
    share = 100 * lost / ((received or 0) + lost)
    return Status.FAIL if waits_are_on_top or share > limits.lost_blocks_fail_percent else Status.WARN


def waits_on_top(activity: Activity | Unknown | NotAsked) -> set[int]:
    """The instances whose waits for lost blocks are among the three events of their class that cost most."""
    found = set()
    for own in activity.instances if isinstance(activity, Activity) else ():
        if isinstance(own, InstanceActivity):
            costliest = sorted((e for e in own.events if e.time_us > 0), key=lambda e: (-e.time_us, e.name))[:3]
            if any(e.name.endswith("block lost") and e.waits > 0 for e in costliest):
                found.add(own.instance)
    return found


def of_receive_time(average_ms: float | None, blocks: int, limits: Thresholds) -> Status | None:
    """As gc-receive-time: not judged where too few blocks came for an average to say anything."""
    if average_ms is None or 2 * blocks < limits.few_blocks or average_ms <= limits.receive_warn_ms:
        return None
    return Status.FAIL if average_ms > limits.receive_fail_ms else Status.WARN


def of_ping(ping: InstancePing, limits: Thresholds) -> Status | None:
    """As instance-ping: 8 KB that never come back are a failure; long times, or 8 KB that take much longer, are not
    well."""
    if max(ping.count_500b, ping.count_8k) < limits.few_pings:
        return None
    small, large = ping.average_500b_us, ping.average_8k_us
    worst_ms = max(small or 0.0, large or 0.0) / 1000
    if ping.count_8k <= 0 or worst_ms > limits.ping_fail_ms:
        return Status.FAIL
    if worst_ms > limits.ping_warn_ms:
        return Status.WARN
    both = min(ping.count_500b, ping.count_8k) >= limits.few_pings
    if both and small and large and large / small > limits.ping_8k_warn_ratio and large - small > _LEAST_GAP_US:
        return Status.WARN
    return None
