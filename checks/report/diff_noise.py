"""When two measurements of one thing differ: what is measured for a few seconds, twice, is never equal."""

from __future__ import annotations

MUCH = 1.5
"""By what factor a rate, a share or a time must differ to be called another. Ours: rates over the few seconds of a run
differ by a third where nothing has changed."""


def differ(one: float, other: float) -> bool:
    """Whether one of the two is more than `MUCH` times the other."""
    return one != other and max(one, other) > MUCH * min(one, other)
