"""Waits for blocks: their average, their tail from the histogram, and the events that cost most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import InstanceActivity, Thresholds, WaitEvent
from checks.model.finding import Status
from checks.model.percentiles import least_values

_NO_TRANSFER = ("lost", "corrupt", "failure", "retry")
"""Terms in the names of events that are not the arrival of a block."""
_TOP = 3
"""The number of events that are called the costliest, as readers of a report check the first few. Ours."""

MEANINGS = {
    "congested": "the LMS processes of the sender cannot keep up (CPU, scheduling, too few of them)",
    "buffer busy": "sessions wait behind another session's request for the same block: a symptom where blocks are lost "
    "or slow, else the load",
    "busy": "the sender writes redo before it sends the block, or other sessions pin it: the load, or slow log writes",
    "lost": "blocks are lost",
    "retry": "requests had to be repeated",
    "failure": "blocks could not be obtained",
}
"""The meaning of an event with that term in its name (MOS 563566.1; Database Reference, wait events)."""
BUSY = frozenset({"busy", "buffer busy"})
"""The terms of waits that the load can cause."""


def for_blocks(own: InstanceActivity, which: str) -> list[WaitEvent]:
    """Return the waits that ended with a block of that kind: `gc cr block 2-way`, `... busy`, `... congested`."""
    return [
        e
        for e in own.events
        if e.waits > 0 and e.name.startswith(f"gc {which} block ") and not any(w in e.name for w in _NO_TRANSFER)
    ]


def average_ms(events: Iterable[WaitEvent]) -> float | None:
    """Return the average wait in milliseconds; None where there was none."""
    known = list(events)
    waits = sum(e.waits for e in known)
    return sum(e.time_us for e in known) / waits / 1000 if waits > 0 else None


def buckets(events: Iterable[WaitEvent]) -> list[tuple[int, int]]:
    """Return the merged histogram of some events: upper limit in microseconds and waits, the fastest first."""
    together: dict[int, int] = {}
    for event in events:
        for bucket in event.histogram:
            if bucket.waits > 0:
                together[bucket.up_to_us] = together.get(bucket.up_to_us, 0) + bucket.waits
    return sorted(together.items())


def beyond(histogram: Sequence[tuple[int, int]], bound_us: float) -> tuple[int, float]:
    """Return how many waits certainly took longer than the bound, and the limit in microseconds that they exceeded.

    A bucket has only its upper limit and, from the bucket before, its lower limit. The returned limit is the first
    that is not below the bound; limits double from bucket to bucket, as in the database.
    """
    limit = bound_us
    edges = [edge for edge, _ in histogram if edge >= bound_us]
    if edges:
        limit = edges[0]
        while limit / 2 >= bound_us:
            limit /= 2
    return sum(waits for edge, waits in histogram if edge > limit), limit


def quantile_us(histogram: Sequence[tuple[int, int]], share: float) -> int | None:
    """Return the upper limit of the bucket that reaches that share of the waits; None for too few waits."""
    total = sum(waits for _, waits in histogram)
    if total < least_values(share):
        return None
    reached = 0
    for edge, waits in histogram:
        reached += waits
        if reached >= share * total:
            return edge
    return None


def costliest(events: Iterable[WaitEvent]) -> list[WaitEvent]:
    """Return the costliest events, the worst first."""
    return sorted((e for e in events if e.time_us > 0), key=lambda e: (-e.time_us, e.name))[:_TOP]


def time_us(events: Iterable[WaitEvent]) -> int:
    """Return the total wait time in microseconds."""
    return sum(max(0, e.time_us) for e in events)


@dataclass(frozen=True)
class UnusualWaits:
    """The costly events of one instance that are no plain transfer, and the total that they are compared with."""

    own: InstanceActivity
    found: tuple[tuple[WaitEvent, str], ...]
    """Each event with the term in its name that gives its meaning."""
    total_us: int
    """The cluster wait time without the waits for lost blocks."""
    without_lost: bool

    @property
    def terms(self) -> frozenset[str]:
        """The terms of the events."""
        return frozenset(term for _, term in self.found)

    @property
    def status(self) -> Status:
        """INFO where blocks are only busy, else a warning; PASS where there are no such events."""
        return Status.PASS if not self.found else Status.INFO if self.terms <= BUSY else Status.WARN


def _term(event: str) -> str:
    """Return the first term in the name of an event; empty where it has none."""
    return next((term for term in MEANINGS if term in event), "")


def unusual_waits(own: InstanceActivity, lost: Sequence[WaitEvent], limits: Thresholds) -> UnusualWaits | None:
    """Return the events with a large share of an instance's cluster wait time, without those in `lost`; None where it
    waited too rarely for a verdict."""
    if sum(e.waits for e in own.events) < limits.few_blocks:
        return None
    events = [e for e in own.events if e not in lost]
    total = time_us(events)
    much_us = limits.gc_wait_share_warn_percent * total / 100
    found = tuple(
        (event, term) for event in costliest(events) if event.time_us >= much_us and (term := _term(event.name))
    )
    return UnusualWaits(own, found, total, bool(lost))
