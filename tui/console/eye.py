"""Leads the eye: what is new takes the cursor of a list, unless the operator has just moved it."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

HOLDS_S = 10.0
"""The seconds for which a cursor stays where the operator moved it."""


class Eye(Generic[T]):
    """Remembers what a list had, and when the operator moved its cursor."""

    def __init__(self) -> None:
        self._known: frozenset[T] | None = None
        self._moved_s: float | None = None

    def moved(self) -> None:
        """Note that the operator moved the cursor."""
        self._moved_s = time.monotonic()

    def new_of(self, present: Sequence[T]) -> list[T]:
        """Return which of those that are present were not before; none the first time. While the cursor stays where the
        operator moved it, none: they are new afterwards."""
        known = frozenset(present) if self._known is None else self._known
        if self._moved_s is not None and time.monotonic() - self._moved_s < HOLDS_S:
            self._known = known & {*present}
            return []
        self._known = frozenset(present)
        return [one for one in present if one not in known]
