"""What the samples read of each condition, as segments: a state that stays, a time in which nothing was counted, a
streak of samples that count trouble.

Times are by a clock that nothing sets (`ClockChanges.steady`). What is asked for an earlier moment is what was known at
that moment: a recording shows at the playhead what the console showed then.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from checks.model.condition import Condition
from checks.rules.live_events import CALM_S
from checks.situation.condition_readings import ConditionReading
from checks.traffic.source_id import SourceId

_KEPT_SAMPLES = 50_000
"""Most samples of a source, or of a streak, whose ends are kept: at a sample a second, those of 14 hours."""
_KEPT, _GIVEN = 1_000, 16
"""Most segments of a condition that are kept, and most that are given at a time."""
_JITTER = 0.5
"""Of the length of a sample: how much later than the end of the one before it may start."""
_ODD_S, _ODD_INTERVALS = 5.0, 2.0
"""A sample that is further from the newest one of racwire's own node is by a clock that was set a moment ago."""
_ROUNDING_S = 0.001

Extent = tuple[float, float]
"""The start and the end of an event at a place; the end is infinite while it lasts."""


class Counted(NamedTuple):
    """What a sample counts of a trouble, by the rules."""

    since: float
    """The start of the first count that belongs to it, by the clock of the sample."""
    is_event: bool
    """Whether it is a sign of an event. Else it is a stray: it shows no trouble, and interrupts a calm."""


class _Ends:
    """The ends of samples, the oldest dropped. A position counts all that ever came."""

    def __init__(self) -> None:
        self._ends = array("d")
        self._dropped = 0
        self.last = -1
        """The position of the newest one."""

    def add(self, end: float) -> None:
        self._ends.append(end)
        self.last += 1
        if len(self._ends) > _KEPT_SAMPLES:
            half = _KEPT_SAMPLES // 2
            del self._ends[:half]
            self._dropped += half

    def of(self, position: int) -> float:
        """The end at a position; of one that was dropped, the oldest that is known."""
        return self._ends[max(position - self._dropped, 0)]

    def newest(self, first: int, last: int, now: float) -> int | None:
        """The position of the newest end between two positions that is not later than now; None where there is none."""
        low, high = max(first - self._dropped, 0), max(last - self._dropped + 1, 0)
        found = bisect_right(self._ends, now, low, high) - 1 if high > low else -1
        return found + self._dropped if found >= low else None


class _Source:
    """The samples of a source."""

    def __init__(self) -> None:
        self.ends = _Ends()
        self.stretch = 0
        """Counts the times with samples and without a gap."""
        self.is_interrupted = True
        """Whether a gap was noted since the last sample: interfaces may be read before the next one."""
        self.is_odd = False
        """Whether the last sample was left out."""


@dataclass
class _Segment:
    """A time in which a condition stayed as it was."""

    source: _Source
    stretch: int
    is_bad: bool
    since: float
    at: float
    """The end of its first reading: before that, it was not known."""
    first: int
    """The position of the first of its samples."""
    last: int
    signs: tuple[_Ends, _Ends] | None = None
    """The starts and the ends of the samples that count trouble; None where it has none."""

    def is_followed_by(self, source: _Source) -> bool:
        """Whether the present sample of the source follows on its last one."""
        return self.source is source and self.stretch == source.stretch and self.last >= source.ends.last - 1

    def readings(self, condition: Condition, now: float, extents: Sequence[Extent]) -> Iterator[ConditionReading]:
        """Yield what it says, as known at that time, the oldest first."""
        if self.signs is not None:
            starts, ends = self.signs
            newest = ends.newest(0, ends.last, now)
            yield ConditionReading(condition, self.since, self.at, True, False)
            if newest:
                yield ConditionReading(condition, starts.of(newest), ends.of(newest), True, False)
            return
        position = self.source.ends.newest(self.first, self.last, now)
        at = self.at if position is None else self.source.ends.of(position)
        if condition.kind.is_counted:
            since, at = _without(extents, self.since, at)
            if at - since >= CALM_S:
                yield ConditionReading(condition, since, at, False, False)
            return
        yield ConditionReading(condition, self.at, self.at, self.is_bad, False)
        if at > self.at:
            yield ConditionReading(condition, at, at, self.is_bad, False)


def _without(extents: Sequence[Extent], since: float, at: float) -> Extent:
    """Cut a time to what no event covers: a pause of a trouble is not its end."""
    for start, end in sorted(extents):
        if end <= since + _ROUNDING_S:
            continue
        if start > since:
            return since, min(at, start)
        since = end
    return since, at


class SampledConditions:
    """The readings that the samples of one watch make. Open a sample, then give what it reads."""

    def __init__(self) -> None:
        self._sources: dict[SourceId, _Source] = {}
        self._segments: dict[Condition, deque[_Segment]] = {}
        self._present: _Source | None = None
        """The source of the sample that is open; None where it is left out."""
        self._since = self._at = self._clock_s = 0.0
        self._own: Extent | None = None
        """The end of the newest sample of racwire's own node, and its length."""

    def open(self, source: SourceId, at: float, seconds: float, clock_s: float, *, is_own: bool = False) -> None:
        """Open a sample that ends then, by a clock that is set so far. `is_own`: of racwire's own node."""
        known = self._sources.setdefault(source, _Source())
        self._clock_s, self._at = clock_s, at - clock_s
        if is_own:
            self._own = self._at, seconds
        self._present = None
        last = known.ends.of(known.ends.last) if known.ends.last >= 0 else -math.inf
        if last - _ODD_S <= self._at < last:
            return  # of two instances, which show the same database
        is_odd = self._is_odd() or self._at < last
        if is_odd and not known.is_odd:
            known.is_odd = True
            return
        known.is_odd, self._present = is_odd, known
        since = self._at - seconds
        is_next = since <= last + _JITTER * seconds
        self._since = last if is_next else since
        if self._at < last:
            self._forget(known)
            self._since = since
        elif not is_next and not known.is_interrupted:
            known.stretch += 1
        known.is_interrupted = False
        known.ends.add(self._at)

    def open_moment(self, source: SourceId, at: float, clock_s: float) -> None:
        """Open a reading that covers a moment only."""
        self._clock_s, self._at = clock_s, at - clock_s
        known = self._sources.setdefault(source, _Source())
        self._present = None if self._is_odd() else known

    def gap(self, source: SourceId, *, is_own: bool) -> None:
        """Note a time without samples of a source."""
        if is_own:
            self._own = None
        known = self._sources.get(source)
        if known is not None and not known.is_interrupted:
            known.stretch, known.is_interrupted = known.stretch + 1, True

    def read(self, condition: Condition, *, is_bad: bool) -> None:
        """Take a state of the open sample."""
        source = self._present
        if source is None:
            return
        segments, last = self._of(condition)
        if last and last.is_bad == is_bad and last.is_followed_by(source):
            last.last = source.ends.last
        else:
            segments.append(self._segment(source, is_bad, self._at))

    def count(self, condition: Condition, counted: Counted | None) -> None:
        """Take what the open sample counts; None where it counts nothing, or nothing that the rules mind."""
        source = self._present
        if source is None:
            return
        segments, last = self._of(condition)
        if counted is None:
            if last and last.signs is None and last.is_followed_by(source):
                last.last = source.ends.last
            else:
                self._drop_short(segments)
                segments.append(self._segment(source, False, self._since))
        elif counted.is_event:
            self._drop_short(segments)
            last = segments[-1] if segments else None
            if not (last and last.signs and last.source is source and last.stretch == source.stretch):
                last = self._segment(source, True, min(counted.since - self._clock_s, self._since))
                last.signs = _Ends(), _Ends()
                segments.append(last)
            assert last.signs is not None
            last.signs[0].add(self._since)
            last.signs[1].add(self._at)

    def readings(self, now: float, extents: Mapping[Condition, Sequence[Extent]]) -> Iterator[ConditionReading]:
        """Yield the newest segments of each condition as known at that time. `extents`: the events that were known
        then."""
        for condition, segments in self._segments.items():
            known = [segment for segment in segments if segment.at <= now][-_GIVEN:]
            for segment in known:
                yield from segment.readings(condition, now, extents.get(condition, ()))

    def last_sign(self, condition: Condition, now: float) -> float | None:
        """Return the newest sign of trouble at that time; None where none is known."""
        known = (s for s in reversed(self._segments.get(condition, ())) if s.signs and s.at <= now)
        segment = next(known, None)
        if segment is None or segment.signs is None:
            return None
        ends = segment.signs[1]
        newest = ends.newest(0, ends.last, now)
        return None if newest is None else ends.of(newest)

    def _of(self, condition: Condition) -> tuple[deque[_Segment], _Segment | None]:
        segments = self._segments.get(condition)
        if segments is None:
            segments = self._segments[condition] = deque(maxlen=_KEPT)
        return segments, segments[-1] if segments else None

    def _segment(self, source: _Source, is_bad: bool, since: float) -> _Segment:
        """A segment that starts with the open sample, or with the open moment."""
        last = source.ends.last
        is_sample = last >= 0 and source.ends.of(last) == self._at
        return _Segment(source, source.stretch, is_bad, since, self._at, last if is_sample else last + 1, last)

    def _drop_short(self, segments: deque[_Segment]) -> None:
        """Drop a last time of calm that was too short to tell anything."""
        last = segments[-1] if segments else None
        if last and last.signs is None and last.source.ends.of(last.last) - last.since < CALM_S:
            segments.pop()

    def _is_odd(self) -> bool:
        if self._own is None:
            return False
        at, seconds = self._own
        return not math.isclose(self._at, at, rel_tol=0.0, abs_tol=_ODD_S + _ODD_INTERVALS * seconds)

    def _forget(self, source: _Source) -> None:
        """Forget what a source read: its times went back, and nothing says why."""
        source.ends, source.stretch = _Ends(), source.stretch + 1
        for segments in self._segments.values():
            if segments and segments[-1].source is source:
                segments.clear()
