"""Choose the snapshots of a history, and the length of the parts of its trend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Row = Mapping[str, Any]

MOST_PARTS = 170
"""Most parts of a trend: one week in hours needs 168."""

MOST_PERIODS = 1400
"""Most rows of a trend, for all instances together: a screen shows no more, and one round trip fetches them."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
PART_LENGTHS_S = (
    *(minutes * _MINUTE for minutes in (5, 10, 15, 30)),
    *(hours * _HOUR for hours in (1, 2, 3, 4, 6, 8, 12)),
    *(days * _DAY for days in (1, 2, 3, 7, 14, 28, 91)),
)
"""Familiar lengths: each divides a day, or is a whole number of days."""


@dataclass(frozen=True)
class SnapshotRange:
    """The range of snapshots to read."""

    first: int
    last: int
    binds: Mapping[str, Any]
    """The range as bind variables of the statements."""


@dataclass(frozen=True)
class Trend:
    """The time range of a history, and the length of the parts of its trend."""

    begin: datetime
    end: datetime
    part_s: int

    @property
    def origin(self) -> datetime:
        """The start of part 0: a multiple of the length since midnight."""
        midnight = self.begin.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight + (self.begin - midnight) // timedelta(seconds=self.part_s) * timedelta(seconds=self.part_s)

    def part(self, number: int) -> tuple[datetime, datetime]:
        """The start and end of a part, limited to the range."""
        begin = self.origin + timedelta(seconds=number * self.part_s)
        return max(begin, self.begin), min(begin + timedelta(seconds=self.part_s), self.end)


def awr_range(rows: Sequence[Row]) -> SnapshotRange | None:
    """The range from the rows of `awr_range`; None without two snapshots. All instances share snapshot numbers."""
    if not rows:
        return None
    row = rows[0]
    base, last, before = int(row["base_snap"]), int(row["last_snap"]), row["first_before"]
    start = base if before is None else min(base, int(before))
    return SnapshotRange(base, last, {"base_snap": base, "last_snap": last, "from_snap": start})


def statspack_range(rows: Sequence[Row]) -> SnapshotRange | None:
    """The range from the rows of `statspack_range`; None without two snapshots.

    Each instance numbers its own Statspack snapshots, so the range is a range of time.
    """
    if not rows:
        return None
    row = rows[0]
    base, last, before = row["base_time"], row["last_time"], row["first_before"]
    first = row["last_snap"] if row["first_snap"] is None else row["first_snap"]
    start = base if before is None else min(base, before)
    return SnapshotRange(int(first), int(row["last_snap"]), {"base_time": base, "last_time": last, "from_time": start})


def trend(covered: Sequence[Row]) -> Trend | None:
    """Choose the parts for the time that the instances cover (rows of `..._instances`); None where they cover none.

    A part is at least about as long as a snapshot interval, and there are not too many parts for a screen.
    """
    whole = [row for row in covered if row["intervals"]]
    if not whole:
        return None
    begin, end = min(row["begin_time"] for row in whole), max(row["end_time"] for row in whole)
    interval_s = float(sum(row["seconds"] for row in whole)) / int(sum(row["intervals"] for row in whole))
    most = max(10, min(MOST_PARTS, MOST_PERIODS // len(whole)))
    lasts_s = (end - begin).total_seconds()
    fitting = (s for s in PART_LENGTHS_S if s >= 0.9 * interval_s and lasts_s / s <= most - 1)
    return Trend(begin, end, next(fitting, PART_LENGTHS_S[-1]))
