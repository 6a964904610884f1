"""Parameters of a test of which `make test` runs some, and `make cases` all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def sampled(values: Iterable[Any], sample: Collection[Any] | int = 1) -> list[ParameterSet]:
    """Return each value as a parameter, a tuple as several. Those of the sample, or so many of the first, are in `make
    test`. Raises ValueError where the sample has another value."""
    every = [*values]
    chosen = every[:sample] if isinstance(sample, int) else [*sample]
    if missing := [one for one in chosen if one not in every]:
        raise ValueError(f"the sample has what is no parameter: {missing}")
    marks = pytest.mark.beyond_sample
    return [
        pytest.param(
            *(one if isinstance(one, tuple) else (one,)),
            marks=() if one in chosen else marks,
            id=getattr(one, "name", None),
        )
        for one in every
    ]
