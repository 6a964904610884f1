"""The measurements that `racwire compare` finds in two recordings, and those that one of them lacks."""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.measurement import Measurement
from checks.model.measurement_command import command_again
from checks.report.age import time_text
from checks.report.measured.fit import difference_text
from checks.rules.measured_moment import Moment, chosen, misfit
from checks.traffic.compare.comparison_verdict import Runs


@dataclass(frozen=True)
class ResultsOf:
    """The results of measurements in one file, and the moment of its compared part."""

    name: str
    measurements: tuple[Measurement, ...]
    moment: Moment

    def of_kinds(self) -> dict[str, tuple[Measurement, bool]]:
        """Return one of each kind, and whether it belongs to the compared part."""
        return {one.kind: (one, misfit(one, self.moment) is None) for one in chosen(self.measurements, self.moment)}


def measured_pairs(before: ResultsOf, after: ResultsOf) -> tuple[list[Runs], list[str]]:
    """Return the results to compare: of each kind those that belong to their recordings, where they are not the same.
    With them a sentence for each result that one of the recordings lacks."""
    from checks.traffic.imports.measurement_result import run_of

    pairs, missing = [], []
    first, second = before.of_kinds(), after.of_kinds()
    for kind in dict.fromkeys((*first, *second)):
        (one, has_one), (other, has_other) = first.get(kind, _NONE), second.get(kind, _NONE)
        if one == other and has_one is has_other:
            continue
        if one is not None and other is not None and has_one and has_other:
            pairs.append(Runs(run_of(one, f"in {before.name}"), run_of(other, f"in {after.name}")))
        missing += [] if has_one else [_missing(before, one, other)]
        missing += [] if has_other else [_missing(after, other, one)]
    return pairs, missing


_NONE: tuple[Measurement | None, bool] = None, False


def _missing(side: ResultsOf, own: Measurement | None, of_other: Measurement | None) -> str:
    """Return what a recording lacks, why what it has does not count, and the command that measures it."""
    wanted = of_other or own
    assert wanted is not None
    why = misfit(own, side.moment) if own is not None else None
    has = (
        f" That of {time_text(own.started_at)} is not of its time: {difference_text(why, 'in it')}."
        if own and why
        else ""
    )
    return (
        f"Not compared: {side.name} has no measurement {wanted.kind}.{has} Record it again, and meanwhile, or within "
        f"the hour before, measure on {wanted.node}: `{command_again(wanted)}`"
    )
