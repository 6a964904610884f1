"""Rules for the receive time of blocks: the averages of the statistics, compared with the waits of the same time.

Enterprise Manager's metric help (global cache block request time) warns at 1 cs and is critical at 2 cs.
"""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import Activity, InstanceActivity, Thresholds
from checks.model.finding import Status
from checks.rules.cache_fusion import (
    CR_RECEIVED,
    CURRENT_RECEIVED,
    average_cr_receive_ms,
    average_current_receive_ms,
)
from checks.rules.lost_blocks import received_few
from checks.rules.waits import average_ms, beyond, buckets, for_blocks

_IMPOSSIBLE_MS = 1000.0
"""An average above this is checked against the waits: sources differ about the unit of `gc ... block receive time`
(centiseconds in Statspack's sprepins.sql, microseconds printed by AWR). Ours."""


@dataclass(frozen=True)
class BlockTimes:
    """The times of blocks of one kind at one instance."""

    label: str
    blocks: int
    average_ms: float | None
    waited_ms: float | None
    """The average wait for these blocks, where sessions waited."""


@dataclass(frozen=True)
class ReceiveTimes:
    """The receive times of one instance in the interval."""

    own: InstanceActivity
    kinds: tuple[BlockTimes, BlockTimes]
    """CR blocks and current blocks."""
    blocks: int | None
    """Blocks received of both kinds; None where the statistic was not read."""


def times_of(own: InstanceActivity) -> ReceiveTimes:
    """Return the averages from the difference of two samples."""
    counts = (own.statistics.get(CR_RECEIVED), own.statistics.get(CURRENT_RECEIVED))
    averages = (average_cr_receive_ms(own.statistics), average_current_receive_ms(own.statistics))
    waited = (average_ms(for_blocks(own, "cr")), average_ms(for_blocks(own, "current")))
    return ReceiveTimes(
        own,
        (
            BlockTimes("CR", counts[0] or 0, averages[0], waited[0]),
            BlockTimes("current", counts[1] or 0, averages[1], waited[1]),
        ),
        None if None in (*counts,) else max(0, sum(c for c in counts if c)),
    )


def waits_are_known(activity: Activity) -> bool:
    """Return whether the waits of the instances could be read."""
    return activity.why_unread("GV$SYSTEM_EVENT") is None


def judge_time(times: BlockTimes, waits_known: bool, limits: Thresholds) -> Status | None:
    """Return the status of one average; None where too few blocks arrived for a verdict.

    UNKNOWN for an implausible time: a second for a block is possible only where sessions waited as long.
    """
    average = times.average_ms
    if average is None or 2 * times.blocks < limits.few_blocks:
        return None
    if waits_known and average > _IMPOSSIBLE_MS and (times.waited_ms or 0.0) <= limits.receive_fail_ms:
        return Status.UNKNOWN
    if average <= limits.receive_warn_ms:
        return Status.PASS
    return Status.FAIL if average > limits.receive_fail_ms else Status.WARN


def judge_times(times: ReceiveTimes, waits_known: bool, limits: Thresholds) -> tuple[Status | None, Status | None]:
    """Return the statuses of the averages of CR and current blocks; None for both where too few were received."""
    if times.blocks is None or received_few(times.blocks, limits):
        return None, None
    cr, current = times.kinds
    return judge_time(cr, waits_known, limits), judge_time(current, waits_known, limits)


@dataclass(frozen=True)
class TimeVerdict:
    """The faults in the times of one instance; none where all fields are empty."""

    times: ReceiveTimes
    doubtful: tuple[BlockTimes, ...]
    slow: tuple[BlockTimes, ...]
    status: Status
    """The status of the slow averages, else of the late waits; PASS where there are none."""
    late: int = 0
    """The number of waits longer than `late_us`, where the average is good and there are too many of them."""
    late_us: float = 0.0

    @property
    def is_fine(self) -> bool:
        """Whether there is no fault."""
        return not (self.doubtful or self.slow or self.late)

    @property
    def worst_ms(self) -> float:
        """The longest of the slow averages."""
        return max((k.average_ms or 0.0 for k in self.slow), default=0.0)


def verdict_on(times: ReceiveTimes, waits_known: bool, limits: Thresholds) -> TimeVerdict:
    """Judge one instance that received enough blocks: its averages, then the tail behind good ones."""
    judged = list(zip(times.kinds, judge_times(times, waits_known, limits), strict=True))
    doubtful = tuple(kind for kind, status in judged if status is Status.UNKNOWN)
    slow = tuple(kind for kind, status in judged if status in (Status.WARN, Status.FAIL))
    if doubtful or slow:
        failing = any(status is Status.FAIL for _, status in judged)
        status = Status.FAIL if failing else Status.WARN if slow else Status.PASS
        return TimeVerdict(times, doubtful, slow, status)
    histogram = histogram_of(times.own)
    total = sum(waits for _, waits in histogram)
    late, late_us = beyond(histogram, limits.receive_fail_ms * 1000)
    if total < limits.few_blocks or 100 * late <= limits.receive_tail_warn_percent * total:
        late = 0
    return TimeVerdict(times, (), (), Status.WARN if late else Status.PASS, late, late_us)


def histogram_of(own: InstanceActivity) -> list[tuple[int, int]]:
    """Return the waits for blocks of both kinds by the upper limit of their bucket in microseconds."""
    return buckets([*for_blocks(own, "cr"), *for_blocks(own, "current")])


def past_time_status(average_ms: float | None, limits: Thresholds) -> Status | None:
    """Return the status of an average in the history: INFO where it was slow, UNKNOWN where it is implausible, None
    where it was good or is not known."""
    if average_ms is None or average_ms <= limits.receive_warn_ms:
        return None
    return Status.UNKNOWN if average_ms > _IMPOSSIBLE_MS else Status.INFO


def is_unusual(average_ms: float, *limits: Thresholds) -> bool:
    """Return whether an average is longer than usual on 10 Gbit/s, by the strictest of these limits."""
    return average_ms > min(one.receive_attention_ms for one in limits)


def usual_text(limits: Thresholds) -> str:
    """Return `Under 10 ms; on 10 Gbit/s under 1 ms is usual`."""
    return f"{good_text(limits)}; on 10 Gbit/s under {limits.receive_attention_ms:g} ms is usual"


def unusual_text(limits: Thresholds) -> str:
    """Return the remark on an average that is good and still longer than usual."""
    return f"over {limits.receive_attention_ms:g} ms: more than usual on 10 Gbit/s, and worth watching"


def good_text(limits: Thresholds) -> str:
    """Return `Under 10 ms`."""
    return f"Under {limits.receive_warn_ms:g} ms"


def tail_text(limits: Thresholds) -> str:
    """Return `2 % at most`."""
    return f"{limits.receive_tail_warn_percent:g} % at most"
