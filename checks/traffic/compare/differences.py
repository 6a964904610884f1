"""Finds the differences of two runs that are no metrics, and other reasons not to compare the runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.model.wording import counted, few, listed
from checks.traffic.compare.comparison import Compared, EnvironmentDifference
from checks.traffic.compare.comparison_text import number
from checks.traffic.compare.environment import FEWEST, MTU
from checks.traffic.compare.recorded_run import KIND
from checks.traffic.compare.run import ComparedRun

SIZES = "measure sizes"
"""The kind of run that has curves over message sizes."""
_ASKS_FOR_LOAD = re.compile(r"\b(users|think time|streams|target rate|block size|protocol|direction)\b")
"""Facts of load generators that set the load."""
_UNEQUAL = 1.5
_USUAL_NOISE = 0.25
"""The difference of two runs without a change that racwire expects anyway, as `comparison_verdict` has it."""
_MOST_NOISE = 0.25
"""The share of a control by which two runs without any change may differ."""
_NAMED = 4


def environment_differences(before: ComparedRun, after: ComparedRun) -> tuple[EnvironmentDifference, ...]:
    """Return the facts known for both runs that differ: the change itself first, then the load, then the rest."""
    found = [
        EnvironmentDifference(
            name=name,
            before=value,
            after=after.environment[name],
            is_change=name.rsplit(" ", 1)[-1] == MTU,
            is_load=before.kind != KIND and _ASKS_FOR_LOAD.search(name) is not None,
        )
        for name, value in before.environment.items()
        if name in after.environment and after.environment[name] != value
    ]
    return tuple(sorted(found, key=lambda d: (not d.is_change, not d.is_load)))


def pair_warnings(before: ComparedRun, after: ComparedRun, same: ComparedRun | None) -> Iterator[str]:
    """Yield reasons not to trust the comparison, one sentence each."""
    runs = [("BEFORE", before), ("AFTER", after), *([("SAME", same)] if same else [])]
    for word, run in runs:
        yield from (f"{word}: {warning}" for warning in run.warnings)
        longest = max((len(metric.values) for metric in run.measured), default=0)
        if longest < FEWEST and not (run.warnings and not longest):
            yield (
                f"{word}: {counted(longest, 'value')} of each metric at most, and a verdict needs {FEWEST}"
                + (": record for longer." if run.kind == KIND else ": run it more often, or for longer.")
            )
    lasted = [run.seconds for _, run in runs if run.seconds]
    if lasted and max(lasted) > _UNEQUAL * min(lasted):
        yield f"The runs are of unequal length: {', '.join(f'{word} {_lasting(run)}' for word, run in runs)}."
    for one, other, where in ((before, after, "before"), (after, before, "after")):
        if missing := [m.name for m in one.measured if m.name not in {n.name for n in other.measured}]:
            yield f"Measured only {where} the change, so not compared: {few(missing, _NAMED)}."
        if unknown := [name for name in one.environment if name not in other.environment]:
            yield f"Known only {where} the change, so perhaps different: {few(unknown, _NAMED)}."
    if before.kind == KIND and not any(m.is_control for m in (*before.measured, *after.measured)):
        yield "These recordings contain no control: whether the environment shifted is not known."
    if before.kind == SIZES and not any(m.is_control for m in (*before.measured, *after.measured)):
        yield "Messages of 64 B, the control, were not measured: whether the environment shifted is not known."
    if same:
        if unlike := [difference.name for difference in environment_differences(before, same)]:
            yield (
                f"SAME and BEFORE had different conditions ({listed(unlike[:_NAMED])} "
                f"{'differs' if len(unlike) == 1 else 'differ'}): SAME does not measure the noise, so differences "
                "below 25 % count as noise."
            )
    elif any(len(metric.values) >= FEWEST for metric in before.measured):
        yield (
            "The difference of two runs without any change is not known, so differences below 25 % count as noise. "
            f"Before the change, {'record' if before.kind == KIND else 'run'} the same load twice, and name the second "
            "run with --same."
        )


def noise_warnings(metrics: Sequence[Compared]) -> Iterator[str]:
    """Yield a sentence for each control that differs much between the two runs before the change: high noise can hide
    real differences."""
    for metric in metrics:
        if metric.is_control and metric.same and metric.believed_from > _MOST_NOISE * abs(metric.before.centre):
            yield (
                f"BEFORE and SAME differ in {metric.name} ({number(metric.before.centre)} and "
                f"{number(metric.same.centre)} {metric.unit}), which the change cannot affect: the noise floor is high "
                "and can hide real differences."
            )


def factor_warnings(metrics: Sequence[Compared]) -> Iterator[str]:
    """Yield a sentence for each metric that sets the noise of others, where it differs by more than usual noise."""
    for metric in metrics:
        low, high = sorted((metric.before.centre, metric.after.centre))
        if low != high and high > (1 + _USUAL_NOISE) * low:
            yield (
                f"{metric.name} differs ({number(metric.before.centre)} and {number(metric.after.centre)} "
                f"{metric.unit}), which the change cannot cause: for larger messages, twice as much counts as noise."
            )


def _lasting(run: ComparedRun) -> str:
    return "for an unknown time" if run.seconds is None else f"{run.seconds:.0f} s"
