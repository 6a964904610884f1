"""Samples in equal time slots for a picture: a slot has the highest value of its samples, so that no peak is lost."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from checks.report.pictures import Values

MOST_SLOTS = 300


@dataclass(frozen=True)
class DrawnSpan:
    """The time span of a picture, in seconds since any fixed moment."""

    begin: float
    end: float
    count: int
    """The number of slots."""

    @property
    def step_s(self) -> float:
        """The seconds of a slot."""
        return (self.end - self.begin) / self.count


def drawn_span(begin: float, end: float, usual_s: float) -> DrawnSpan | None:
    """Return a span with one slot for each sample of the usual length, and at most `MOST_SLOTS` slots. None where the
    times give no span."""
    length = end - begin
    if not (math.isfinite(length) and 0 < length < 1e11 and usual_s > 0):
        return None
    count = max(round(length / usual_s), 1)
    if count > MOST_SLOTS:
        return DrawnSpan(begin, end, MOST_SLOTS)
    return DrawnSpan(end - count * usual_s, end, count)


class TimeSlots:
    """Figures by time slot. A sample belongs to the slots whose middle it covers, and to the slot that contains its own
    middle. A slot has the highest value of its samples; a slot without a sample is unknown."""

    def __init__(self, span: DrawnSpan) -> None:
        self.span = span
        self._values: dict[Hashable, list[float | None]] = {}

    def put(self, key: Hashable, at: float, seconds: float, value: float | None) -> None:
        """Add a sample of the figure `key` that ended at `at` and lasted `seconds`. An unknown value adds nothing."""
        step_s, since = self.span.step_s, at - self.span.begin
        if value is None or not abs(value) < 1e200 or not abs(since) < 1e11 or not 0 < seconds < 1e11:
            return
        values = self._values.setdefault(key, [None] * self.span.count)
        first = math.ceil((since - seconds) / step_s - 0.5)
        last = math.floor(since / step_s - 0.5)
        for slot in {*range(max(first, 0), min(last + 1, len(values))), math.floor((since - seconds / 2) / step_s)}:
            if 0 <= slot < len(values):
                known = values[slot]
                values[slot] = value if known is None else max(known, value)

    def __contains__(self, key: Hashable) -> bool:
        """Whether the figure has at least one sample."""
        return key in self._values

    def values(self, key: Hashable) -> Values:
        """Return the value of the figure in each slot; None where it is unknown."""
        return self._values.get(key) or [None] * self.span.count

    def unknown_s(self, key: Hashable) -> float:
        """Return the number of seconds in which the figure is unknown."""
        return sum(value is None for value in self.values(key)) * self.span.step_s
