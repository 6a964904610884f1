"""Writes the sentences of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.model.wording import counted, few, listed
from checks.traffic.compare.comparison import (
    Compared,
    Comparison,
    ComparisonVerdict,
    EnvironmentDifference,
    Shift,
    Side,
)
from checks.traffic.compare.metrics import LOAD, PACKETS_PER_BLOCK

_NAMED = 5
_LOUD_PERCENT = 5.0


def number(value: float) -> str:
    """Return a number with three significant digits: 0.0123, 6.02, 812, 10,412."""
    size = abs(value)
    if size >= 1e7:
        return f"{value:.2e}"
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 1e-4:
        return f"{value:#.3g}"
    return f"{value:.1e}" if size >= 1e-9 else "0"


def change_of(metric: Compared) -> str:
    """Return the change: `+12 %`, `-83 %`; the difference where the value before is 0; `x 6.0` for more than 400 %."""
    percent = metric.change_percent
    if percent is None:
        return "0 %" if metric.change == 0 else ("+" if metric.change > 0 else "") + number(metric.change)
    if percent > 400:
        return f"x {number(metric.after.centre / metric.before.centre)}"
    if abs(percent) < 0.05:
        return "0 %"
    return f"{percent:+.1f} %" if abs(percent) < 9.95 else f"{percent:+.0f} %"


def with_unit(value: float, unit: str) -> str:
    """Return a value with its unit: `6.02`, `812 Mb/s`."""
    return f"{number(value)} {unit}".rstrip()


def control_moved(metric: Compared) -> Shift:
    """Return the shift of a control that differs."""
    moved = f"from {with_unit(metric.before.centre, metric.unit)} to {with_unit(metric.after.centre, metric.unit)}"
    return Shift(f"{metric.name} went {moved} ({change_of(metric)})", is_load=metric.group == LOAD)


def fact_moved(difference: EnvironmentDifference) -> Shift:
    """Return the shift of a setting of the load generator that differs."""
    return Shift(f"{difference.name}: {difference.before} before, {difference.after} after", is_load=True)


def summary_of(comparison: Comparison) -> Iterator[str]:
    """Yield the paragraphs below the table."""
    yield from _change(comparison)
    yield from _packets(comparison)
    if comparison.shifted:
        yield (
            "The environment shifted, so the change may not be the cause: the numbers are valid, but there are no "
            "verdicts. "
            f"{_shift_advice(comparison)}"
        )
        if new := comparison.new_losses:
            yield f"Check these whatever the cause, since they were 0 before: {named_changes(new)}."
        return
    if not comparison.is_telling:
        yield "These runs allow no verdict: they have too few samples."
        return
    yield from _rare(comparison)
    rarely = {ComparisonVerdict.WORSE: any(m.change > 0 for m in comparison.too_rare), ComparisonVerdict.BETTER: False}
    for verdict, word in ((ComparisonVerdict.WORSE, "Worse"), (ComparisonVerdict.BETTER, "Better")):
        if found := comparison.having(verdict):
            yield f"{word}: {named_changes(found)}."
        else:
            yield f"Nothing {'else ' if rarely[verdict] else ''}got {word.lower()} by more than noise."
    if found := comparison.having(ComparisonVerdict.DIFFERS):
        yield f"Neither better nor worse, but an effect of the change: {named_changes(found)}."
    for pair in comparison.pairs:
        yield from _winners(pair.metrics)
    yield from _noise(comparison)


def winning_point(points: Iterable[Compared]) -> Compared | None:
    """Return the point of a curve from which on every larger message is faster after the change: better by its verdict,
    and the 95 % interval of the shift below 0. None where there is no such point. Controls are left out."""
    winner = None
    for point in sorted((p for p in points if not p.is_control), key=lambda p: p.size, reverse=True):
        is_faster = (
            point.verdict is ComparisonVerdict.BETTER and point.change_high is not None and point.change_high < 0
        )
        if not is_faster:
            break
        winner = point
    return winner


def _winners(metrics: Sequence[Compared]) -> Iterator[str]:
    """Yield the message size from which on the run after is faster, for each curve."""
    for curve in dict.fromkeys(m.curve for m in metrics if m.curve):
        points = [m for m in metrics if m.curve == curve]
        winner = winning_point(points)
        if winner is None:
            yield f"{curve}: there is no message size from which on all larger ones are faster after the change."
            continue
        below = max((p.size for p in points if p.size < winner.size), default=None)
        faster = (
            f"{number(-(winner.change_high or 0.0))} to {number(-(winner.change_low or 0.0))} {winner.unit}, with 95 % "
            "confidence"
        )
        yield (
            f"{curve}: messages of {winner.size:,} B and more are faster after the change, those of {winner.size:,} B "
            f"by {faster}" + ("." if below is None else f"; of {below:,} B and less this is not proven.")
        )


def _change(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence if the MTU did not change, if the change is unknown, or if the interfaces have other names after
    it. Changes of the MTU of one interface are listed above the tables."""
    for pair in comparison.pairs:
        has_mtus = pair.before.kind == "recording" or pair.before.kind.startswith("measure ")
        if not has_mtus or any(difference.is_change for difference in pair.differences):
            continue
        before, after = (_mtus_by_name(run.environment) for run in (pair.before, pair.after))
        values = [listed(sorted({*mtus.values()}, key=_as_number)) for mtus in (before, after)]
        if unknown := [when for when, mtus in (("before", before), ("after", after)) if not mtus]:
            yield (
                "Whether the MTU of the private interfaces was changed is not known: no MTU was recorded "
                f"{listed(unknown)}."
            )
        elif before == after:
            yield f"The MTU of the private interfaces was not changed: {values[0]} before and after."
        else:
            what = "before and after" if values[0] == values[1] else f"before and {values[1]} after"
            yield f"The MTU of the private interfaces was {values[0]} {what}; not all interfaces are known in both."


def _mtus_by_name(environment: dict[str, str]) -> dict[str, str]:
    """The MTU of each private interface."""
    return {name: value for name, value in environment.items() if name.endswith(" MTU")}


def mtus_of(environment: dict[str, str]) -> set[str]:
    """Return the different MTUs of the private interfaces."""
    return {*_mtus_by_name(environment).values()}


def _as_number(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (0, text)


def _packets(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence with the number of packets per block."""
    for pair in comparison.pairs:
        found = [m for m in pair.metrics if m.name.endswith(PACKETS_PER_BLOCK)]
        if not found:
            continue
        metric = found[0]
        mtus = [mtus_of(run.environment) for run in (pair.before, pair.after)]
        if all(len(known) == 1 for known in mtus) and mtus[0] != mtus[1]:
            before, after = (next(iter(known)) for known in mtus)
            when = (f"At MTU {before}", f"at {after}")
        else:
            when = ("Before", "after")
        yield (
            f"{when[0]} a block took {metric.before.centre:.1f} packets, {when[1]} {metric.after.centre:.1f}"
            " (messages not counted)."
        )


def _shift_advice(comparison: Comparison) -> str:
    if any(shift.is_load for shift in comparison.shifts):
        return (
            "Run the same load at a fixed rate before and after, and record again. Where users wait for answers, "
            "faster answers cause more load: then compare the results of the load generator (--also)."
        )
    return (
        "Search for other changes (other work on the hosts, another path, power saving). Then record again, at the "
        "same hour and load: before, a second time before (--same), and after."
    )


def named_changes(metrics: Sequence[Compared]) -> str:
    """The metrics that changed most, with their changes."""
    return few((f"{m.name} {_moved(m)}" for m in sorted(metrics, key=_largest_first)), _NAMED)


def _moved(metric: Compared) -> str:
    """A change such as `+12 %`; a change from 0 has both values: `from 0 to 2,657 1/s`."""
    return change_of(metric) if metric.before.centre else f"from 0 to {with_unit(metric.after.centre, metric.unit)}"


def _largest_first(metric: Compared) -> float:
    """The key that sorts metrics by the size of their change."""
    return -abs(metric.change_percent) if metric.change_percent is not None else -1e9


def _rare(comparison: Comparison) -> Iterator[str]:
    """Yield losses and similar events that are too few for a verdict. They come first because they matter most."""
    metrics = comparison.too_rare
    shares = [f"{m.name} in {_share(m.before, ' stretches')} before, {_share(m.after)} after" for m in metrics[:_NAMED]]
    if shares:
        more = [f"{len(metrics) - _NAMED} more"] if len(metrics) > _NAMED else []
        yield f"Too rare to know whether the change is the cause: {'; '.join([*shares, *more])}. Record for longer."


def _share(side: Side, of: str = "") -> str:
    """The number of stretches in which the metric was not 0."""
    return f"{len(side.values) - side.values.count(0.0)} of {len(side.values)}{of}"


def _noise(comparison: Comparison) -> Iterator[str]:
    """Yield the differences that count as noise, since a reader could believe them otherwise."""
    none = [m for m in comparison.having(ComparisonVerdict.NO_DIFFERENCE) if not m.is_still]
    loud = [m for m in none if m.change_percent is None or abs(m.change_percent) >= _LOUD_PERCENT]
    open_still = [m for m in loud if abs(m.change) > m.believed_from]
    noise = [m for m in loud if m not in open_still]
    if noise:
        yield f"Noise: {named_changes(noise)}."
    if open_still:
        yield f"Perhaps noise; the runs are too short or too uneven for a verdict: {named_changes(open_still)}."
    if none and not loud:
        yield f"{counted(len(none), 'other metric')} changed by less than {_LOUD_PERCENT:g} %: noise."
    if unproven := [m for m in comparison.having(ComparisonVerdict.TOO_FEW_SAMPLES) if m not in comparison.too_rare]:
        yield f"Too few samples for {few((m.name for m in unproven), _NAMED)}."
