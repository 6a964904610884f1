"""The arithmetic of a comparison: intervals of medians, rank tests, and p adjusted for many tests. Pure functions.

Measurements of a network are skewed, have outliers and come in steps, so no function here assumes a normal
distribution: medians with intervals from order statistics, and the Mann-Whitney test (like benchstat).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise

_ONE_IN = 20
"""An interval is wrong in one case of 20: 95 % confidence."""
_EXACT_UP_TO = 20
"""The largest number of values in both samples together for an exact p."""
_NORMAL_95 = 1.959964
_MOST_DIFFERENCES = 40_000


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval between two values that contains the true median with at least 95 % confidence. None for
    fewer than six values: five values are all on one side of the median in 2 of 32 cases.

    A value is below the median with probability 1/2, so the ranks of the two values follow from a binomial distribution
    (Conover, Practical Nonparametric Statistics, 3.2).
    """
    below = _values_below(len(values))
    if below < 0:
        return None
    ordered = sorted(values)
    return ordered[below], ordered[-1 - below]


@lru_cache(maxsize=64)
def _values_below(count: int) -> int:
    """The index of the interval's lower end among `count` sorted values; -1 where there is no interval."""
    below, outside, ways = -1, 0, 1
    for place in range(count // 2):
        outside += ways
        if 2 * outside * _ONE_IN > 2**count:  # in whole numbers: 2 to the 1,100 is no float
            break
        below = place
        ways = ways * (count - place) // (place + 1)
    return below


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1 on; equal values share the mean of their ranks."""
    placed = [0.0] * len(values)
    before = 0
    for _, same in groupby(sorted(range(len(values)), key=values.__getitem__), key=values.__getitem__):
        places = list(same)
        for index in places:
            placed[index] = before + (len(places) + 1) / 2
        before += len(places)
    return placed


def mann_whitney(before: Sequence[float], after: Sequence[float], dependence: float = 0.0) -> float:
    """Return the two-sided p of the Mann-Whitney test: how often two samples of one process differ at least this much.

    Exact, ties included, for up to 20 values in all; otherwise from the normal distribution, corrected for ties and
    continuity. `dependence` is the correlation of neighbouring values: correlated values contain less information,
    which widens the distribution by (1 + d) / (1 - d). Raises ValueError where a sample is empty.
    """
    if not before or not after:
        raise ValueError("a rank test needs values on both sides")
    n, m = len(before), len(after)
    placed = ranks([*before, *after])
    away = abs(math.fsum(placed[:n]) - n * (n + m + 1) / 2)
    groups = tuple(len(list(same)) for _, same in groupby(sorted(placed)))
    if n + m > _EXACT_UP_TO:
        return _by_normal(groups, n, m, away, dependence)
    exact = _exact(groups, n, round(2 * away))
    return max(exact, _by_normal(groups, n, m, away, dependence)) if dependence > 0 else exact


def _by_normal(groups: tuple[int, ...], n: int, m: int, away: float, dependence: float) -> float:
    ties = sum(size**3 - size for size in groups) / ((n + m) * (n + m - 1))
    variance = n * m / 12 * (n + m + 1 - ties) * _widening(dependence)
    return math.erfc(max(away - 0.5, 0.0) / math.sqrt(2 * variance)) if variance > 0 else 1.0


def _widening(dependence: float) -> float:
    dependence = min(max(dependence, 0.0), 0.95)
    return (1 + dependence) / (1 - dependence)


def _exact(groups: tuple[int, ...], n: int, twice_away: int) -> float:
    """The share of all ways to choose n values whose sum of ranks is at least this far from the expected sum."""
    ways, all_ways = _sums(groups, n), math.comb(sum(groups), n)
    expected = n * (sum(groups) + 1)
    return sum(count for total, count in ways.items() if abs(total - expected) >= twice_away) / all_ways


@lru_cache(maxsize=256)
def _sums(groups: tuple[int, ...], n: int) -> dict[int, int]:
    """The number of ways to choose n values, by twice the sum of their ranks; `groups`: the counts of equal values."""
    chosen: list[dict[int, int]] = [{0: 1}, *({} for _ in range(n))]
    before = 0
    for size in groups:
        twice_rank = 2 * before + size + 1
        before += size
        for total in range(n, 0, -1):
            for taken in range(1, min(size, total) + 1):
                ways = math.comb(size, taken)
                for twice_sum, count in chosen[total - taken].items():
                    key = twice_sum + taken * twice_rank
                    chosen[total][key] = chosen[total].get(key, 0) + ways * count
    return chosen[n]


def shift_interval(
    before: Sequence[float], after: Sequence[float], dependence: float = 0.0
) -> tuple[float, float] | None:
    """Return the interval of the shift from `before` to `after`, with 95 % confidence, from all pairs' differences.

    This interval belongs to the Mann-Whitney test (Hodges and Lehmann). None where the samples are too small for an
    interval, or so large that it would take long.
    """
    n, m = len(before), len(after)
    if n * m > _MOST_DIFFERENCES:
        return None
    width = _NORMAL_95 * math.sqrt(n * m * (n + m + 1) / 12 * _widening(dependence))
    place = math.floor(n * m / 2 - width)
    if place < 1:
        return None
    differences = sorted(b - a for a in before for b in after)
    return differences[place - 1], differences[-place]


def dependence_of(*series: Sequence[float]) -> float:
    """Return the correlation of neighbouring values: of the ranks of neighbours, over all series.

    0 where independent values reach this correlation by chance in one case of twenty; never negative.
    """
    products = squares = 0.0
    pairs = 0
    for values in series:
        centred = [rank - (len(values) + 1) / 2 for rank in ranks(values)]
        products += math.fsum(a * b for a, b in pairwise(centred))
        squares += math.fsum(a * a for a in centred)
        pairs += max(len(values) - 1, 0)
    if not pairs or squares <= 0:
        return 0.0
    found = products / squares
    return found if found > 1.645 / math.sqrt(pairs) else 0.0


def adjusted(ps: Sequence[float]) -> list[float]:
    """Return each p adjusted for the number of tests (Benjamini and Hochberg): of the adjusted ones below 0.05, at most
    one in twenty is expected to be chance. Without this, one in twenty tests finds a difference where there is none."""
    order = sorted(range(len(ps)), key=ps.__getitem__, reverse=True)
    result = [1.0] * len(ps)
    least = 1.0
    for number, index in enumerate(order):
        least = min(least, ps[index] * (len(ps) / (len(ps) - number)))
        result[index] = least
    return result
