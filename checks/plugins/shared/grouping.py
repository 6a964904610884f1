"""One finding for several instances or nodes: grouping, names in sentences and lists, and limits on lines."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from checks.model.wording import counted, listed

MOST_NAMED = 4
MOST_LINES = 6

T = TypeVar("T")


def alike(things: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Return the things grouped by key, in the order of the first thing of each group."""
    groups: dict[Hashable, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return list(groups.values())


def named(names: Iterable[str], noun: str) -> str:
    """Return the names for a sentence: `prod1, prod2 and prod3`; for more than four, `8 instances`."""
    unique = list(dict.fromkeys(names))
    return listed(unique) if len(unique) <= MOST_NAMED else counted(len(unique), noun)


def briefly(names: Iterable[str], noun: str) -> str:
    """Return the names for a list with little room: `prod1`, `prod1, prod2`, or `3 instances`."""
    unique = list(dict.fromkeys(names))
    return ", ".join(unique) if len(unique) <= 2 else counted(len(unique), noun)


def some(lines: Sequence[str], most: int = MOST_LINES) -> tuple[str, ...]:
    """Return the first lines, and the number of the remaining lines."""
    left = len(lines) - most
    return (*lines[:most], f"and {left} more") if left > 1 else tuple(lines)
