"""A comparison in plain words: what a DBA would say of it on the telephone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.wording import counted, listed
from checks.traffic.compare.comparison import Compared, Comparison, ComparisonVerdict, EnvironmentDifference, Side
from checks.traffic.compare.metrics import LOAD, PACKETS_PER_BLOCK

_NAMED = 5
_LOUD_PERCENT = 5.0


def number(value: float) -> str:
    """With three digits that count: 0.0123, 6.02, 812, 10,412."""
    size = abs(value)
    if size >= 1e7:
        return f"{value:.2e}"
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 1e-4:
        return f"{value:#.3g}"
    return f"{value:.1e}" if size >= 1e-9 else "0"


def change_of(metric: Compared) -> str:
    """`+12 %`, `-83 %`; the difference itself where there was nothing before; `x6.0` where it is many times as much."""
    percent = metric.change_percent
    if percent is None:
        return "0 %" if metric.change == 0 else ("+" if metric.change > 0 else "") + number(metric.change)
    if percent > 400:
        return f"x {number(metric.after.centre / metric.before.centre)}"
    if abs(percent) < 0.05:
        return "0 %"
    return f"{percent:+.1f} %" if abs(percent) < 9.95 else f"{percent:+.0f} %"


def with_unit(value: float, unit: str) -> str:
    """A value as it is read: `6.02`, `812 Mb/s`."""
    return f"{number(value)} {unit}".rstrip()


def control_moved(metric: Compared) -> str:
    """Which control moved, from what to what, and what it means."""
    moved = f"from {with_unit(metric.before.centre, metric.unit)} to {with_unit(metric.after.centre, metric.unit)}"
    what = "the load was not the same" if metric.group == LOAD else "and the change cannot have done that"
    return f"{metric.name} went {moved} ({change_of(metric)}): {what}."


def fact_moved(difference: EnvironmentDifference) -> str:
    """Which setting of the load generator differs."""
    return f"{difference.name}: {difference.before} before, {difference.after} after: the load was not the same."


def summary_of(comparison: Comparison) -> Iterator[str]:
    """The paragraphs below the table."""
    yield from _change(comparison)
    yield from _packets(comparison)
    if comparison.shifted:
        yield (
            "The environment shifted, so nothing can be blamed on the change: the numbers stand, verdicts do not. "
            f"{_shift_advice(comparison)}"
        )
        if new := comparison.new_losses:
            yield f"Look at this whatever the reason, there was none of it before: {_named(new)}."
        return
    if not comparison.is_telling:
        yield "Nothing can be told of these runs: they have too few samples."
        return
    yield from _rare(comparison)
    rarely = {ComparisonVerdict.WORSE: any(m.change > 0 for m in comparison.too_rare), ComparisonVerdict.BETTER: False}
    for verdict, word in ((ComparisonVerdict.WORSE, "Worse"), (ComparisonVerdict.BETTER, "Better")):
        if found := comparison.having(verdict):
            yield f"{word}: {_named(found)}."
        else:
            yield f"Nothing {'else ' if rarely[verdict] else ''}got {word.lower()} by more than noise."
    if found := comparison.having(ComparisonVerdict.DIFFERS):
        yield f"Neither better nor worse, but what the change itself does: {_named(found)}."
    yield from _noise(comparison)


def _change(comparison: Comparison) -> Iterator[str]:
    """That there was no change of MTU, or that it cannot be told; where interfaces have other names after it, what it
    was. One that is known to be of an interface stands above the tables."""
    for pair in comparison.pairs:
        if pair.before.kind != "recording" or any(difference.is_change for difference in pair.differences):
            continue
        before, after = (_mtus_by_name(run.environment) for run in (pair.before, pair.after))
        values = [listed(sorted({*mtus.values()}, key=_as_number)) for mtus in (before, after)]
        if unknown := [when for when, mtus in (("before", before), ("after", after)) if not mtus]:
            yield (
                "Whether the MTU of the private interfaces was changed is not known: it was not recorded "
                f"{listed(unknown)}."
            )
        elif before == after:
            yield f"The MTU of the private interfaces was not changed: {values[0]} before and after."
        else:
            what = "before and after" if values[0] == values[1] else f"before and {values[1]} after"
            yield f"The MTU of the private interfaces was {values[0]} {what}; not all of them are known in both."


def _mtus_by_name(environment: dict[str, str]) -> dict[str, str]:
    """The MTUs of the private interfaces."""
    return {name: value for name, value in environment.items() if name.endswith(" MTU")}


def mtus_of(environment: dict[str, str]) -> set[str]:
    """The different MTUs of the private interfaces."""
    return {*_mtus_by_name(environment).values()}


def _as_number(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (0, text)


def _packets(comparison: Comparison) -> Iterator[str]:
    """How many packets a block came in."""
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
            f"{when[0]} a block came in {metric.before.centre:.1f} packets, {when[1]} in {metric.after.centre:.1f}"
            " (messages not counted)."
        )


def _shift_advice(comparison: Comparison) -> str:
    load = any("load was not the same" in sentence for sentence in comparison.shifted)
    if load:
        return (
            "Run the same load at a fixed rate before and after, and record again. Where users wait for their answers, "
            "faster answers bring more load by themselves: then compare what the load generator measured (--also)."
        )
    return (
        "Look for what else changed (other work on the hosts, another path, power saving), and record again: before, "
        "before once more (--same), after, at the same hour and load."
    )


def _named(metrics: Sequence[Compared]) -> str:
    """The metrics that moved most, with how much."""
    ordered = sorted(metrics, key=_telling)
    told = [f"{m.name} {_moved(m)}" for m in ordered[:_NAMED]]
    return listed([*told, *([f"{len(metrics) - _NAMED} more"] if len(metrics) > _NAMED else [])])


def _moved(metric: Compared) -> str:
    """`+12 %`; what has no percentage is told as it is: `from 0 to 2,657 1/s`."""
    return change_of(metric) if metric.before.centre else f"from 0 to {with_unit(metric.after.centre, metric.unit)}"


def _telling(metric: Compared) -> float:
    """How early it is told: the largest change first."""
    return -abs(metric.change_percent) if metric.change_percent is not None else -1e9


def _rare(comparison: Comparison) -> Iterator[str]:
    """Losses and the like that are too few for a verdict: they come first, since nobody may miss them."""
    metrics = comparison.too_rare
    told = [f"{m.name} in {_share(m.before, ' stretches')} before, {_share(m.after)} after" for m in metrics[:_NAMED]]
    if told:
        more = [f"{len(metrics) - _NAMED} more"] if len(metrics) > _NAMED else []
        yield f"Too rare to tell whether the change did it: {'; '.join([*told, *more])}. Record for longer."


def _share(side: Side, of: str = "") -> str:
    """In how many of its stretches it was not 0."""
    return f"{len(side.values) - side.values.count(0.0)} of {len(side.values)}{of}"


def _noise(comparison: Comparison) -> Iterator[str]:
    """Which differences are noise: what one could otherwise be tempted to believe."""
    none = [m for m in comparison.having(ComparisonVerdict.NO_DIFFERENCE) if not m.is_still]
    loud = [m for m in none if m.change_percent is None or abs(m.change_percent) >= _LOUD_PERCENT]
    open_still = [m for m in loud if abs(m.change) > m.believed_from]
    noise = [m for m in loud if m not in open_still]
    if noise:
        yield f"Noise: {_named(noise)}."
    if open_still:
        yield f"Perhaps noise, the runs are too short or too uneven to tell: {_named(open_still)}."
    if none and not loud:
        yield f"{counted(len(none), 'other metric')} moved by less than {_LOUD_PERCENT:g} %: noise."
    if few := [m for m in comparison.having(ComparisonVerdict.TOO_FEW_SAMPLES) if m not in comparison.too_rare]:
        yield f"Too few samples for {_named_only(few)}."


def _named_only(metrics: Sequence[Compared]) -> str:
    names = [m.name for m in metrics[:_NAMED]]
    return listed([*names, *([f"{len(metrics) - _NAMED} more"] if len(metrics) > _NAMED else [])])
