"""One finding for several instances or nodes: grouping, names in sentences and lists, and limits on lines."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar

from checks.model.wording import counted, listed, span

MOST_NAMED = 4
MOST_LINES = 6

T = TypeVar("T")


class Timed(Protocol):
    """What was counted for some seconds."""

    @property
    def seconds(self) -> float:
        """Seconds between the two readings."""
        ...


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


def time_of(counts: Iterable[Timed]) -> str:
    """Return the time in which all of these were counted, for a sentence: the longest."""
    return span(max(one.seconds for one in counts))


def topics_of(nodes: Iterable[str], *topics: str) -> list[tuple[str, str]]:
    """Return the evidence of a finding: each node, once, with each of these topics of the journal."""
    return [(node, topic) for node in dict.fromkeys(nodes) for topic in topics]


def nics_named(places: Sequence[tuple[str, str]], noun: str) -> str:
    """Return NICs for a sentence, from node and NIC: `eth1 and eth2 of rac1, rac2 and rac3`; each with its node where
    the nodes differ."""
    by_node = {node: [nic for other, nic in places if other == node] for node, _ in places}
    if len({tuple(nics) for nics in by_node.values()}) == 1:
        return f"{named(next(iter(by_node.values())), noun)} of {named(by_node, 'node')}"
    return named((f"{nic} of {node}" for node, nic in places), noun)
