"""Blocks that take long to arrive, times that cannot be right, and slow blocks behind a good average."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Activity, Cluster, release
from checks.model.finding import Finding, Remedy, Status
from checks.model.instance_facts import database_of, instance_name, nodes_of
from checks.model.wording import counted, listed
from checks.plugins.gc_receive_time.receive_times import (
    BlockTimes,
    ReceiveTimes,
    histogram_of,
    tail_lines,
    time_lines,
    top_lines,
    traffic_lines,
)
from checks.plugins.gc_receive_time.time_kinds import DOUBTFUL, SLOW, TAIL
from checks.plugins.shared.grouping import MOST_LINES, alike, briefly, named, some
from checks.plugins.shared.instance_words import milliseconds, percent, span, sql
from checks.rules.waits import beyond

STATEMENTS = ("sysstat", "system_event")
_IMPOSSIBLE_MS = 1000.0
"""Above it an average is held against the waits before it is believed: the unit of `gc ... block receive time` is told
differently from place to place (centiseconds in Statspack's sprepins.sql, microseconds printed by AWR). Ours."""
_MICROSECONDS_FROM = (12, 1, 0, 2)
"""The release that brought V$EVENT_HISTOGRAM_MICRO (Database Reference 12.1)."""


@dataclass(frozen=True)
class TimeVerdict:
    """What is wrong with the times of one instance; nothing where all is empty."""

    times: ReceiveTimes
    doubtful: tuple[BlockTimes, ...]
    slow: tuple[BlockTimes, ...]
    late: int = 0
    """Waits that took longer than `late_us`, where the average is good and they are too many."""
    late_us: float = 0.0

    @property
    def is_fine(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.doubtful or self.slow or self.late)

    @property
    def worst_ms(self) -> float:
        """The longest average of those that are too long."""
        return max((k.average_ms or 0.0 for k in self.slow), default=0.0)


def verdict_on(cluster: Cluster, activity: Activity, times: ReceiveTimes) -> TimeVerdict:
    """Judge one instance that received enough blocks."""
    limits = cluster.thresholds
    waits_known = activity.why_unread("GV$SYSTEM_EVENT") is None
    enough = [k for k in times.kinds if k.average_ms is not None and 2 * k.blocks >= limits.few_blocks]
    doubtful = [k for k in enough if waits_known and _is_doubtful(k, limits.receive_fail_ms)]
    slow = [k for k in enough if k not in doubtful and (k.average_ms or 0) > limits.receive_warn_ms]
    if doubtful or slow:
        return TimeVerdict(times, tuple(doubtful), tuple(slow))
    histogram = histogram_of(times.own)
    total = sum(waits for _, waits in histogram)
    late, late_us = beyond(histogram, limits.receive_fail_ms * 1000)
    if total < limits.few_blocks or 100 * late <= limits.receive_tail_warn_percent * total:
        late = 0
    return TimeVerdict(times, (), (), late, late_us)


def _is_doubtful(kind: BlockTimes, fail_ms: float) -> bool:
    """A second for a block is possible only where sessions waited as long."""
    return (kind.average_ms or 0.0) > _IMPOSSIBLE_MS and (kind.waited_ms or 0.0) <= fail_ms


def time_faults(cluster: Cluster, verdicts: Sequence[TimeVerdict]) -> Iterator[Finding]:
    """What is wrong, one finding for all instances with which the same is wrong, as grave as with the worst of them."""
    if doubtful := [v for v in verdicts if v.doubtful]:
        yield _doubtful(cluster, doubtful)
    if slow := [v for v in verdicts if v.slow]:
        yield _slow(cluster, slow)
    for same in alike([v for v in verdicts if v.late], lambda v: v.late_us):
        yield _tail(cluster, same)


def _slow(cluster: Cluster, same: Sequence[TimeVerdict]) -> Finding:
    limits, names = cluster.thresholds, _names(cluster, same)
    worst = sorted(same, key=lambda v: -v.worst_ms)
    what = listed(f"{milliseconds(k.average_ms or 0.0)} for {k.word} blocks" for k in same[0].slow)
    what = what if len(same) == 1 else f"up to {milliseconds(worst[0].worst_ms)}"
    lines = [
        [*time_lines(cluster, v.times), *tail_lines(cluster, v.times), *_waits_lines(cluster, v, len(same))]
        for v in worst
    ]
    return SLOW.finding(
        Status.FAIL if worst[0].worst_ms > limits.receive_fail_ms else Status.WARN,
        f"Blocks take long to arrive at {named(names, 'instance')}: {what}, on average of {_time(same)}.",
        subject=f"{briefly(names, 'instance')}: {milliseconds(worst[0].worst_ms)}",
        seen=(
            *some([line for own in lines for line in own], 2 * MOST_LINES),
            *some(traffic_lines(cluster, [v.times.own for v in worst])),
        ),
        expected=(
            f"Under {limits.receive_warn_ms:g} ms; on 10 Gbit/s under {limits.receive_attention_ms:g} ms is usual",
        ),
        next=[
            Remedy(
                "See first whether blocks or packets get lost: one that is sent again takes longest.",
                ("racwire check gc-blocks-lost df-ping reassembly",),
            ),
            Remedy(
                "See whether the network itself is slow, or the instances that serve the blocks.",
                ("racwire check instance-ping",),
            ),
            Remedy(
                "Look at the CPUs of the nodes and at the class of the LMS processes.",
                ("mpstat -P ALL 1 5", "ps -eo cls,rtprio,pcpu,comm | grep lms"),
                "root on each node",
            ),
        ],
        evidence=sql(cluster, *STATEMENTS, histogram_statement(cluster)),
        nodes=_nodes(cluster, same),
        extent=(worst[0].worst_ms, "ms on average"),
    )


def _waits_lines(cluster: Cluster, verdict: TimeVerdict, instances: int) -> list[str]:
    """The costliest waits, where the finding is about this instance alone."""
    name = instance_name(cluster, verdict.times.own.instance)
    return [f"{name}: {line}" for line in top_lines(verdict.times.own)] if instances == 1 else []


def _doubtful(cluster: Cluster, same: Sequence[TimeVerdict]) -> Finding:
    names = _names(cluster, same)
    averages = [milliseconds(k.average_ms or 0.0) for v in same for k in v.doubtful]
    return DOUBTFUL.finding(
        Status.UNKNOWN,
        f"The statistics of {named(names, 'instance')} say that a block took {listed(averages[:MOST_LINES], 'or')} to "
        "arrive, which cannot be right.",
        subject=f"{briefly(names, 'instance')}: times doubtful",
        seen=some([line for v in same for line in time_lines(cluster, v.times)]),
        expected=("The statistics and the waits of the same time agree, about",),
        next=[Remedy("Take the waits for the truth; compare with an AWR or Statspack report of the same time.")],
        evidence=sql(cluster, *STATEMENTS),
        nodes=_nodes(cluster, same),
    )


def _tail(cluster: Cluster, same: Sequence[TimeVerdict]) -> Finding:
    limits, names = cluster.thresholds, _names(cluster, same)
    late = sum(v.late for v in same)
    total = sum(_waits(v) for v in same)
    worst = sorted(same, key=lambda v: -v.late)
    good = "the average is good" if len(same) == 1 else "their averages are good"
    return TAIL.finding(
        Status.WARN,
        f"{percent(100 * late / total)} of the waits for blocks on {named(names, 'instance')} took longer than "
        f"{milliseconds(same[0].late_us / 1000)}, though {good}.",
        subject=f"{briefly(names, 'instance')}: {percent(100 * late / total)} late",
        seen=(
            *some(
                [
                    f"{instance_name(cluster, v.times.own.instance)}: {v.late:,} of {counted(_waits(v), 'wait')} in "
                    f"{span(v.times.own.seconds)}"
                    for v in worst
                ]
            ),
            *some([line for v in worst for line in tail_lines(cluster, v.times)]),
            *some([line for v in worst for line in time_lines(cluster, v.times)]),
        ),
        expected=(f"{limits.receive_tail_warn_percent:g} % at most",),
        next=[
            Remedy(
                "See whether packets get lost or sent again.",
                ("racwire check gc-blocks-lost reassembly udp-receive-buffers",),
            ),
            Remedy("See how busy the nodes are.", ("mpstat -P ALL 1 5",), "root on each node"),
        ],
        evidence=sql(cluster, histogram_statement(cluster)),
        nodes=_nodes(cluster, same),
        extent=(100 * late / total, "% of the waits late"),
    )


def histogram_statement(cluster: Cluster) -> str:
    """The statement that reads how many waits took how long: before 12.1.0.2 only milliseconds are kept."""
    database = database_of(cluster)
    only_milliseconds = database is not None and release(database.version) < _MICROSECONDS_FROM
    return "event_histogram" if only_milliseconds else "event_histogram_micro"


def _waits(verdict: TimeVerdict) -> int:
    return sum(waits for _, waits in histogram_of(verdict.times.own))


def _names(cluster: Cluster, same: Sequence[TimeVerdict]) -> list[str]:
    return [instance_name(cluster, v.times.own.instance) for v in same]


def _nodes(cluster: Cluster, same: Sequence[TimeVerdict]) -> tuple[str, ...]:
    return nodes_of(cluster, [v.times.own.instance for v in same])


def _time(same: Sequence[TimeVerdict]) -> str:
    return span(max(v.times.own.seconds for v in same))
