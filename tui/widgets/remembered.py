"""Lines that cost much and change seldom are made once for the same facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec

from tui.text.line import Line

P = ParamSpec("P")


def made_once(lines: Callable[P, Iterator[Line]]) -> Callable[P, list[Line]]:
    """Keeps the last answer. Facts are frozen: the same object says the same; numbers and words are compared."""
    kept: list[tuple[tuple[object, ...], list[Line]]] = []

    @wraps(lines)
    def answer(*args: P.args, **kwargs: P.kwargs) -> list[Line]:
        asked = (*args, *kwargs.values())
        if not kept or len(kept[0][0]) != len(asked) or not all(map(_same, kept[0][0], asked)):
            kept[:] = [(asked, list(lines(*args, **kwargs)))]
        return kept[0][1]

    return answer


def _same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, int | str) and one == other)
