"""What priorities of the switch change in the completion times of each class, by the rank test. No I/O.

The mean of each round is a sample. Rounds go in turns, off, on, on, off, so that a slow drift falls on both alike. What
the turns without priorities differ by among themselves is noise, as that of two runs without a change is in `compare`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from statistics import fmean, median

from msgspec.structs import replace

from checks.model.flow_result import FlowRound, PriorityEffect
from checks.traffic.compare.comparison_verdict import FLOOR, FLOOR_WITHOUT_SAME, SIGNIFICANT
from checks.traffic.compare.environment import FEWEST
from checks.traffic.compare.statistics import adjusted, dependence_of, mann_whitney, shift_interval


class PriorityVerdict(StrEnum):
    """The verdict on the completion times of a class with priorities."""

    LESS = "less"
    MORE = "more"
    NO_DIFFERENCE = "no difference"
    """A change of more than a quarter, or than noise, is ruled out."""
    CANNOT_TELL = "cannot tell"


def effects_of(rounds: Iterable[FlowRound], links: Sequence[tuple[int, ...]]) -> list[PriorityEffect]:
    """Return the effect on each class of each link: the paths that share it. Empty unless both were measured."""
    groups: dict[tuple[tuple[int, ...], int, str, int], list[FlowRound]] = defaultdict(list)
    for one in rounds:
        if one.prioritised is not None:
            link = next(paths for paths in links if one.path in paths)
            groups[link, one.concurrency, one.flow_class, one.size].append(one)
    found = [
        _effect(link, concurrency, own)
        for (link, concurrency, _, _), own in groups.items()
        if len({one.prioritised for one in own}) == 2
    ]
    found.sort(key=lambda one: (one.paths, one.concurrency, one.size))
    ps = iter(adjusted([one.p for one in found if one.p is not None]))
    return [_judged(one if one.p is None else replace(one, p=next(ps))) for one in found]


def _effect(link: tuple[int, ...], concurrency: int, rounds: Sequence[FlowRound]) -> PriorityEffect:
    off, on = ([one for one in rounds if one.prioritised is state] for state in (False, True))
    before, after = ([value for values in _means(own) for value in values] for own in (off, on))
    centre = median(before) if before else None
    enough = min(len(before), len(after)) >= FEWEST
    dependence = dependence_of(before, after)
    shift = shift_interval(before, after, dependence) if enough else None
    with_ms = median(after) if after else None
    return PriorityEffect(
        paths=link,
        flow_class=rounds[0].flow_class,
        size=rounds[0].size,
        concurrency=concurrency,
        flows_without=sum(one.completed for one in off),
        flows_with=sum(one.completed for one in on),
        rounds_without=len(before),
        rounds_with=len(after),
        without_ms=centre,
        with_ms=with_ms,
        change=with_ms / centre - 1 if with_ms is not None and centre else None,
        change_low=shift[0] / centre if shift and centre else None,
        change_high=shift[1] / centre if shift and centre else None,
        p=mann_whitney(before, after, dependence) if enough else None,
        noise=_noise(off),
        verdict=PriorityVerdict.CANNOT_TELL,
    )


def _means(rounds: Sequence[FlowRound]) -> Iterator[list[float]]:
    """Yield the means of the rounds of each turn, over all paths of the link."""
    turns: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in rounds:
        turns[one.turn][one.round].extend(one.times_ms)
    for _, own in sorted(turns.items()):
        yield [fmean(times) for _, times in sorted(own.items()) if times]


def _noise(off: Sequence[FlowRound]) -> float:
    turns = [median(values) for values in _means(off) if values]
    if len(turns) < 2 or not median(turns):
        return FLOOR_WITHOUT_SAME
    return max(FLOOR, (max(turns) - min(turns)) / median(turns))


def _judged(one: PriorityEffect) -> PriorityEffect:
    if one.p is None or one.change is None:
        return one
    if one.p < SIGNIFICANT and abs(one.change) > one.noise:
        return replace(one, verdict=PriorityVerdict.LESS if one.change < 0 else PriorityVerdict.MORE)
    ruled_out = max(one.noise, FLOOR_WITHOUT_SAME)
    ends = (one.change_low, one.change_high)
    if all(end is not None and abs(end) <= ruled_out for end in ends):
        return replace(one, verdict=PriorityVerdict.NO_DIFFERENCE)
    return one
