"""What is told of several instances or nodes at once: which are alike, how they are named, how many lines there are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from checks.model.wording import counted, listed

MOST_NAMED = 4
MOST_LINES = 6

T = TypeVar("T")


def alike(things: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """The things in groups of one key each, in the order in which the first of each came."""
    groups: dict[Hashable, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return list(groups.values())


def named(names: Iterable[str], noun: str) -> str:
    """For a sentence: `prod1, prod2 and prod3`, or where they are more than four `8 instances`."""
    words = list(dict.fromkeys(names))
    return listed(words) if len(words) <= MOST_NAMED else counted(len(words), noun)


def briefly(names: Iterable[str], noun: str) -> str:
    """For a list with little room: `prod1`, `prod1, prod2`, or `3 instances`."""
    words = list(dict.fromkeys(names))
    return ", ".join(words) if len(words) <= 2 else counted(len(words), noun)


def some(lines: Sequence[str], most: int = MOST_LINES) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    left = len(lines) - most
    return (*lines[:most], f"and {left} more") if left > 1 else tuple(lines)
