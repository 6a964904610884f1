"""Percentiles, and how many values one needs: racwire gives no high or low percentile of a handful of values.

The data classes of results and samples keep the rule, so that it holds for the files of others, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

_FEWEST = 100
"""Values below which a percentile other than the median is that of a few. Ours."""


def least_values(share: float) -> int:
    """Return how many values a percentile needs: 100, and more where none of 100 would lie beyond it (p99.9: 1,000).

    The median, the smallest and the largest value need one.
    """
    if share in (0.0, 0.5, 1.0):
        return 1
    return max(_FEWEST, round(1 / min(share, 1 - share)))


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the value that this share of the values does not exceed; None for too few values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if len(ordered) >= least_values(share) else None
