"""The parts of a trend: usual lengths, aligned to the clock, never too many."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.sources.database.history_range import MOST_PERIODS, PART_LENGTHS_S, Trend, trend

NOON = datetime(2026, 3, 4, 12, 0, 7)


def covered(instances: int, hours: float, interval_s: float) -> list[dict[str, Any]]:
    row = {
        "intervals": round(hours * 3600 / interval_s),
        "seconds": hours * 3600,
        "begin_time": NOON,
        "end_time": NOON + timedelta(hours=hours),
    }
    return [row] * instances


@pytest.mark.parametrize(
    ("instances", "hours", "interval_s", "part_s"),
    [
        (2, 24 * 7, 3600, 3600),
        (8, 24 * 7, 3600, 3600),
        (2, 24, 900, 900),
        (2, 24, 3600, 3600),
        (8, 24 * 365, 3600, 3 * 86400),
        (32, 24 * 7, 3600, 4 * 3600),
        (2, 24 * 3650, 86400, 28 * 86400),
    ],
)
def test_parts_are_as_short_as_the_snapshots_and_no_more_than_can_be_shown(
    instances: int, hours: float, interval_s: float, part_s: int
) -> None:
    scale = trend(covered(instances, hours, interval_s))
    assert scale is not None
    assert scale.part_s == part_s


def test_without_usable_intervals_there_is_no_trend() -> None:
    assert trend([{"intervals": 0, "seconds": 0, "begin_time": None, "end_time": NOON}]) is None
    assert trend([]) is None


@given(
    part_s=st.sampled_from(PART_LENGTHS_S),
    begin=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
    lasts=st.timedeltas(timedelta(seconds=1), timedelta(days=40)),
)
def test_parts_are_contiguous_and_cut_at_both_ends(part_s: int, begin: datetime, lasts: timedelta) -> None:
    scale = Trend(begin, begin + lasts, part_s)
    assert scale.origin <= begin < scale.origin + timedelta(seconds=part_s)
    count = (scale.end - scale.origin) // timedelta(seconds=part_s) + 1
    parts = [scale.part(number) for number in range(min(count, 50))]
    assert parts[0][0] == begin
    assert all(before[1] == after[0] for before, after in pairwise(parts))
    assert all(end - start == timedelta(seconds=part_s) for start, end in parts[1:-1])


@given(instances=st.integers(1, 100), hours=st.floats(1, 24 * 400), interval_s=st.sampled_from((300, 1800, 3600)))
def test_there_are_never_more_rows_than_one_round_trip_carries(instances: int, hours: float, interval_s: int) -> None:
    scale = trend(covered(instances, hours, min(interval_s, hours * 3600)))
    assert scale is not None
    parts = timedelta(hours=hours) / timedelta(seconds=scale.part_s) + 1
    assert parts * instances <= MOST_PERIODS or parts <= 11
