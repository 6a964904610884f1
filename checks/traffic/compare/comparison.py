"""The result of a comparison as data, for the text, the JSON and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from checks.traffic.compare.run import Better
from checks.traffic.json_text import to_json_text

SCHEMA = "racwire-comparison/1"


class ComparisonVerdict(StrEnum):
    """The verdict on a metric: the run after the change compared with the run before."""

    WORSE = "worse"
    BETTER = "better"
    DIFFERS = "differs"
    """The metric differs by more than noise, and neither direction is better: an effect of the change, such as fewer
    packets."""
    NO_DIFFERENCE = "no difference"
    """No difference above the noise. This does not prove that there is none: `change_low` and `change_high` limit the
    possible size."""
    TOO_FEW_SAMPLES = "too few samples"
    """The run has too few samples or, where `p` is set, too few rare events: a difference is neither proven nor ruled
    out."""
    ENVIRONMENT_SHIFTED = "environment shifted"
    """A value that the change cannot affect differs as well, so the change may not be the cause of any difference."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A metric in one run."""

    centre: float
    """The median; the mean where `Compared.is_mean`."""
    low: float | None
    """The true median is between this value and `high`, with 95 % confidence; None where there are too few values."""
    high: float | None
    values: tuple[float, ...]
    """The value of each stretch, in order of time."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A metric in both runs."""

    name: str
    unit: str
    group: str
    better: Better
    is_control: bool
    note: str
    part_of: str
    """The name of the whole that this metric is a part of: `private in` for `rac1 private in`."""
    curve: str = ""
    """The curve over message sizes that this metric is a point of; empty for none."""
    size: int = 0
    """The message size in bytes, for a point of a curve."""
    before: Side
    after: Side
    same: Side | None
    """The metric in the second run before the change: its difference from `before` is the noise floor."""
    is_mean: bool
    """Whether means are compared: the medians are equal, but the values differ (losses in only a few stretches)."""
    change: float
    """The value after minus the value before."""
    change_percent: float | None
    """The change in percent of the value before; None where that is 0."""
    change_low: float | None
    """The shift is between this value and `change_high`, with 95 % confidence (Hodges and Lehmann)."""
    change_high: float | None
    p: float | None
    """The two-sided p of the Mann-Whitney test; None where there are too few values."""
    p_adjusted: float | None
    """The p adjusted for the number of metrics (Benjamini and Hochberg; controls separately)."""
    believed_from: float
    """The noise floor in the metric's unit: smaller changes count as noise."""
    verdict: ComparisonVerdict

    @property
    def is_still(self) -> bool:
        """Whether all values of both runs are equal."""
        return len({*self.before.values, *self.after.values}) == 1

    @property
    def is_rare(self) -> bool:
        """Whether lower is better and the metric is 0 in most stretches of one of the runs: losses."""
        sides = [self.before.values, self.after.values]
        return self.better is Better.LOWER and any(2 * values.count(0.0) >= len(values) for values in sides)


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a run that was compared."""

    kind: str
    name: str
    begun_at: str
    seconds: float | None
    environment: dict[str, str]
    warnings: tuple[str, ...]


class EnvironmentDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that differs between before and after."""

    name: str
    before: str
    after: str
    is_change: bool = False
    """Whether the fact is the change itself: an MTU."""
    is_load: bool = False
    """Whether the fact is a setting of the load."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs of one kind, and optionally a second run before the change."""

    before: RunFacts
    after: RunFacts
    same: RunFacts | None
    stretch_s: float | None
    """The seconds that a value covers; None where the other tool chose them."""
    differences: tuple[EnvironmentDifference, ...]
    metrics: tuple[Compared, ...]
    warnings: tuple[str, ...]
    """Reasons not to trust the comparison, one sentence each."""


class Shift(msgspec.Struct, frozen=True):
    """A value or a setting that differs although it must be equal."""

    what: str
    """Both values: `CPU went from 3 % to 9 %`."""
    is_load: bool
    """Whether the load was another one; else the change cannot be the cause of this difference."""

    @property
    def meaning(self) -> str:
        """What follows from it."""
        return "the load was not the same." if self.is_load else "the change cannot be the cause."

    @property
    def sentence(self) -> str:
        """Both values, and what follows."""
        return f"{self.what}: {self.meaning}"


class Week(msgspec.Struct, frozen=True):
    """The hour of a week before."""

    begun_at: str
    left_out: str = ""
    """Why it was not compared; empty where it was."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The whole result."""

    schema: str = SCHEMA
    pairs: tuple[Pair, ...]
    shifts: tuple[Shift, ...]
    """Values and settings that differ although they must be equal; then no other verdict exists."""
    summary: tuple[str, ...]
    """The result in sentences."""
    weeks: tuple[Week, ...] = ()
    """The hours of weeks before with which this hour was to be compared, the last week first; `pairs` has the first
    one that was."""

    @property
    def shifted(self) -> tuple[str, ...]:
        """The shifts, one sentence each, as in JSON."""
        return tuple(shift.sentence for shift in self.shifts)

    @property
    def metrics(self) -> tuple[Compared, ...]:
        """The metrics of all pairs."""
        return tuple(metric for pair in self.pairs for metric in pair.metrics)

    def having(self, verdict: ComparisonVerdict) -> tuple[Compared, ...]:
        """Return the metrics with a verdict, without controls, and without parts whose whole has the same verdict."""
        return tuple(
            m for pair in self.pairs for m in folded(pair.metrics) if m.verdict is verdict and not m.is_control
        )

    @property
    def too_rare(self) -> tuple[Compared, ...]:
        """Metrics such as losses that differ by more than noise but are too rare to know whether the change is the
        cause."""
        return tuple(m for m in self.having(ComparisonVerdict.TOO_FEW_SAMPLES) if m.p is not None and m.is_rare)

    @property
    def new_losses(self) -> tuple[Compared, ...]:
        """Metrics such as losses that are always 0 before and not after: important even if the environment shifted."""
        return tuple(
            m
            for pair in self.pairs
            for m in folded(pair.metrics)
            if m.better is Better.LOWER and not m.is_control and not any(m.before.values) and any(m.after.values)
        )

    @property
    def is_telling(self) -> bool:
        """Whether at least one metric has a verdict."""
        undecided = (ComparisonVerdict.TOO_FEW_SAMPLES, ComparisonVerdict.ENVIRONMENT_SHIFTED)
        return any(m.verdict not in undecided for m in self.metrics if not m.is_control)


def folded(metrics: Sequence[Compared]) -> list[Compared]:
    """Return the metrics without the parts that have the same verdict as their whole."""
    wholes = {metric.name: metric.verdict for metric in metrics}
    return [metric for metric in metrics if wholes.get(metric.part_of) is not metric.verdict]


def to_json(comparison: Comparison) -> bytes:
    """Return the comparison as indented JSON in UTF-8, with a final newline."""
    fields: tuple[str, ...] = ("schema", "pairs", "shifted", "summary")
    fields += ("weeks",) if comparison.weeks else ()
    return to_json_text({name: getattr(comparison, name) for name in fields}, indented=True) + b"\n"
