"""Rules for the receive time of blocks: the averages of the statistics, compared with the waits of the same time.

Enterprise Manager's metric help (global cache block request time) warns at 1 cs and is critical at 2 cs. These limits
are from the time of 1 Gbit/s: where every private NIC is known to be faster, stricter ones apply.
"""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.facts import Activity, Cluster, InstanceActivity, Thresholds, Unknown
from checks.model.finding import Status
from checks.model.networks import nics_of
from checks.rules.cache_fusion import CR_RECEIVED, CURRENT_RECEIVED, average_cr_receive_ms, average_current_receive_ms
from checks.rules.lost_blocks import received_few
from checks.rules.waits import average_ms, beyond, buckets, for_blocks

_IMPOSSIBLE_MS = 1000.0
"""An average above this is checked against the waits: sources differ about the unit of `gc ... block receive time`
(centiseconds in Statspack's sprepins.sql, microseconds printed by AWR). Ours."""


_FAST_MBPS = 10_000
_DEFAULTS = Thresholds()


@dataclass(frozen=True)
class ReceiveLimits:
    """The limits of the receive time that apply to a cluster, and why these."""

    thresholds: Thresholds
    warn_ms: float
    fail_ms: float
    why_warn: str
    """The reason for `warn_ms` as a clause: `every private NIC runs at 10 Gbit/s or more`."""
    why_fail: str


def receive_limits(cluster: Cluster) -> ReceiveLimits:
    """Return the limits for a cluster: the stricter ones only where the speed of every private NIC is known and high. A
    limit that the operator has changed applies at every speed."""
    limits, why_not_fast = cluster.thresholds, _why_not_fast(cluster)
    warn_ms, why_warn = _limit(limits, "receive_warn_ms", "receive_fast_warn_ms", why_not_fast)
    fail_ms, why_fail = _limit(limits, "receive_fail_ms", "receive_fast_fail_ms", why_not_fast)
    if fail_ms < warn_ms:  # one of them was changed, and lies beyond the default of the other one
        if limits.receive_warn_ms == _DEFAULTS.receive_warn_ms:
            warn_ms, why_warn = fail_ms, why_fail
        else:
            fail_ms, why_fail = max(limits.receive_fail_ms, warn_ms), why_warn
    return ReceiveLimits(limits, warn_ms, fail_ms, why_warn, why_fail)


def _limit(limits: Thresholds, usual: str, fast: str, why_not_fast: str) -> tuple[float, str]:
    """Return the limit and the reason for it, from the names of its settings."""
    usual_ms, fast_ms = getattr(limits, usual), getattr(limits, fast)
    if usual_ms != getattr(_DEFAULTS, usual) and fast_ms == getattr(_DEFAULTS, fast):
        return usual_ms, f"{usual} is {usual_ms:g} in the settings"
    return (usual_ms, why_not_fast) if why_not_fast else (fast_ms, "every private NIC runs at 10 Gbit/s or more")


def _why_not_fast(cluster: Cluster) -> str:
    """Return which private NIC is not known to run at 10 Gbit/s or more; empty where all are."""
    if isinstance(cluster.networks, Unknown):
        return "the speeds of the private NICs are not known"
    if unread := cluster.unread_nodes():
        return f"the speeds of the private NICs of {unread[0].name} are not known"
    ports = [port for network in cluster.networks for port in network.ports]
    nics = {(port.node, name) for port in ports for name in nics_of(cluster, port)}
    is_known = False
    for node_name, name in sorted(nics):
        node = cluster.node(node_name)
        nic = node.interface(name) if node else None
        if nic is None or not isinstance(nic.speed_mbps, int) or nic.speed_mbps <= 0:
            if nic is not None and not nic.is_up:
                continue  # a NIC without a link carries no blocks
            return f"the speed of {name} of {node_name} is not known"
        if nic.speed_mbps < _FAST_MBPS:
            return f"{name} of {node_name} runs at {nic.speed_mbps:,} Mbit/s"
        is_known = True
    return "" if is_known else "the speeds of the private NICs are not known"


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


def judge_time(times: BlockTimes, waits_known: bool, limits: ReceiveLimits) -> Status | None:
    """Return the status of one average; None where too few blocks arrived for a verdict.

    UNKNOWN for an implausible time: a second for a block is possible only where sessions waited as long.
    """
    average = times.average_ms
    if average is None or 2 * times.blocks < limits.thresholds.few_blocks:
        return None
    if waits_known and average > _IMPOSSIBLE_MS and (times.waited_ms or 0.0) <= limits.fail_ms:
        return Status.UNKNOWN
    if average <= limits.warn_ms:
        return Status.PASS
    return Status.FAIL if average > limits.fail_ms else Status.WARN


def judge_times(times: ReceiveTimes, waits_known: bool, limits: ReceiveLimits) -> tuple[Status | None, Status | None]:
    """Return the statuses of the averages of CR and current blocks; None for both where too few were received."""
    if times.blocks is None or received_few(times.blocks, limits.thresholds):
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


def verdict_on(times: ReceiveTimes, waits_known: bool, limits: ReceiveLimits) -> TimeVerdict:
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
    late, late_us = beyond(histogram, limits.fail_ms * 1000)
    few, most_percent = limits.thresholds.few_blocks, limits.thresholds.receive_tail_warn_percent
    if total < few or 100 * late <= most_percent * total:
        late = 0
    return TimeVerdict(times, (), (), Status.WARN if late else Status.PASS, late, late_us)


def histogram_of(own: InstanceActivity) -> list[tuple[int, int]]:
    """Return the waits for blocks of both kinds by the upper limit of their bucket in microseconds."""
    return buckets([*for_blocks(own, "cr"), *for_blocks(own, "current")])


def past_time_status(average_ms: float | None, limits: ReceiveLimits) -> Status | None:
    """Return the status of an average in the history: INFO where it was slow, UNKNOWN where it is implausible, None
    where it was good or is not known."""
    if average_ms is None or average_ms <= limits.warn_ms:
        return None
    return Status.UNKNOWN if average_ms > _IMPOSSIBLE_MS else Status.INFO


def is_unusual(average_ms: float, *limits: Thresholds) -> bool:
    """Return whether an average is longer than usual on 10 Gbit/s, by the strictest of these limits."""
    return average_ms > min(one.receive_attention_ms for one in limits)


def usual_text(limits: ReceiveLimits) -> str:
    """Return `Under 10 ms, because eth1 of rac1 runs at 1,000 Mbit/s; on 10 Gbit/s under 1 ms is usual`."""
    return f"{good_text(limits)}; on 10 Gbit/s under {limits.thresholds.receive_attention_ms:g} ms is usual"


def unusual_text(limits: ReceiveLimits) -> str:
    """Return the remark on an average that is good and still longer than usual."""
    return f"over {limits.thresholds.receive_attention_ms:g} ms: more than usual on 10 Gbit/s, and worth watching"


def good_text(limits: ReceiveLimits) -> str:
    """Return `Under 10 ms, because eth1 of rac1 runs at 1,000 Mbit/s`."""
    return f"Under {limits.warn_ms:g} ms, because {limits.why_warn}"


def tail_text(limits: ReceiveLimits) -> str:
    """Return `2 % at most over 20 ms, because eth1 of rac1 runs at 1,000 Mbit/s`."""
    most_percent = limits.thresholds.receive_tail_warn_percent
    return f"{most_percent:g} % at most over {limits.fail_ms:g} ms, because {limits.why_fail}"
