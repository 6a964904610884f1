"""The result of a comparison as data: what is shown as text, written as JSON and drawn as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from checks.traffic.compare.run import Better
from checks.traffic.json_text import to_json_text

SCHEMA = "racwire-comparison/1"


class ComparisonVerdict(StrEnum):
    """What can be said of a metric after the change against before it."""

    WORSE = "worse"
    BETTER = "better"
    DIFFERS = "differs"
    """It differs by more than noise, and neither way is better: what the change itself does, such as fewer packets."""
    NO_DIFFERENCE = "no difference"
    """None that is more than noise. It is no proof that there is none: `change_low` and `change_high` tell how large
    one could be."""
    TOO_FEW_SAMPLES = "too few samples"
    """Of the run, or, where there is a `p`, of what is rare: a difference is neither proven nor ruled out."""
    ENVIRONMENT_SHIFTED = "environment shifted"
    """What the change cannot have touched moved as well, so nothing can be blamed on the change."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A metric in one run."""

    centre: float
    """The median; the mean where `Compared.is_mean`."""
    low: float | None
    """From here to `high` the true median lies, with 95 % confidence; None where the values are too few for that."""
    high: float | None
    values: tuple[float, ...]
    """Of each stretch, in order of time."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A metric in both runs."""

    name: str
    unit: str
    group: str
    better: Better
    is_control: bool
    note: str
    part_of: str
    """The name of the metric that this is a part of: of `rac1 private in`, `private in`."""
    before: Side
    after: Side
    same: Side | None
    """In the second run before the change: what it differs from `before` by is the noise floor."""
    is_mean: bool
    """Whether means are compared: the medians are equal, and the values are not (losses in a few stretches only)."""
    change: float
    """After less before."""
    change_percent: float | None
    """Of before; None where that is 0."""
    change_low: float | None
    """From here to `change_high` the shift lies, with 95 % confidence (Hodges and Lehmann)."""
    change_high: float | None
    p: float | None
    """Of the test of Mann and Whitney, two-sided; None where the values are too few."""
    p_adjusted: float | None
    """As it counts among all metrics (Benjamini and Hochberg; controls among themselves)."""
    believed_from: float
    """The size of change below which it is taken for noise, in the metric's unit."""
    verdict: ComparisonVerdict

    @property
    def is_still(self) -> bool:
        """Whether it was nothing but one and the same value in both runs."""
        return len({*self.before.values, *self.after.values}) == 1

    @property
    def is_rare(self) -> bool:
        """Whether it is something that should not be, and is not, in most stretches of one of the runs: losses."""
        sides = [self.before.values, self.after.values]
        return self.better is Better.LOWER and any(2 * values.count(0.0) >= len(values) for values in sides)


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was compared."""

    kind: str
    name: str
    begun_at: str
    seconds: float | None
    environment: dict[str, str]
    warnings: tuple[str, ...]


class EnvironmentDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that is not the same before and after."""

    name: str
    before: str
    after: str
    is_change: bool = False
    """Whether it is the change itself: an MTU."""
    is_load: bool = False
    """Whether it says how much load was asked for."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs of one kind, and where there is one, a second run before the change."""

    before: RunFacts
    after: RunFacts
    same: RunFacts | None
    stretch_s: float | None
    """How long a value's time is; None where the tool decided that."""
    differences: tuple[EnvironmentDifference, ...]
    metrics: tuple[Compared, ...]
    warnings: tuple[str, ...]
    """What speaks against trusting it, a sentence each."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    schema: str = SCHEMA
    pairs: tuple[Pair, ...]
    shifted: tuple[str, ...]
    """What moved that should not have, a sentence each; then there is no other verdict."""
    summary: tuple[str, ...]
    """What happened, in plain words."""

    @property
    def metrics(self) -> tuple[Compared, ...]:
        """Those of all pairs."""
        return tuple(metric for pair in self.pairs for metric in pair.metrics)

    def having(self, verdict: ComparisonVerdict) -> tuple[Compared, ...]:
        """The metrics with that verdict; controls are left out, and so are parts where the whole has it too."""
        return tuple(
            m for pair in self.pairs for m in folded(pair.metrics) if m.verdict is verdict and not m.is_control
        )

    @property
    def too_rare(self) -> tuple[Compared, ...]:
        """What should not be, differs by more than noise, and is too rare for telling whether the change did it."""
        return tuple(m for m in self.having(ComparisonVerdict.TOO_FEW_SAMPLES) if m.p is not None and m.is_rare)

    @property
    def new_losses(self) -> tuple[Compared, ...]:
        """What should not be, was not before at all, and is after: worth a look whatever else shifted."""
        return tuple(
            m
            for pair in self.pairs
            for m in folded(pair.metrics)
            if m.better is Better.LOWER and not m.is_control and not any(m.before.values) and any(m.after.values)
        )

    @property
    def is_telling(self) -> bool:
        """Whether anything at all could be told."""
        untold = (ComparisonVerdict.TOO_FEW_SAMPLES, ComparisonVerdict.ENVIRONMENT_SHIFTED)
        return any(m.verdict not in untold for m in self.metrics if not m.is_control)


def folded(metrics: Sequence[Compared]) -> list[Compared]:
    """Without the parts of which nothing else can be said than of their whole: one node as all nodes."""
    wholes = {metric.name: metric.verdict for metric in metrics}
    return [metric for metric in metrics if wholes.get(metric.part_of) is not metric.verdict]


def to_json(comparison: Comparison) -> bytes:
    """As indented JSON with a final newline, in UTF-8."""
    return to_json_text(comparison, indented=True) + b"\n"
