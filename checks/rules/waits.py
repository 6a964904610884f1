"""Waits for blocks: their average, their tail from the histogram, and the events that cost most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import InstanceActivity, Thresholds, WaitEvent
from checks.model.finding import Status

_NO_TRANSFER = ("lost", "corrupt", "failure", "retry")
"""Words in the names of events that are no arrival of a block."""
_TOP = 3
"""Of how many events it is said that they cost most: those that stand first in a report are looked at. Ours."""

MEANINGS = {
    "congested": "the LMS processes of the sender cannot keep up (CPU, scheduling, too few of them)",
    "busy": "blocks are wanted by several sessions at once, or wait for a log write: the load, not the network",
    "lost": "blocks get lost",
    "retry": "requests had to be made again",
    "failure": "blocks could not be had",
}
"""What an event with that word in its name says (MOS 563566.1; Database Reference, wait events)."""
THE_LOAD = "busy"
"""The word of waits that the load alone causes."""


def for_blocks(own: InstanceActivity, which: str) -> list[WaitEvent]:
    """The waits in which a block of that kind came: `gc cr block 2-way`, `... busy`, `... congested`."""
    return [
        e
        for e in own.events
        if e.waits > 0 and e.name.startswith(f"gc {which} block ") and not any(w in e.name for w in _NO_TRANSFER)
    ]


def average_ms(events: Iterable[WaitEvent]) -> float | None:
    """Milliseconds of a wait on average; None where there was none."""
    known = list(events)
    waits = sum(e.waits for e in known)
    return sum(e.time_us for e in known) / waits / 1000 if waits > 0 else None


def buckets(events: Iterable[WaitEvent]) -> list[tuple[int, int]]:
    """The histograms of some events in one: upper limit in microseconds and waits, the fastest first."""
    together: dict[int, int] = {}
    for event in events:
        for bucket in event.histogram:
            if bucket.waits > 0:
                together[bucket.up_to_us] = together.get(bucket.up_to_us, 0) + bucket.waits
    return sorted(together.items())


def beyond(histogram: Sequence[tuple[int, int]], bound_us: float) -> tuple[int, float]:
    """Of how many waits it is certain that they took longer than the bound; and than how many microseconds.

    A bucket tells only its upper limit and, by the bucket before, its lower one. The limit given is the first that is
    not below the bound, doubling from bucket to bucket as the database has them.
    """
    limit = bound_us
    edges = [edge for edge, _ in histogram if edge >= bound_us]
    if edges:
        limit = edges[0]
        while limit / 2 >= bound_us:
            limit /= 2
    return sum(waits for edge, waits in histogram if edge > limit), limit


def quantile_us(histogram: Sequence[tuple[int, int]], share: float) -> int | None:
    """The upper limit of the bucket in which that share of the waits is reached; None without waits."""
    total = sum(waits for _, waits in histogram)
    reached = 0
    for edge, waits in histogram:
        reached += waits
        if reached >= share * total:
            return edge
    return None


def costliest(events: Iterable[WaitEvent]) -> list[WaitEvent]:
    """Those of the events that took longest, the worst first."""
    return sorted((e for e in events if e.time_us > 0), key=lambda e: (-e.time_us, e.name))[:_TOP]


def time_us(events: Iterable[WaitEvent]) -> int:
    """What was waited in all."""
    return sum(max(0, e.time_us) for e in events)


@dataclass(frozen=True)
class UnusualWaits:
    """The costly events of one instance that are no plain transfer, and what they are measured against."""

    own: InstanceActivity
    found: tuple[tuple[WaitEvent, str], ...]
    """With the word in the name that says what it is."""
    total_us: int
    """All waits for the cluster but those for lost blocks."""
    without_lost: bool

    @property
    def words(self) -> frozenset[str]:
        """The words of the events."""
        return frozenset(word for _, word in self.found)

    @property
    def status(self) -> Status:
        """INFO where blocks are but busy, else a warning; PASS where there is none."""
        return Status.PASS if not self.found else Status.INFO if self.words == {THE_LOAD} else Status.WARN


def unusual_waits(own: InstanceActivity, lost: Sequence[WaitEvent], limits: Thresholds) -> UnusualWaits | None:
    """Events that cost a share of an instance's waits for the cluster, those in `lost` aside; None where it waited too
    rarely for that to tell anything."""
    if sum(e.waits for e in own.events) < limits.few_blocks:
        return None
    events = [e for e in own.events if e not in lost]
    total = time_us(events)
    much_us = limits.gc_wait_share_warn_percent * total / 100
    found = tuple(
        (event, word)
        for event in costliest(events)
        for word in MEANINGS
        if word in event.name and event.time_us >= much_us
    )
    return UnusualWaits(own, found, total, bool(lost))
