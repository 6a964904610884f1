"""The live figures of the instances: the newest sample of each, and the last minute of the pairs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from math import inf

import msgspec

from checks.model.facts import Activity, BlockTransfer, InstancePing
from checks.model.wording import span
from checks.traffic.samples import Event, Gap, InstanceSample, PairsSample
from checks.traffic.source_id import DATABASE, PAIRS, SourceKind
from checks.traffic.timeline import Timeline
from tui.widgets.units import clock

PAIRS_S = 60.0
"""Seconds over which the samples of pairs are added: their pings are seconds apart, and a lost block must stay on the
screen for longer than a moment."""

_LATE = 5.0
"""A sample older than this many times its own length counts as missing, if another instance has a newer one."""


class LiveFigures(msgspec.Struct, frozen=True):
    """The figures from samples; all empty before the first sample."""

    instances: dict[str, InstanceSample] = msgspec.field(default_factory=dict)
    """The newest sample of each instance, where no gap came after it."""
    gaps: dict[str, str] = msgspec.field(default_factory=dict)
    """By instance why its present figures are not known."""
    trouble: str = ""
    """Why the figures of no instance are known; empty where some are."""
    pairs: PairsSample | None = None
    pairs_trouble: str = ""
    word: str = "live"
    """The adjective for the figures: `live`, or `recorded` for saved ones."""
    zone: tzinfo | None = None
    """The time zone of the times; None for that of this node, which is not displayed."""
    pace: str = ""
    """How often the instances are sampled, and why not at the usual interval; empty where they are."""


def live_of(
    timeline: Timeline, feed_trouble: str = "", word: str = "live", zone: tzinfo | None = None, pace: str = ""
) -> LiveFigures:
    """Return the newest samples of a timeline."""
    sources = timeline.sources()
    instances = [source for source in sources if source.kind is SourceKind.INSTANCE]
    newest = {s: events[-1] for s in instances if (events := timeline.window(s, -inf, inf))}
    samples = {e.instance: e for e in newest.values() if isinstance(e, InstanceSample)}
    gaps = {s.name: e.reason for s, e in newest.items() if isinstance(e, Gap)}
    last = max((e.at for e in newest.values()), default=-inf)
    whole = timeline.window(DATABASE, -inf, inf)[-1:] if DATABASE in sources else []
    trouble = feed_trouble or next((e.reason for e in whole if isinstance(e, Gap) and e.at >= last), "")
    for name, sample in list(samples.items()):
        if last - sample.at > max(_LATE * sample.seconds, 10.0):
            gaps[name] = f"No sample since {clock(sample.at, zone, has_zone=False)}."
            del samples[name]
    of_pairs = timeline.window(PAIRS, -inf, inf) if PAIRS in sources else []
    silent = of_pairs[-1] if of_pairs and isinstance(of_pairs[-1], Gap) else None
    return LiveFigures(
        {} if trouble else samples,
        gaps,
        trouble,
        None if silent or trouble else pairs_of(of_pairs),
        silent.reason if isinstance(silent, Gap) else "",
        word,
        zone,
        pace,
    )


def by_the_checks(activity: Activity) -> str:
    """Return the source and the time of the figures of a run."""
    return f"by the checks, {span(activity.seconds)} to {activity.ended_at[11:19]}"


def pairs_of(events: Iterable[Event], seconds: float = PAIRS_S) -> PairsSample | None:
    """Return the sum of the samples of pairs in the last `seconds` seconds, without those before a gap; None where
    there is no sample."""
    taken: list[PairsSample] = []
    for event in events:
        if isinstance(event, Gap):
            taken = []
        elif isinstance(event, PairsSample):
            taken.append(event)
    if not taken:
        return None
    last = taken[-1]
    taken = [s for s in taken if s is last or s.at - s.seconds >= last.at - seconds - 0.5]
    return PairsSample(
        at=last.at,
        seconds=sum(s.seconds for s in taken),
        transfers=tuple(_transfers(t for s in taken for t in s.transfers)),
        pings=tuple(_pings(p for s in taken for p in s.pings)),
        unread={view: why for s in taken for view, why in s.unread.items()},
    )


def _transfers(each: Iterable[BlockTransfer]) -> Iterable[BlockTransfer]:
    sums: dict[tuple[int, int], list[int]] = {}
    for t in each:
        counts = (t.cr_blocks, t.current_blocks, t.lost, t.cr_time_us, t.current_time_us, t.lost_time_us)
        so_far = sums.get((t.receiver, t.sender), [0] * len(counts))
        sums[t.receiver, t.sender] = [a + b for a, b in zip(so_far, counts, strict=True)]
    return (BlockTransfer(a, b, *counts) for (a, b), counts in sums.items())


def _pings(each: Iterable[InstancePing]) -> Iterable[InstancePing]:
    sums: dict[tuple[int, int], list[int]] = {}
    for p in each:
        counts = (p.count_500b, p.time_500b_us, p.count_8k, p.time_8k_us)
        so_far = sums.get((p.instance, p.target), [0] * len(counts))
        sums[p.instance, p.target] = [a + b for a, b in zip(so_far, counts, strict=True)]
    return (InstancePing(a, b, *counts) for (a, b), counts in sums.items())
