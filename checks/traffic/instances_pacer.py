"""The ticks of the instances' samples: the rules of the pace decide after each sample when the next one is due."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from checks.model.settings import TrafficSettings
from checks.rules.sampling_pace import PaceCause, PaceJudge, PaceVerdict, SampledRound, pairs_interval_s, set_interval_s
from checks.traffic.pace import Pace
from checks.traffic.samples import InstancesPace


class InstancesPacer:
    """The pace of the samples of the instances and of their pairs. Each change is emitted once, with its reason."""

    def __init__(
        self,
        settings: TrafficSettings,
        emit: Callable[[InstancesPace], None],
        *,
        phase_s: float = 0.0,
        samplers: Callable[[], int] = lambda: 1,
        clock: Callable[[], float] = time.monotonic,
        pace: Pace | None = None,
    ) -> None:
        """`samplers` returns how many racwires of this node sample instances; `clock` returns a monotonic time in
        seconds; `pace` has the ticks, by default those of that clock with the phase."""
        self._settings = settings
        self._emit = emit
        self._samplers = samplers
        self._clock = clock
        self._base_s = settings.interval_s
        self._judge = PaceJudge(settings)
        self._pace = pace or Pace(set_interval_s(settings) or settings.interval_s, phase_s=phase_s, clock=clock)
        self._verdict: PaceVerdict | None = None
        self._last: SampledRound | None = None

    @property
    def interval_s(self) -> float:
        """Seconds between two samples of the instances."""
        return self._pace.interval_s

    @property
    def pairs_interval_s(self) -> float:
        """Seconds between two samples of the pairs."""
        return pairs_interval_s(self._settings, self._base_s, self.interval_s)

    def ticks(self) -> AsyncIterator[None]:
        """Yield a tick for each sample, without end."""
        return self._pace.ticks()

    def change_base(self, seconds: float) -> None:
        """Adopt the interval that the operator wants; the instances' interval is never shorter."""
        self._base_s = seconds
        if self._last is None:
            self._pace.interval_s = set_interval_s(self._settings) or seconds
        else:
            self.take(self._last)

    def expect(self, instances: int) -> None:
        """Prepare for so many instances, before the first sample."""
        if self._last is None:
            self.take(SampledRound(instances, 0.0))

    def take(self, found: SampledRound) -> None:
        """Judge a sample: the interval changes at once, and a change of interval or cause is emitted."""
        found = replace(found, samplers=self._samplers())
        self._last = SampledRound(found.instances, 0.0, is_alone=found.is_alone)  # what a later change of base needs
        before = self._verdict
        verdict = self._verdict = self._judge.judge(found, self._base_s, self._clock())
        if verdict.interval_s != self._pace.interval_s:
            self._pace.interval_s = verdict.interval_s
        if before is None or _news(before) != _news(verdict):
            self._emit(
                InstancesPace(
                    at=time.time(),
                    interval_s=verdict.interval_s,
                    pairs_interval_s=self.pairs_interval_s,
                    cause=verdict.cause.value,
                    reason=verdict.reason,
                    returns_to_s=verdict.returns_to_s,
                )
            )


def _news(verdict: PaceVerdict) -> tuple[float, PaceCause, bool]:
    """What makes another verdict worth reporting: not each new figure in its reason."""
    return verdict.interval_s, verdict.cause, verdict.returns_to_s is not None
