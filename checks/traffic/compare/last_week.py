"""Compares an hour with the same hour of the weeks before: an alarm where it is worse than each of them.

The load of these hours is that of users, and no change lies between them:

1. Only the load of all instances has to be the same, give or take the noise of any figure. Small pings are no controls:
   slower ones are the alarm. What users asked for (transactions, CPU time) is neither better nor worse.
2. What differs between the weeks is noise: worse is what is worse than in each week of the same load.
3. Less load is no cause of losses where there were none: these are worse at any smaller load.
4. Losses that are too rare for a verdict are noise. An event is for `racwire check` and `racwire watch --events`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from msgspec import structs

from checks.model.wording import listed, moment
from checks.traffic.compare.comparison import Comparison, ComparisonVerdict, Pair, Week
from checks.traffic.compare.comparison_text import named_changes
from checks.traffic.compare.comparison_verdict import Runs, compare, differs
from checks.traffic.compare.differences import environment_differences
from checks.traffic.compare.metrics import CPU, LOAD
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import Better, ComparedRun, Measured
from checks.traffic.hour import HOUR_S, Hour, local_time, weeks_before

_LEAST = 0.5
"""The share of an hour in which a node or an instance must have been sampled."""
_NO_SAMPLES = "no samples"


def compare_weeks(begin: float, hours: Mapping[float, Hour], stretch_s: float | None = None) -> Comparison:
    """Compare the hour from `begin` on with those of the weeks before. `hours` are those with samples, by their
    beginning. Raises RecordingError where a file is damaged."""
    runs, length_s = _runs(begin, hours, stretch_s)
    now = runs.get(begin)
    why = _NO_SAMPLES if now is None else "" if _sampled(now) else "less than half of the hour was sampled"
    found: list[tuple[Week, Comparison | None]] = []
    for at in weeks_before(begin):
        then, reason, compared = runs.get(at), "", None
        if now is None or why:
            reason = "not needed"
        elif not (reason := _unlike(then, now)) and then is not None:
            compared = _judged(compare([Runs(then, now, stretch_s=length_s, is_load_chosen=False)]))
            reason = " ".join(compared.shifted) or ("" if compared.is_telling else "too few values for a verdict")
        found.append((Week(local_time(at), reason), compared))
    return _whole(begin, why, found)


def _runs(begin: float, hours: Mapping[float, Hour], stretch_s: float | None) -> tuple[dict[float, ComparedRun], float]:
    """Return the hours as runs, and the seconds of their stretches. Nodes that one of them lacks have no sums in any:
    then those with the nodes of now are read once more, without the others."""
    if begin not in hours:
        return {}, 0.0
    runs, length_s = runs_of([(hour.name, hour) for hour in hours.values()], stretch_s=stretch_s)
    found = dict(zip(hours, runs, strict=True))
    like = {at: hours[at] for at, run in found.items() if _sampled(run) == _sampled(found[begin])}
    if like and len(like) < len(hours):
        again, length_s = runs_of([(hour.name, hour) for hour in like.values()], stretch_s=stretch_s)
        found |= dict(zip(like, again, strict=True))
    return {at: _of_users(run) for at, run in found.items()}, length_s


def _of_users(run: ComparedRun) -> ComparedRun:
    """Return a run whose load is that of users."""

    def measured(metric: Measured) -> Measured:
        is_asked_for = metric.group == CPU or metric.better is Better.HIGHER
        return replace(
            metric,
            is_control=metric.group == LOAD and not metric.part_of,
            better=Better.NEITHER if is_asked_for else metric.better,
        )

    return replace(run, measured=tuple(map(measured, run.measured)))


def _sampled(run: ComparedRun) -> set[str]:
    return {name for name, share in run.sampled.items() if share >= _LEAST}


def _unlike(then: ComparedRun | None, now: ComparedRun) -> str:
    """Return why an hour cannot be compared with this one; empty where it can."""
    if then is None:
        return _NO_SAMPLES
    only_then, only_now = _sampled(then) - _sampled(now), _sampled(now) - _sampled(then)
    if only_then or only_now:
        parts = [("now", only_then), ("then", only_now)]
        return "; ".join(f"{listed(sorted(names))} not sampled {when}" for when, names in parts if names)
    mtus = [one for one in environment_differences(then, now) if one.is_change]
    return "; ".join(f"{one.name} {one.before} then, {one.after} now" for one in mtus)


def _judged(comparison: Comparison) -> Comparison:
    """Return a comparison in which losses are worse that less load cannot cause."""
    moved = [m for m in comparison.metrics if m.verdict is ComparisonVerdict.ENVIRONMENT_SHIFTED and m.is_control]
    new = {m.name for m in comparison.metrics if m.better is Better.LOWER and not any(m.before.values) and differs(m)}
    if not moved or not new or any(metric.change > 0 for metric in moved):
        return comparison
    return structs.replace(_with_verdict(comparison, ComparisonVerdict.WORSE, new), shifts=())


def _with_verdict(comparison: Comparison, verdict: ComparisonVerdict, names: set[str]) -> Comparison:
    pairs = [
        structs.replace(
            pair, metrics=tuple(structs.replace(m, verdict=verdict) if m.name in names else m for m in pair.metrics)
        )
        for pair in comparison.pairs
    ]
    return structs.replace(comparison, pairs=tuple(pairs))


def _whole(begin: float, why: str, found: Sequence[tuple[Week, Comparison | None]]) -> Comparison:
    """Return the comparison with the last week that could be compared, and the verdicts that all such weeks share."""
    compared = [(week, comparison) for week, comparison in found if comparison is not None]
    like = [comparison for week, comparison in compared if not week.left_out]
    shown = next(iter([*like, *(one for _, one in compared)]), Comparison(pairs=(), shifts=(), summary=()))
    here = _worse(shown)
    worse = here.intersection(*map(_worse, like))
    rare = {m.name for m in shown.metrics if m.verdict is ComparisonVerdict.TOO_FEW_SAMPLES and m.p is not None}
    told = _with_verdict(shown, ComparisonVerdict.NO_DIFFERENCE, (here - worse) | rare)
    return structs.replace(
        told,
        pairs=tuple(structs.replace(pair, warnings=_warnings(pair)) for pair in told.pairs),
        shifts=(),
        summary=tuple(_summary(begin, why, [week for week, _ in found], told)),
        weeks=tuple(week for week, _ in found),
    )


def _worse(comparison: Comparison) -> set[str]:
    return {metric.name for metric in comparison.metrics if metric.verdict is ComparisonVerdict.WORSE}


def _warnings(pair: Pair) -> tuple[str, ...]:
    """Return the doubts about the two hours; those about a change mean nothing here."""
    return tuple(
        f"{word}: {text}" for word, run in (("BEFORE", pair.before), ("AFTER", pair.after)) for text in run.warnings
    )


def _summary(begin: float, why: str, weeks: Sequence[Week], comparison: Comparison) -> Iterator[str]:
    """Yield the result in sentences, the verdict first."""
    hour = f"{moment(local_time(begin))} to {local_time(begin + HOUR_S)[11:16]}"
    days = listed([_day(week) for week in weeks if not week.left_out])
    if not days:
        yield f"It is not known whether {hour} is worse than in the weeks before{f': {why}' if why else ''}."
    elif worse := comparison.having(ComparisonVerdict.WORSE):
        yield f"{hour} is worse than this hour of {days}: {named_changes(worse)}."
    else:
        yield f"{hour} is not worse than this hour of {days}."
    if not days and (new := comparison.new_losses):
        yield f"Check these whatever the load, since they were 0 then: {named_changes(new)}."
    if not why:
        for reason, left in groupby((week for week in weeks if week.left_out), key=lambda week: week.left_out):
            yield f"Not compared with {listed(map(_day, left))}: {reason.rstrip('.')}."


def _day(week: Week) -> str:
    return week.begun_at[:10]
