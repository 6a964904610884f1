"""The figures of flows: of one round, and of all rounds of a class, with the slowdown by a rank test. No I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import Any

from checks.model.kept_percentiles import percentile_or_why
from checks.model.measurement import FlowRound, FlowSummary
from checks.model.percentiles import percentile
from checks.traffic.compare.statistics import mann_whitney

ALONE, TOGETHER, BESIDE = "alone", "together", "beside"
QUIET, MIDDLE, BUSY = "quiet", "middle", "busy"
_Group = tuple[int, str, str, int, bool | None]
"""Path, class, company, flows at the same time, and whether the switch prioritised."""


def figures_of(times_ms: Sequence[float]) -> dict[str, Any]:
    """Return the figures of the flows of one class in one round, by the field names of `FlowRound`."""
    return {
        "completed": len(times_ms),
        "mean_ms": fmean(times_ms) if times_ms else None,
        "p50_ms": percentile(times_ms, 0.5),
        "p95_ms": percentile(times_ms, 0.95),
        "p99_ms": percentile(times_ms, 0.99),
        "times_ms": tuple(round(one, 3) for one in times_ms),
    }


def summaries_of(rounds: Iterable[FlowRound]) -> Iterator[FlowSummary]:
    """Yield the summary of each class, company and concurrency, in the order of the rounds."""
    groups: dict[_Group, list[FlowRound]] = defaultdict(list)
    for one in rounds:
        groups[one.path, one.flow_class, one.company, one.concurrency, one.prioritised].append(one)
    numbers = _flows_of_a_class(groups)
    for (path, flow_class, company, concurrency, _), own in groups.items():
        key = path, flow_class, ALONE, numbers[company, concurrency], None
        alone = groups.get(key, []) if company == TOGETHER else []
        if company != BESIDE:
            yield _summary(own, alone)
            continue
        thirds = by_fullness(own)
        for fullness, part in thirds.items():
            yield _summary(part, thirds.get(QUIET, []) if fullness != QUIET else [], fullness)


def _flows_of_a_class(groups: Iterable[_Group]) -> dict[tuple[str, int], int]:
    """Return the flows of one class at the same time, for each company and all its flows at the same time.

    Classes have as many connections together as alone.
    """
    keys = list(groups)
    classes = len({flow_class for _, flow_class, company, _, _ in keys if company == TOGETHER}) or 1
    return {(company, number): number // classes for _, _, company, number, _ in keys}


def by_fullness(rounds: Sequence[FlowRound]) -> dict[str, list[FlowRound]]:
    """Return the quiet, the middle and the busy third of the rounds, by the share of the link in use.

    Rounds without a known share are in none. Fewer than three rounds are all in the quiet third.
    """
    known = sorted((one for one in rounds if one.link_share is not None), key=lambda one: one.link_share or 0.0)
    if len(known) < 3:
        return {QUIET: known} if known else {}
    first, second = len(known) // 3, len(known) - len(known) // 3
    return {QUIET: known[:first], MIDDLE: known[first:second], BUSY: known[second:]}


def _summary(rounds: Sequence[FlowRound], alone: Sequence[FlowRound], fullness: str = "") -> FlowSummary:
    one = rounds[0]
    times = [time for each in rounds for time in each.times_ms]
    seconds = sum(each.seconds for each in rounds)
    means, before = _means(rounds), _means(alone)
    base = [time for each in alone for time in each.times_ms]
    shares = [each.link_share for each in rounds if each.link_share is not None]
    return FlowSummary(
        path=one.path,
        flow_class=one.flow_class,
        size=one.size,
        company=one.company,
        concurrency=one.concurrency,
        fullness=fullness,
        prioritised=one.prioritised,
        link_share=fmean(shares) if shares else None,
        completed=len(times),
        broken=sum(each.broken for each in rounds),
        mean_ms=fmean(times) if times else None,
        p50_ms=percentile(times, 0.5),
        p95_ms=percentile_or_why(times, 0.95, "flow"),
        p99_ms=percentile_or_why(times, 0.99, "flow"),
        slowdown=fmean(times) / fmean(base) if times and base else None,
        slowdown_p=mann_whitney(before, means) if means and before else None,
        delivered_bps=len(times) * one.size * 8 / seconds if seconds else None,
    )


def _means(rounds: Sequence[FlowRound]) -> list[float]:
    return [one.mean_ms for one in rounds if one.mean_ms is not None]
