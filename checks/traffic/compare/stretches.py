"""How long a stretch is: values that are compared must be nearly independent of each other.

A rank test counts values as so many tosses of a coin. Consecutive seconds are no such thing: a busy second follows a
busy second, and 1,800 seconds of one load curve would make any two half hours differ "significantly". So a run is cut
into stretches, each of at least ten samples, six to sixty in the shortest run; all runs alike, since a longer stretch
varies less. Where neighbouring stretches still resemble each other, longer ones are taken while a dozen remain. What
resemblance remains then widens the test itself (`statistics.dependence_of`).
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.traffic.compare.statistics import dependence_of, mean, median

FEWEST = 6
"""Stretches below which nothing is judged: fewer have no interval."""
_SAMPLES = 10
_MOST = 60
_MOST_OF_LONGEST = 240
_ENOUGH = 12
_ALIKE = 0.3
"""The correlation of neighbouring stretches above which they are made longer."""
_ROUND_S = (1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300, 600, 900, 1200, 1800, 3600, 7200, 14400)
_TIMES = (1, 2, 3, 4, 5, 6, 8, 10)


def piece_length(spans_s: Sequence[float], interval_s: float) -> float:
    """The shortest stretch that is worth trying, in seconds, for runs that last so long."""
    shortest = min(spans_s)
    least = max(_SAMPLES * interval_s, shortest / _MOST, min(max(spans_s) / _MOST_OF_LONGEST, shortest / _ENOUGH))
    rounded = next((float(length) for length in _ROUND_S if length >= least * 0.999), least)
    return rounded if shortest >= FEWEST * rounded else least


def times_longer(runs: Sequence[Sequence[Sequence[float]]]) -> list[int]:
    """How many pieces a stretch may have, the fewest first, so that a dozen remain of the shortest run.

    `runs` are those of one comparison, each with the values of its pieces by metric.
    """
    pieces = min((max((len(values) for values in run), default=0) for run in runs), default=0)
    return [times for times in _TIMES if times == 1 or pieces // times >= _ENOUGH]


def are_alike(series: Sequence[Sequence[float]]) -> bool:
    """Whether neighbouring stretches resemble each other in most of what was measured."""
    found = [dependence_of(values) for values in series if len(set(values)) > 1]
    return bool(found) and median(found) > _ALIKE


def thinned(values: Sequence[float]) -> tuple[float, ...]:
    """The values of another tool, neighbours averaged: at most sixty, longer where neighbours resemble each other."""
    size = -(-len(values) // _MOST)
    averaged = _averaged(values, size)
    for times in _TIMES[1:]:
        if dependence_of(averaged) <= _ALIKE or len(values) // (size * times) < _ENOUGH:
            break
        averaged = _averaged(values, size * times)
    return averaged


def _averaged(values: Sequence[float], size: int) -> tuple[float, ...]:
    """What is left over at the end is too short for a value of its own."""
    if size <= 1:
        return tuple(values)
    return tuple(mean(values[start : start + size]) for start in range(0, len(values) - size + 1, size))
