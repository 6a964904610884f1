"""What the instances counted between two answers of their views: rows in, samples and gaps out. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from checks.model.facts import BlockTransfer, InstancePing
from checks.sources.database.deltas import difference

Row = Mapping[str, Any]
Counts = dict[int, dict[str, int]]
"""By the number of the instance, and by name."""
PairCounts = dict[tuple[int, int], dict[str, int]]
"""By the numbers of the instance that counts and of the other one, and by column."""

_TELLING = "gc"
"""How the statistics begin that only ever grow while an instance runs: where one fell, it began anew."""

_Pair = TypeVar("_Pair", BlockTransfer, InstancePing)


@dataclass(frozen=True)
class Answer:
    """All counters of the instances that answered, at one moment."""

    clock_s: float
    """When the statistics came, by a clock that only ever goes forward."""
    statistics: Counts
    messages: Counts = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """The views that could not be read, though GV$SYSSTAT could."""


@dataclass(frozen=True)
class Growth:
    """What one instance counted between two answers."""

    statistics: dict[str, int]
    messages: dict[str, int]
    left_out: tuple[str, ...]


def named_counts(rows: Iterable[Row]) -> Counts:
    """Rows of INST_ID, NAME and VALUE; without those that the database leaves empty."""
    counts: Counts = {}
    for row in rows:
        own = counts.setdefault(int(row["inst_id"]), {})
        if row["value"] is not None:
            own[row["name"]] = int(row["value"])
    return counts


def growth(before: Answer, after: Answer, number: int) -> Growth | None:
    """What an instance that is in both answers counted; None where its counters began anew meanwhile."""
    statistics = difference(_keyed(before.statistics, number), _keyed(after.statistics, number), absent_is_zero=False)
    if any(name.startswith(_TELLING) for (name,) in statistics.fallen):
        return None
    messages = difference(_keyed(before.messages, number), _keyed(after.messages, number), absent_is_zero=False)
    unread = dict.fromkeys((*before.unread, *after.unread))
    return Growth(
        {name: value for (name,), value in statistics.grown.items()},
        {} if unread else {name: value for (name,), value in messages.grown.items()},
        (*(name for (name,) in statistics.fallen), *(name for (name,) in messages.fallen if not unread), *unread),
    )


def pair_counts(rows: Iterable[Row], other: str) -> PairCounts:
    """Rows of INST_ID, the column that names the other instance, and counters."""
    return {
        (int(row["inst_id"]), int(row[other])): {
            name: int(value) for name, value in row.items() if name not in ("inst_id", other) and value is not None
        }
        for row in rows
    }


def pairs_between(before: PairCounts, after: PairCounts, made: type[_Pair]) -> tuple[_Pair, ...]:
    """What each pair counted. One that is in the second answer only began at 0 where the instance that counts is in
    both: its view lists what has happened. A pair of which a counter fell is left out."""
    first, second, *columns = (field.name for field in msgspec.structs.fields(made))
    counting = {number for number, _ in before}
    found = []
    for (number, other), values in sorted(after.items()):
        earlier = before.get((number, other), dict.fromkeys(values, 0) if number in counting else {})
        grown = {c: values[c] - earlier[c] for c in columns if c in values and c in earlier}
        if len(grown) == len(columns) and min(grown.values()) >= 0:
            found.append(made(**{first: number, second: other}, **grown))
    return tuple(found)


def _keyed(counts: Counts, number: int) -> dict[tuple[str], int]:
    return {(name,): value for name, value in counts.get(number, {}).items()}
