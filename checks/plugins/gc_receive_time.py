"""How long do blocks take to arrive, on average and at worst; and what do the sessions wait for?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.facts import Activity, Cluster, InstanceActivity, Thresholds
from checks.finding import Finding, Remedy, Status, Table
from checks.plugin import Kind, check
from checks.plugins._instances import (
    Unseen,
    active,
    instance_name,
    instance_names,
    milliseconds,
    nodes_of,
    percent,
    span,
    sql,
    unseen,
    unseen_findings,
)
from checks.plugins._receive_times import (
    BlockTimes,
    ReceiveTimes,
    histogram_of,
    tail_lines,
    time_lines,
    times_of,
    times_table,
    top_lines,
)
from checks.plugins._waits import CURES, beyond, cluster_time_us, costliest
from checks.wording import counted, listed

_EM = "Enterprise Manager metric help, global cache block request time: warning 1 cs, critical 2 cs"
_STATEMENTS = ("sysstat", "system_event")
_HISTOGRAMS = ("event_histogram_micro", "event_histogram")

FAST = Kind("IC-TIME-001", "Blocks arrive in good time")
SLOW = Kind(
    "IC-TIME-002",
    "Blocks take long to arrive",
    "Every session that needs a block of another instance waits that long for it; reading it from disk may be no "
    "slower.",
    (_EM, "Statspack sprepins.sql, RAC statistics"),
)
TAIL = Kind(
    "IC-TIME-003",
    "Some blocks take very long to arrive while the average is good",
    "An average hides them: packets that are lost and sent again, an instance that now and then gets no CPU, a switch "
    "that queues.",
    ("V$EVENT_HISTOGRAM_MICRO",),
)
DOUBTFUL = Kind(
    "IC-TIME-004",
    "The times of the statistics cannot be right",
    "The statistics count in hundredths of a second. An average that the waits of the same time contradict is of "
    "another unit, or of a count that fell.",
)
NOT_KNOWN = Kind("IC-TIME-005", "How long blocks take to arrive at an instance is not known")
EVENTS = Kind(
    "IC-TIME-006",
    "The sessions of an instance wait mostly for something other than plain transfers",
    "The names of the waits tell whether the network, the CPUs of the sender or the load itself costs the time.",
    ("Database Reference, wait events of the class Cluster", "MOS 563566.1, cause 19"),
)
LITTLE = Kind("IC-TIME-007", "Too few blocks arrived to judge how long they take")

_IMPOSSIBLE_MS = 1000.0
_MUCH = 0.1
"""Share of all waits for the cluster from which an event is worth telling."""


@check(
    "gc-receive-time",
    question="Do blocks arrive in good time, at every instance?",
    needs=("activity",),
    uses=("database", "nodes"),
    kinds=(FAST, SLOW, TAIL, DOUBTFUL, NOT_KNOWN, EVENTS, LITTLE),
)
def gc_receive_time(cluster: Cluster) -> Iterator[Finding]:
    """Computes how long a CR block and a current block took to arrive at each instance, between two samples.

    The statistics count in hundredths of a second in every release, so the average in milliseconds is 10 * time /
    blocks. The waits for such blocks, in microseconds, are held against it. Their histogram shows the tail: how many
    waits took longer than receive_fail_ms though the average is good. Of the three events of the wait class Cluster
    that cost most, those that are no plain transfer (congested, busy, lost, retry) are named.
    """
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return
    fine: list[ReceiveTimes] = []
    few: list[ReceiveTimes] = []
    missing = list(unseen(cluster))
    for own in active(activity):
        times = times_of(own)
        if times.blocks is None:
            missing.append(Unseen(own.instance, "Its statistics of received blocks were not read."))
            continue
        idle = times.blocks < cluster.thresholds.few_blocks
        faults = [] if idle else list(_faults(cluster, times))
        yield from faults
        yield from _events(cluster, own)
        if not faults:
            (few if idle else fine).append(times)
    table = times_table(cluster, activity)
    if fine:
        yield _fast(cluster, fine, table)
    if few:
        yield _little(cluster, few, table)
    yield from unseen_findings(cluster, NOT_KNOWN, "How long blocks take to arrive at {}", missing, ("sysstat",))
    if not any(True for _ in active(activity)) and not missing:
        yield NOT_KNOWN.finding(
            Status.UNKNOWN,
            "No instance told how long its blocks take to arrive.",
            subject="no instance",
            evidence=sql(cluster, *_STATEMENTS),
        )


def _faults(cluster: Cluster, times: ReceiveTimes) -> Iterator[Finding]:
    limits = cluster.thresholds
    enough = [k for k in times.kinds if k.average_ms is not None and 2 * k.blocks >= limits.few_blocks]
    doubtful = [k for k in enough if _is_doubtful(k, limits)]
    if doubtful:
        yield _doubtful(cluster, times, doubtful)
    slow = [k for k in enough if k not in doubtful and (k.average_ms or 0) > limits.receive_warn_ms]
    if slow:
        yield _slow(cluster, times, slow)
    elif not doubtful:
        yield from _tail(cluster, times)


def _is_doubtful(kind: BlockTimes, limits: Thresholds) -> bool:
    """A second for a block is possible only where sessions waited as long, or nobody can tell."""
    average = kind.average_ms or 0.0
    waited = kind.waited_ms or 0.0
    return average > _IMPOSSIBLE_MS and waited <= limits.receive_fail_ms


def _slow(cluster: Cluster, times: ReceiveTimes, slow: Sequence[BlockTimes]) -> Finding:
    limits, name = cluster.thresholds, instance_name(cluster, times.own.instance)
    nodes = nodes_of(cluster, [times.own.instance])
    worst = max(k.average_ms or 0.0 for k in slow)
    what = listed(f"{milliseconds(k.average_ms or 0.0)} for {k.word} blocks" for k in slow)
    return SLOW.finding(
        Status.FAIL if worst > limits.receive_fail_ms else Status.WARN,
        f"Blocks take long to arrive at {name}: {what}, on average of {span(times.own.seconds)}.",
        subject=f"{name}: {milliseconds(worst)}",
        seen=(*time_lines(cluster, times), *tail_lines(times), *top_lines(times.own)),
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
        evidence=sql(cluster, *_STATEMENTS),
        nodes=nodes,
    )


def _doubtful(cluster: Cluster, times: ReceiveTimes, kinds: Sequence[BlockTimes]) -> Finding:
    name = instance_name(cluster, times.own.instance)
    return DOUBTFUL.finding(
        Status.UNKNOWN,
        f"The statistics of {name} say that a block took {listed(milliseconds(k.average_ms or 0.0) for k in kinds)} "
        "to arrive, which cannot be right.",
        subject=f"{name}: times doubtful",
        seen=time_lines(cluster, times),
        expected=("The statistics and the waits of the same time agree, about",),
        next=[Remedy("Take the waits for the truth; compare with an AWR or Statspack report of the same time.")],
        evidence=sql(cluster, *_STATEMENTS),
        nodes=nodes_of(cluster, [times.own.instance]),
    )


def _tail(cluster: Cluster, times: ReceiveTimes) -> Iterator[Finding]:
    limits = cluster.thresholds
    histogram = histogram_of(times.own)
    total = sum(waits for _, waits in histogram)
    late, limit_us = beyond(histogram, limits.receive_fail_ms * 1000)
    if total < limits.few_blocks or 100 * late <= limits.receive_tail_warn_percent * total:
        return
    name = instance_name(cluster, times.own.instance)
    yield TAIL.finding(
        Status.WARN,
        f"{percent(100 * late / total)} of the waits for blocks on {name} took longer than "
        f"{milliseconds(limit_us / 1000)}, though the average is good.",
        subject=f"{name}: {percent(100 * late / total)} late",
        seen=(
            f"{late:,} of {counted(total, 'wait')} in {span(times.own.seconds)}",
            *tail_lines(times),
            *time_lines(cluster, times),
        ),
        expected=(f"{limits.receive_tail_warn_percent:g} % at most",),
        next=[
            Remedy(
                "See whether packets get lost or sent again, and how busy the nodes are.",
                ("racwire check gc-blocks-lost reassembly udp-receive-buffers",),
            )
        ],
        evidence=sql(cluster, *_HISTOGRAMS),
        nodes=nodes_of(cluster, [times.own.instance]),
    )


def _events(cluster: Cluster, own: InstanceActivity) -> Iterator[Finding]:
    total = cluster_time_us(own)
    if sum(e.waits for e in own.events) < cluster.thresholds.few_blocks:
        return
    found = [
        (event, word)
        for event in costliest(own)
        for word in CURES
        if word in event.name and event.time_us >= _MUCH * total
    ]
    if not found:
        return
    name = instance_name(cluster, own.instance)
    share = 100 * sum(e.time_us for e in dict.fromkeys(e for e, _ in found)) / total if total else 0.0
    harmless = all(word == "busy" for _, word in found)
    names = dict.fromkeys(event.name for event, _ in found)
    yield EVENTS.finding(
        Status.INFO if harmless else Status.WARN,
        f"{percent(min(100.0, share))} of what {name} waits for the cluster is {listed(names)}.",
        subject=f"{name}: {found[0][0].name}",
        seen=top_lines(own),
        expected=("Plain transfers and grants (2-way, 3-way) on top",),
        why="; ".join(dict.fromkeys(f"{event.name}: {CURES[word]}" for event, word in found)) + ".",
        next=[
            Remedy(
                "See which objects and sessions it is, with AWR or ASH where you have them.",
                ("racwire check gc-blocks-lost",) if not harmless else (),
            )
        ],
        evidence=sql(cluster, "system_event"),
        nodes=nodes_of(cluster, [own.instance]),
    )


def _fast(cluster: Cluster, fine: Sequence[ReceiveTimes], table: Table) -> Finding:
    limits = cluster.thresholds
    averages = [k.average_ms for times in fine for k in times.kinds if k.average_ms is not None]
    slowest = max(averages, default=0.0)
    names = instance_names(cluster, [t.own.instance for t in fine])
    unusual = [f"over {limits.receive_attention_ms:g} ms: more than is usual on 10 Gbit/s, and worth watching"]
    return FAST.finding(
        Status.PASS,
        f"Blocks arrive at {names} in {milliseconds(slowest)} or less on average.",
        subject=f"{milliseconds(slowest)} at most",
        seen=(
            *(line for times in fine for line in time_lines(cluster, times)),
            *(unusual if slowest > limits.receive_attention_ms else ()),
        ),
        expected=(f"Under {limits.receive_warn_ms:g} ms",),
        evidence=sql(cluster, *_STATEMENTS),
        table=table,
    )


def _little(cluster: Cluster, few: Sequence[ReceiveTimes], table: Table) -> Finding:
    names = instance_names(cluster, [t.own.instance for t in few])
    blocks = sum(t.blocks or 0 for t in few)
    return LITTLE.finding(
        Status.INFO,
        f"{names} received {counted(blocks, 'block')} in {span(max(t.own.seconds for t in few))}: too few to say how "
        "long blocks take.",
        subject=f"{names}: {counted(blocks, 'block')}",
        seen=tuple(line for times in few for line in time_lines(cluster, times)),
        expected=(f"{cluster.thresholds.few_blocks} blocks or more for each instance",),
        next=[Remedy("Look again while the database is busy.", ("racwire check gc-receive-time",))],
        evidence=sql(cluster, *_STATEMENTS),
        table=table,
    )
