"""A stretch of time in equal places, to be drawn: what was sampled, thinned out so that no peak is lost."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from checks.report.pictures import Values

MOST_PLACES = 300


@dataclass(frozen=True)
class DrawnSpan:
    """The time that is drawn, in seconds since any moment."""

    begin: float
    end: float
    count: int
    """Places."""

    @property
    def step_s(self) -> float:
        """How long a place lasts."""
        return (self.end - self.begin) / self.count


def stretch_of(begin: float, end: float, usual_s: float) -> DrawnSpan | None:
    """A place for each sample of the usual length, while they are few. None where there is no such time."""
    length = end - begin
    if not (math.isfinite(length) and 0 < length < 1e11 and usual_s > 0):
        return None
    count = max(round(length / usual_s), 1)
    if count > MOST_PLACES:
        return DrawnSpan(begin, end, MOST_PLACES)
    return DrawnSpan(end - count * usual_s, end, count)


class TrafficPlaces:
    """Figures by place. A sample belongs to the places whose middles it covers, and to the one that its own middle lies
    in: where many share a place the highest counts, and where there is none nothing is known."""

    def __init__(self, stretch: DrawnSpan) -> None:
        self.stretch = stretch
        self._values: dict[Hashable, list[float | None]] = {}

    def put(self, key: Hashable, at: float, seconds: float, value: float | None) -> None:
        """A sample of the figure `key` that ended at that time; a value that is not known leaves its time open."""
        step_s, since = self.stretch.step_s, at - self.stretch.begin
        if value is None or not abs(value) < 1e200 or not abs(since) < 1e11 or not 0 < seconds < 1e11:
            return
        values = self._values.setdefault(key, [None] * self.stretch.count)
        first = math.ceil((since - seconds) / step_s - 0.5)
        last = math.floor(since / step_s - 0.5)
        for place in {*range(max(first, 0), min(last + 1, len(values))), math.floor((since - seconds / 2) / step_s)}:
            if 0 <= place < len(values):
                known = values[place]
                values[place] = value if known is None else max(known, value)

    def __contains__(self, key: Hashable) -> bool:
        """Whether anything is known of that figure."""
        return key in self._values

    def values(self, key: Hashable) -> Values:
        """The figure in the course of time."""
        return self._values.get(key) or [None] * self.stretch.count

    def unknown_s(self, key: Hashable) -> float:
        """Of how many seconds nothing is known."""
        return sum(value is None for value in self.values(key)) * self.stretch.step_s
