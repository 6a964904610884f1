"""What the live feed tells of the instances now: the newest sample of each, and the last minute of the pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import tzinfo
from math import inf

from checks.model.facts import Activity, BlockTransfer, InstancePing
from checks.traffic.samples import Event, Gap, InstanceSample, PairsSample
from checks.traffic.timeline import Timeline
from tui.screens.database.figures import span
from tui.widgets.units import clock

PAIRS_S = 60.0
"""Of pairs this much of the past is summed up: their pings are seconds apart, and a lost block must not be shown for
a moment only."""

_LATE = 5.0
"""After how many times its own length a sample that no other followed is old, beside one of another instance."""


@dataclass(frozen=True)
class LiveFigures:
    """What is known from samples; all empty before the first one."""

    instances: dict[str, InstanceSample] = field(default_factory=dict)
    """The newest sample of each instance, where no gap came after it."""
    gaps: dict[str, str] = field(default_factory=dict)
    """Instances of which nothing can be told now, and why."""
    trouble: str = ""
    """Why nothing can be told of any instance, where that is so."""
    pairs: PairsSample | None = None
    pairs_trouble: str = ""
    word: str = "live"
    """What such figures are called: of those that were saved, `recorded`."""
    zone: tzinfo | None = None
    """The zone that their times are told in; None for this node's, without naming it."""


def live_of(timeline: Timeline, feed_trouble: str = "", word: str = "live", zone: tzinfo | None = None) -> LiveFigures:
    """The newest of what was sampled."""
    sources = timeline.sources()
    newest = {s: events[-1] for s in sources if s.startswith("instance ") and (events := timeline.window(s, -inf, inf))}
    samples = {e.instance: e for e in newest.values() if isinstance(e, InstanceSample)}
    gaps = {s.removeprefix("instance "): e.reason for s, e in newest.items() if isinstance(e, Gap)}
    last = max((e.at for e in newest.values()), default=-inf)
    whole = timeline.window("database", -inf, inf)[-1:] if "database" in sources else []
    trouble = feed_trouble or next((e.reason for e in whole if isinstance(e, Gap) and e.at >= last), "")
    for name, sample in list(samples.items()):
        if last - sample.at > max(_LATE * sample.seconds, 10.0):
            gaps[name] = f"No sample since {clock(sample.at, zone, told=False)}."
            del samples[name]
    of_pairs = timeline.window("pairs", -inf, inf) if "pairs" in sources else []
    silent = of_pairs[-1] if of_pairs and isinstance(of_pairs[-1], Gap) else None
    return LiveFigures(
        {} if trouble else samples,
        gaps,
        trouble,
        None if silent or trouble else pairs_of(of_pairs),
        silent.reason if isinstance(silent, Gap) else "",
        word,
        zone,
    )


def by_the_checks(activity: Activity) -> str:
    """Of which time the figures of a run are."""
    return f"by the checks, {span(activity.seconds)} to {activity.ended_at[11:19]}"


def pairs_of(events: Iterable[Event], seconds: float = PAIRS_S) -> PairsSample | None:
    """The samples of pairs of that much time before the last one as one; what came before a gap is left out."""
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
