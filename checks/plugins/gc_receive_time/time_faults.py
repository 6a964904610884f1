"""Findings about slow blocks, implausible times, slow blocks behind a good average, and waits other than plain
transfers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.facts import Activity, Cluster, InstanceActivity, WaitEvent, release
from checks.model.finding import Finding, NextStep
from checks.model.known_instances import database_of, instance_name, nodes_of
from checks.model.wording import counted, listed, span
from checks.plugins.gc_receive_time.receive_times import tail_lines, time_lines, top_lines, traffic_lines
from checks.plugins.gc_receive_time.time_kinds import DOUBTFUL, EVENTS, SLOW, TAIL
from checks.plugins.shared.grouping import MOST_LINES, alike, briefly, named, some, time_of
from checks.plugins.shared.host_facts import LMS_THREADS
from checks.plugins.shared.instance_text import milliseconds, percent, statement_topics
from checks.rules.lost_blocks import loss_of
from checks.rules.observed.blocks import blocks_late
from checks.rules.receive_time import TimeVerdict, histogram_of, receive_limits, tail_text, usual_text
from checks.rules.waits import BUSY, MEANINGS, UnusualWaits, time_us, unusual_waits

STATEMENTS = ("sysstat", "system_event")
_MICROSECONDS_FROM = (12, 1, 0, 2)
"""The release that brought V$EVENT_HISTOGRAM_MICRO (Database Reference 12.1)."""


def time_faults(cluster: Cluster, verdicts: Sequence[TimeVerdict]) -> Iterator[Finding]:
    """Yield one finding for all instances with the same fault, with the status of the worst."""
    if doubtful := [v for v in verdicts if v.doubtful]:
        yield _doubtful(cluster, doubtful)
    if slow := [v for v in verdicts if v.slow]:
        yield _slow(cluster, slow)
    for same in alike([v for v in verdicts if v.late], lambda v: v.late_us):
        yield _tail(cluster, same)


def _slow(cluster: Cluster, same: Sequence[TimeVerdict]) -> Finding:
    names = _names(cluster, same)
    worst = sorted(same, key=lambda v: -v.worst_ms)
    what = listed(f"{milliseconds(k.average_ms or 0.0)} for {k.label} blocks" for k in same[0].slow)
    what = what if len(same) == 1 else f"up to {milliseconds(worst[0].worst_ms)}"
    lines = [
        [*time_lines(cluster, v.times), *tail_lines(cluster, v.times), *_waits_lines(cluster, v, len(same))]
        for v in worst
    ]
    return SLOW.finding(
        f"Blocks take long to arrive at {named(names, 'instance')}: {what}, on average of "
        f"{time_of(v.times.own for v in same)}.",
        status=min((v.status for v in same), key=lambda status: status.gravity),
        subject=f"{briefly(names, 'instance')}: {milliseconds(worst[0].worst_ms)}",
        data={
            "instances": ", ".join(names),
            "worst_average_ms": worst[0].worst_ms,
            "seconds": max(v.times.own.seconds for v in same),
        },
        seen=(
            *some([line for own in lines for line in own], 2 * MOST_LINES),
            *some(traffic_lines(cluster, [v.times.own for v in worst])),
        ),
        expected=(usual_text(receive_limits(cluster)),),
        next=[
            NextStep(
                "First check whether blocks or packets are lost: a block that is sent again takes longest.",
                ("racwire check gc-blocks-lost df-ping reassembly",),
            ),
            NextStep(
                "Find out whether the network is slow, or the instances that serve the blocks.",
                ("racwire check instance-ping",),
            ),
            NextStep(
                "Check the CPUs of the nodes and the scheduling class of the LMS processes.",
                ("mpstat -P ALL 1 5", LMS_THREADS),
                "any user on each node",
            ),
        ],
        evidence=statement_topics(cluster, *STATEMENTS, histogram_statement(cluster)),
        nodes=_nodes(cluster, same),
        extent=(worst[0].worst_ms, "ms on average"),
        observed=blocks_late(cluster, {v.times.own.instance: sum(k.blocks for k in v.slow) for v in same}),
    )


def _waits_lines(cluster: Cluster, verdict: TimeVerdict, instances: int) -> list[str]:
    """Return the costliest waits, where the finding is about this instance only."""
    name = instance_name(cluster, verdict.times.own.instance)
    return [f"{name}: {line}" for line in top_lines(verdict.times.own)] if instances == 1 else []


def _doubtful(cluster: Cluster, same: Sequence[TimeVerdict]) -> Finding:
    names = _names(cluster, same)
    averages = [milliseconds(k.average_ms or 0.0) for v in same for k in v.doubtful]
    return DOUBTFUL.finding(
        f"The statistics of {named(names, 'instance')} show an implausible receive time of "
        f"{listed(averages[:MOST_LINES], 'or')} for a block.",
        subject=f"{briefly(names, 'instance')}: times doubtful",
        data={
            "instances": ", ".join(names),
            "doubtful_average_ms": max(k.average_ms or 0.0 for v in same for k in v.doubtful),
        },
        seen=some([line for v in same for line in time_lines(cluster, v.times)]),
        expected=("The statistics roughly agree with the waits of the same time",),
        next=[NextStep("Rely on the waits, and compare them with an AWR or Statspack report of the same time.")],
        evidence=statement_topics(cluster, *STATEMENTS),
        nodes=_nodes(cluster, same),
        observed=blocks_late(cluster, {v.times.own.instance: sum(k.blocks for k in v.doubtful) for v in same}),
    )


def _tail(cluster: Cluster, same: Sequence[TimeVerdict]) -> Finding:
    names = _names(cluster, same)
    late = sum(v.late for v in same)
    total = sum(_waits(v) for v in same)
    worst = sorted(same, key=lambda v: -v.late)
    good = "the average is good" if len(same) == 1 else "their averages are good"
    return TAIL.finding(
        f"{percent(100 * late / total)} of the waits for blocks on {named(names, 'instance')} took longer than "
        f"{milliseconds(same[0].late_us / 1000)}, although {good}.",
        subject=f"{briefly(names, 'instance')}: {percent(100 * late / total)} late",
        data={
            "instances": ", ".join(names),
            "late_waits": late,
            "waits": total,
            "late_percent": 100 * late / total,
            "late_from_ms": same[0].late_us / 1000,
        },
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
        expected=(tail_text(receive_limits(cluster)),),
        next=[
            NextStep(
                "Check whether packets are lost or sent again.",
                ("racwire check gc-blocks-lost reassembly udp-receive-buffers",),
            ),
            NextStep("Check how busy the nodes are.", ("mpstat -P ALL 1 5",), "any user on each node"),
        ],
        evidence=statement_topics(cluster, histogram_statement(cluster)),
        nodes=_nodes(cluster, same),
        extent=(100 * late / total, "% of the waits late"),
        observed=blocks_late(cluster, {v.times.own.instance: v.late for v in same}),
    )


def histogram_statement(cluster: Cluster) -> str:
    """Return the name of the statement for the histogram of waits: before 12.1.0.2 it has only milliseconds."""
    database = database_of(cluster)
    only_milliseconds = database is not None and release(database.version) < _MICROSECONDS_FROM
    return "event_histogram" if only_milliseconds else "event_histogram_micro"


def _waits(verdict: TimeVerdict) -> int:
    return sum(waits for _, waits in histogram_of(verdict.times.own))


def _names(cluster: Cluster, same: Sequence[TimeVerdict]) -> list[str]:
    return [instance_name(cluster, v.times.own.instance) for v in same]


def _nodes(cluster: Cluster, same: Sequence[TimeVerdict]) -> tuple[str, ...]:
    return nodes_of(cluster, [v.times.own.instance for v in same])


def event_findings(cluster: Cluster, activity: Activity, instances: Sequence[InstanceActivity]) -> Iterator[Finding]:
    """Yield one finding for all instances with the same kinds of unusual waits. Lost blocks are left to
    gc-blocks-lost, which reports them with their cause."""
    waits = [unusual_waits(own, _for_lost_blocks(activity, own), cluster.thresholds) for own in instances]
    for same in alike([w for w in waits if w and w.found], lambda w: w.terms):
        yield _events_finding(cluster, same)


def _for_lost_blocks(activity: Activity, own: InstanceActivity) -> Sequence[WaitEvent]:
    loss = loss_of(activity, own)
    return loss.waits if loss else ()


def _events_finding(cluster: Cluster, same: Sequence[UnusualWaits]) -> Finding:
    names = [instance_name(cluster, w.own.instance) for w in same]
    terms = same[0].terms
    events = list(dict.fromkeys((event.name, word) for w in same for event, word in w.found))
    cost = sum(time_us(dict.fromkeys(event for event, _ in w.found)) for w in same)
    total = sum(w.total_us for w in same)
    excluded = ", lost blocks excluded," if any(w.without_lost for w in same) else ""
    spend = "spends {} of its" if len(names) == 1 else "spend {} of their"
    share = min(100.0, 100 * cost / total) if total else 0.0
    return EVENTS.finding(
        f"{named(names, 'instance')} {spend.format(percent(share))} cluster wait time{excluded} on "
        f"{listed(dict.fromkeys(name for name, _ in events))}.",
        status=same[0].status,
        subject=f"{briefly(names, 'instance')}: {events[0][0]}",
        data={
            "instances": ", ".join(names),
            "events": ", ".join(dict.fromkeys(name for name, _ in events)),
            "share_percent": share,
        },
        seen=some([f"{name}: {line}" for name, w in zip(names, same, strict=True) for line in top_lines(w.own)], 9),
        expected=("Plain transfers and grants (2-way, 3-way) as the costliest waits",),
        why="; ".join(f"{name}: {MEANINGS[word]}" for name, word in events) + ".",
        next=_next_for(terms),
        evidence=statement_topics(cluster, "system_event"),
        nodes=nodes_of(cluster, [w.own.instance for w in same]),
        extent=(share, "% of the waits"),
        observed=blocks_late(
            cluster, {w.own.instance: sum({event.name: event.waits for event, _ in w.found}.values()) for w in same}
        ),
    )


def _next_for(terms: frozenset[str]) -> Iterator[NextStep]:
    if terms & {"lost", "retry", "failure"}:
        yield NextStep("Check whether blocks or packets are lost.", ("racwire check gc-blocks-lost df-ping",))
    if "congested" in terms:
        yield NextStep(
            "Check the CPUs of the nodes that send the blocks, and the scheduling class of their LMS processes.",
            ("mpstat -P ALL 1 5", LMS_THREADS),
            "any user on each node",
        )
    if terms & BUSY:
        yield NextStep(
            "Find the objects and sessions that wait, with ASH or AWR where you have them, and compare the log writes "
            "of the sending instances (log file parallel write)."
        )
