"""Rules for the pace of live samples of the instances: how often racwire sends GV$ statements, and why not more often.

A GV$ statement occupies a parallel query (PX) slave, PZ99 and lower, on each instance, and the rows cross the
interconnect. So the interval between two samples grows with the number of instances, and grows further while the
interconnect or an instance is in trouble. Statements on V$ views of the connected instance use no slave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from checks.model.settings import TrafficSettings

PX_PER_S = 6.0
"""The most PX slaves a second that live samples occupy on all instances together, while nothing is in trouble; of all
racwires of a node together. Ours."""

_SHARE = 0.25
"""The most of the interval that one GV$ statement may take. A longer one also makes the rates imprecise. Ours."""
_STOPPED, _LOST, _AGAIN = 4.0, 2.0, 8.0
"""The factors of the interval: an instance stopped answering; blocks are lost; GV$ answers again after a hang. Ours."""
_CALM_S = 60.0
"""Seconds without trouble after which the longer interval is halved. Ours."""
_LONGEST_S = 60.0
_STEPS_S = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, _LONGEST_S)
_SIZES = (2, 4, 8, 16)
"""The numbers of instances that `pace_text` has as examples."""


class PaceCause(StrEnum):
    """Why instances are sampled less often than nodes, or at another interval."""

    NONE = ""
    SET = "set"
    SIZE = "instances"
    COMPANY = "racwires"
    SLOW = "slow"
    STOPPED = "stopped"
    LOST = "lost"
    AGAIN = "again"
    ALONE = "alone"


@dataclass(frozen=True)
class SampledRound:
    """The results of the statements of one sample."""

    instances: int
    """How many instances answered."""
    statement_s: float
    """The time of the slowest statement, in seconds."""
    lost_blocks: int = 0
    has_stopped: bool = False
    """Whether an instance of the previous sample did not answer."""
    is_alone: bool = False
    """Whether only V$ views of the connected instance were queried."""
    samplers: int = 1
    """How many racwires of this node sample instances: they share the budget."""


@dataclass(frozen=True)
class PaceVerdict:
    """The interval until the next sample."""

    interval_s: float
    cause: PaceCause = PaceCause.NONE
    reason: str = ""
    returns_to_s: float | None = None
    """The interval to which it returns slowly, once the cause is over; None while the cause lasts."""


def set_interval_s(settings: TrafficSettings) -> float:
    """Return the interval that the operator set, at least 1 s; 0 where racwire adapts the interval."""
    return max(settings.instances_interval_s, 1.0) if settings.instances_interval_s else 0.0


def usual_interval_s(settings: TrafficSettings, base_s: float, instances: int, samplers: int = 1) -> float:
    """Return the shortest interval, of at least `base_s` seconds, with which so many racwires together do not exceed
    the budget of PX slaves."""
    slaves = statements_a_sample(settings, base_s) * instances * samplers
    return max(base_s, min(_step(slaves / PX_PER_S), _LONGEST_S))


def statements_a_sample(settings: TrafficSettings, base_s: float) -> float:
    """Return the mean number of GV$ statements with each sample: one for statistics with each, two for pairs and two
    for messages with some of them."""
    samples = samples_a_pair(settings, base_s)
    return 1 + (2 + min(2, samples)) / samples


def samples_a_pair(settings: TrafficSettings, base_s: float) -> int:
    """Return the number of samples of the instances for each sample of their pairs."""
    return max(1, round(settings.pairs_interval_s / base_s))


def pairs_interval_s(settings: TrafficSettings, base_s: float, interval_s: float) -> float:
    """Return the seconds between two samples of the pairs, which slow down with those of the instances."""
    slowed = samples_a_pair(settings, base_s) * interval_s
    return max(settings.pairs_interval_s, min(slowed, _LONGEST_S))


def pace_text(settings: TrafficSettings) -> str:
    """Return the interval of the statements with each sample: `every 1 s with 2 or 4 instances, ...`."""
    if set_s := set_interval_s(settings):
        return f"every {set_s:g} s, as traffic.instances_interval_s has it"
    by_interval: dict[float, list[str]] = {}
    for size in _SIZES:
        by_interval.setdefault(usual_interval_s(settings, settings.interval_s, size), []).append(str(size))
    intervals = (f"{interval:g} s with {' or '.join(sizes)}" for interval, sizes in by_interval.items())
    return f"every {', '.join(intervals)} instances; less often while an instance or the interconnect is in trouble"


class PaceJudge:
    """Judges the results of each sample, and remembers the trouble from which the pace returns slowly."""

    def __init__(self, settings: TrafficSettings) -> None:
        self._settings = settings
        self._slowed: PaceVerdict | None = None
        self._since_s = 0.0
        self._was_alone = False

    def judge(self, found: SampledRound, base_s: float, now_s: float) -> PaceVerdict:
        """Return the interval until the next sample. `base_s` is the interval that the operator wants."""
        usual_s = usual_interval_s(self._settings, base_s, found.instances, found.samplers)
        if set_s := set_interval_s(self._settings):
            return PaceVerdict(set_s, PaceCause.SET, "as traffic.instances_interval_s has it")
        if found.is_alone:
            self._was_alone = True
            return PaceVerdict(base_s, PaceCause.ALONE, "only V$ of one instance, without PX slaves")
        worst = self._worst(found, usual_s)
        self._was_alone = False
        self._remember(worst, usual_s, now_s)
        slowed = self._slowed
        if slowed is None or slowed.interval_s <= usual_s:
            self._slowed = None
            if usual_s > base_s and found.samplers > 1:
                reason = f"{found.instances} instances, sampled by {found.samplers} racwires"
                return PaceVerdict(usual_s, PaceCause.COMPANY, reason)
            if usual_s > base_s:
                return PaceVerdict(usual_s, PaceCause.SIZE, f"{found.instances} instances")
            return PaceVerdict(base_s)
        if worst is not None and worst.interval_s >= slowed.interval_s:
            return slowed
        return replace(slowed, returns_to_s=worst.interval_s if worst else usual_s)

    def _worst(self, found: SampledRound, usual_s: float) -> PaceVerdict | None:
        """The longest interval that a present trouble needs; None without trouble."""
        troubles = []
        if found.statement_s > _SHARE * usual_s:
            took = f"GV$ took {found.statement_s:.1f} s"
            troubles.append(PaceVerdict(_step(found.statement_s / _SHARE), PaceCause.SLOW, took))
        if found.has_stopped:
            troubles.append(PaceVerdict(_step(_STOPPED * usual_s), PaceCause.STOPPED, "an instance stopped answering"))
        if self._was_alone:
            troubles.append(PaceVerdict(_step(_AGAIN * usual_s), PaceCause.AGAIN, "GV$ did not answer for a while"))
        if found.lost_blocks > 0:
            troubles.append(PaceVerdict(_step(_LOST * usual_s), PaceCause.LOST, "blocks are lost"))
        return max((t for t in troubles if t.interval_s > usual_s), key=lambda t: t.interval_s, default=None)

    def _remember(self, worst: PaceVerdict | None, usual_s: float, now_s: float) -> None:
        slowed = self._slowed
        if worst is not None and (slowed is None or worst.interval_s >= slowed.interval_s):
            self._slowed, self._since_s = worst, now_s
        elif slowed is not None and now_s - self._since_s >= _CALM_S:
            shorter = replace(slowed, interval_s=max(_step(slowed.interval_s / 2), usual_s))
            self._slowed = worst if worst is not None and worst.interval_s >= shorter.interval_s else shorter
            self._since_s = now_s


def _step(seconds: float) -> float:
    """The shortest usual interval that is not shorter."""
    return next((step for step in _STEPS_S if step >= seconds - 1e-9), _LONGEST_S)
