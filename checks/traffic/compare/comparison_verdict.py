"""Finds the verdict on each metric. The rules, in their order:

1. Fewer than six values on a side: too few samples.
2. A control or the load changed: environment shifted, for every metric of every pair. A control is a metric that the
   change cannot affect (a ping of 500 bytes). The cause that changed the control may have changed everything else.
3. p, adjusted for the number of metrics, is below 0.05 and the change is larger than the noise floor: better, worse,
   or "differs" for a metric without a better direction (packets per block: jumbo frames need fewer, which is no merit
   by itself).
4. Too few samples: all values of one run are above those of the other, and p is still too large; or the metric should
   always be 0 (losses, drops), is 0 in most stretches, and its mean changed by more than noise. Forty blocks lost in
   one stretch and none before do not prove that the change is the cause, and even less that nothing differs.
5. Otherwise: no difference.

The noise floor is the difference of two runs before the change (`same`), and at least 5 %. Without such a pair, or
where these two runs had different conditions, the noise is unknown and the floor is 25 %: on an idle machine,
consecutive runs differed by 23 % with p = 0.03 without any cause. The floor of the load stays 5 % then: the load was
chosen, not measured.

Where a metric names another one as its noise (`Measured.noise`: 64 B for larger messages), twice the difference of that
one is noise too, whether or not a test believes it. Ours: on a busy machine, the round trip of 64 B differed by 20 %
between two runs without a change, and those of larger messages by up to 35 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from msgspec.structs import replace

from checks.traffic.compare.comparison import (
    Compared,
    Comparison,
    ComparisonVerdict,
    EnvironmentDifference,
    Pair,
    RunFacts,
    Shift,
    Side,
    folded,
)
from checks.traffic.compare.comparison_text import control_moved, fact_moved, summary_of
from checks.traffic.compare.differences import environment_differences, factor_warnings, noise_warnings, pair_warnings
from checks.traffic.compare.environment import FEWEST, thinned
from checks.traffic.compare.metrics import LOAD
from checks.traffic.compare.run import Better, ComparedRun, Measured
from checks.traffic.compare.statistics import (
    adjusted,
    dependence_of,
    mann_whitney,
    median_interval,
    shift_interval,
)

SIGNIFICANT = 0.05
FLOOR = 0.05
FLOOR_WITHOUT_SAME = 0.25
_NOISE_TIMES = 2.0


@dataclass(frozen=True)
class Runs:
    """The runs to compare: two runs of one kind, and optionally a second run before the change."""

    before: ComparedRun
    after: ComparedRun
    same: ComparedRun | None = None
    stretch_s: float | None = None
    is_load_chosen: bool = True
    """Whether the load was chosen; that of users differs as much as any figure without a cause."""


def compare(runs: Sequence[Runs]) -> Comparison:
    """Compare all pairs together, since they are from the same two times."""
    drafts = _with_adjusted([_drafts(each) for each in runs])
    differences = [environment_differences(pair.before, pair.after) for pair in runs]
    shifts = [*_moved_facts(differences), *_moved_controls(drafts)]
    pairs = tuple(
        Pair(
            before=_facts(each.before),
            after=_facts(each.after),
            same=_facts(each.same) if each.same else None,
            stretch_s=each.stretch_s,
            differences=differing,
            metrics=tuple(replace(m, verdict=_verdict(m, bool(shifts))) for m in metrics),
            warnings=(
                *pair_warnings(each.before, each.after, each.same),
                *noise_warnings(folded(metrics)),
                *factor_warnings([m for m in metrics if m.name in {one.noise for one in each.before.measured}]),
            ),
        )
        for each, metrics, differing in zip(runs, drafts, differences, strict=True)
    )
    comparison = Comparison(pairs=pairs, shifts=tuple(shifts), summary=())
    return replace(comparison, summary=tuple(summary_of(comparison)))


def _drafts(runs: Runs) -> list[Compared]:
    after = {metric.name: metric for metric in runs.after.measured}
    alike = runs.same is not None and not environment_differences(runs.before, runs.same)
    same = {metric.name: metric for metric in runs.same.measured} if runs.same and alike else {}
    factors = {
        metric.name: _factor(median(metric.values), median(after[metric.name].values))
        for metric in runs.before.measured
        if metric.name in after
    }
    return [
        _draft(
            metric,
            after[metric.name],
            same.get(metric.name),
            runs.before.are_values_independent,
            factors.get(metric.noise, 1.0),
            runs.is_load_chosen,
        )
        for metric in runs.before.measured
        if metric.name in after
    ]


def _factor(one: float, other: float) -> float:
    """Return the factor by which others may differ where these two do; infinite where one of them is 0 or below."""
    low, high = sorted((one, other))
    return 1.0 if low == high else 1.0 + _NOISE_TIMES * (high / low - 1.0) if low > 0 else math.inf


def _draft(
    before: Measured, after: Measured, same: Measured | None, independent: bool, factor: float, load_is_chosen: bool
) -> Compared:
    """The comparison of one metric, without the influence of the others. Values of recordings are already stretches."""
    b, a = (metric.values if independent else thinned(metric.values) for metric in (before, after))
    s = () if same is None else same.values if independent else thinned(same.values)
    is_mean = median(b) == median(a) and fmean(b) != fmean(a)
    enough = min(len(a), len(b)) >= FEWEST
    dependence = dependence_of(b, a)
    shift = shift_interval(b, a, dependence) if enough else None
    is_load = LOAD in (before.group, after.group)
    sides = [_side(values, is_mean) for values in (b, a)]
    change = sides[1].centre - sides[0].centre
    noise = _side(s, is_mean) if s else None
    floor = FLOOR if noise or (is_load and load_is_chosen) else FLOOR_WITHOUT_SAME
    floor = max(floor, factor - 1.0 if change > 0 else 1.0 - 1.0 / factor)
    return Compared(
        name=before.name,
        unit=before.unit,
        group=LOAD if is_load else before.group,
        better=before.better,
        is_control=before.is_control or after.is_control,
        note=before.note,
        part_of=before.part_of,
        curve=before.curve,
        size=before.size,
        before=sides[0],
        after=sides[1],
        same=noise,
        is_mean=is_mean,
        change=change,
        change_percent=100 * change / abs(sides[0].centre) if sides[0].centre else None,
        change_low=shift[0] if shift else None,
        change_high=shift[1] if shift else None,
        p=mann_whitney(b, a, dependence) if enough else None,
        p_adjusted=None,
        believed_from=max(
            # An infinite floor has no number in JSON; whatever the change, it is noise then.
            floor * abs(sides[0].centre) if math.isfinite(floor) else abs(change),
            abs(noise.centre - sides[0].centre) if noise else 0.0,
        ),
        verdict=ComparisonVerdict.TOO_FEW_SAMPLES,
    )


def _side(values: Sequence[float], is_mean: bool) -> Side:
    interval = None if is_mean else median_interval(values)
    return Side(
        centre=fmean(values) if is_mean else median(values),
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        values=tuple(values),
    )


def _with_adjusted(drafts: list[list[Compared]]) -> list[list[Compared]]:
    """The metrics with p adjusted within each family. Metrics that never changed are a family of their own, since they
    cannot be false discoveries. So are the parts of a whole: otherwise more nodes would make every discovery harder.
    Controls are one family, since a single control is enough for the verdict "environment shifted"."""
    found: dict[tuple[bool, bool, bool], list[float]] = {}
    for metric in (m for drafted in drafts for m in drafted if m.p is not None):
        found.setdefault(_family(metric), []).append(metric.p or 0.0)
    last = {family: iter(adjusted(ps)) for family, ps in found.items()}
    return [
        [m if m.p is None else replace(m, p_adjusted=next(last[_family(m)])) for m in drafted] for drafted in drafts
    ]


def _family(metric: Compared) -> tuple[bool, bool, bool]:
    return metric.is_control, metric.is_still, bool(metric.part_of) and not metric.is_control


def differs(metric: Compared) -> bool:
    """Return whether a difference is larger than noise and more than chance."""
    return (
        metric.p_adjusted is not None and metric.p_adjusted < SIGNIFICANT and abs(metric.change) > metric.believed_from
    )


def _is_open(metric: Compared) -> bool:
    """Whether a difference is neither proven nor ruled out."""
    if abs(metric.change) <= metric.believed_from:
        return False
    b, a = metric.before.values, metric.after.values
    return metric.is_rare or max(b) < min(a) or max(a) < min(b)


def _verdict(metric: Compared, shifted: bool) -> ComparisonVerdict:
    if metric.p is None:
        return ComparisonVerdict.TOO_FEW_SAMPLES
    if metric.is_control:
        return ComparisonVerdict.ENVIRONMENT_SHIFTED if differs(metric) else ComparisonVerdict.NO_DIFFERENCE
    if shifted:
        return ComparisonVerdict.ENVIRONMENT_SHIFTED
    if not differs(metric):
        return ComparisonVerdict.TOO_FEW_SAMPLES if _is_open(metric) else ComparisonVerdict.NO_DIFFERENCE
    if metric.better is Better.NEITHER:
        return ComparisonVerdict.DIFFERS
    return (
        ComparisonVerdict.BETTER if (metric.change > 0) is (metric.better is Better.HIGHER) else ComparisonVerdict.WORSE
    )


def _moved_controls(drafts: Sequence[Sequence[Compared]]) -> Iterator[Shift]:
    for metric in (m for drafted in drafts for m in drafted if m.is_control and differs(m)):
        yield control_moved(metric)


def _moved_facts(differences: Sequence[tuple[EnvironmentDifference, ...]]) -> Iterator[Shift]:
    for difference in (d for differing in differences for d in differing if d.is_load):
        yield fact_moved(difference)


def _facts(run: ComparedRun) -> RunFacts:
    return RunFacts(
        kind=run.kind,
        name=run.name,
        begun_at=run.begun_at,
        seconds=run.seconds,
        environment=dict(run.environment),
        warnings=run.warnings,
    )
