"""The private network against the public one, from the rounds of `measure rate --public`. Pure functions.

Both are sent the same, at the same step, one after the other. Where one carried everything, its limit is that of the
plan, and a ratio would be one of the plan's figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from checks.model.measured_rate import MeasuredRate, RateLimit, RateStep
from checks.model.measurement import MeasuredPath
from checks.traffic.compare.statistics import median_interval

_CARRIED = 0.97
"""The share of what was sent from which on a network carried it: idle paths differ by less. Ours."""


class Carried(StrEnum):
    """Which of the two networks carried all that was sent."""

    BOTH = "both"
    PRIVATE = "private"
    PUBLIC = "public"
    NEITHER = "neither"
    """Only then there is a ratio."""


@dataclass(frozen=True, slots=True)
class PublicRatio:
    """One protocol in one direction, at the largest step."""

    protocol: str
    is_towards_here: bool
    carried: Carried
    limit: RateLimit
    """What set the rate of the largest step."""
    cap_bps: float
    """Bits a second of payload that were sent."""
    private_bps: tuple[float, ...]
    public_bps: tuple[float, ...]
    """What arrived, by round."""

    @property
    def _ratios(self) -> list[float]:
        if self.carried is not Carried.NEITHER:
            return []
        return [here / there for here, there in zip(self.private_bps, self.public_bps, strict=True) if there > 0]

    @property
    def ratio(self) -> float | None:
        """Private by public, the median of the rounds; None where a network carried all that was sent."""
        return median(self._ratios) if self._ratios else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the ratio, with 95 % confidence; None with fewer than six rounds."""
        return median_interval(self._ratios)


def public_ratios(result: MeasuredRate, paths: Sequence[MeasuredPath]) -> Iterator[PublicRatio]:
    """Yield each protocol and direction that was measured on both networks. Empty without a public one."""
    public = next((number for number, path in enumerate(paths) if path.is_public), None)
    if public is None:
        return
    single = [step for step in result.steps if len(step.paths) == 1 and step.seconds > 0 and step.cap_bps]
    for protocol in ("tcp", "udp"):
        for is_back in (False, True):
            own = [step for step in single if (step.protocol, step.is_towards_here) == (protocol, is_back)]
            there = {step.round: step for step in _largest([step for step in own if step.paths[0] == public])}
            here = {step.round: step for step in _largest([step for step in own if step.paths[0] != public])}
            rounds = sorted(here.keys() & there.keys())
            if rounds:
                yield _ratio([here[number] for number in rounds], [there[number] for number in rounds])


def _largest(steps: Sequence[RateStep]) -> list[RateStep]:
    """Return the rounds of the largest step on the first of the paths."""
    most = max((step.cap_bps or 0.0 for step in steps), default=0.0)
    first = min((step.paths[0] for step in steps), default=0)
    return [step for step in steps if step.cap_bps == most and step.paths[0] == first]


def _ratio(private: Sequence[RateStep], public: Sequence[RateStep]) -> PublicRatio:
    private_all, public_all = (
        median(step.received_bps / (step.cap_bps or 1.0) for step in steps) >= _CARRIED for steps in (private, public)
    )
    first = private[0]
    return PublicRatio(
        first.protocol,
        first.is_towards_here,
        (Carried.BOTH if public_all else Carried.PRIVATE)
        if private_all
        else (Carried.PUBLIC if public_all else Carried.NEITHER),
        first.limit,
        first.cap_bps or 0.0,
        *(tuple(step.received_bps for step in steps) for steps in (private, public)),
    )
