"""How long do blocks take to arrive, on average and at worst, and which events do the sessions wait for?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import check
from checks.model.condition import ConditionKind
from checks.model.facts import Activity, Cluster
from checks.model.finding import Finding, NextStep, Table, check_again
from checks.model.known_instances import Unseen, active, instance_name, nodes_of, unseen
from checks.model.wording import counted
from checks.plugins.gc_receive_time.receive_times import time_lines, times_table
from checks.plugins.gc_receive_time.time_faults import STATEMENTS, event_findings, histogram_statement, time_faults
from checks.plugins.gc_receive_time.time_kinds import DOUBTFUL, EVENTS, FAST, LITTLE, NOT_KNOWN, SLOW, TAIL
from checks.plugins.shared.grouping import MOST_LINES, briefly, named, some, time_of
from checks.plugins.shared.instance_text import (
    first_sentence,
    milliseconds,
    statement_topics,
    unknown_instance_findings,
    with_container_note,
)
from checks.rules.lost_blocks import enough_blocks_text, received_few
from checks.rules.observed.states import read_on
from checks.rules.receive_time import (
    ReceiveTimes,
    good_text,
    is_unusual,
    receive_limits,
    times_of,
    unusual_text,
    verdict_on,
    waits_are_known,
)

_OF_WAITS = ("GV$SYSTEM_EVENT", "GV$EVENT_HISTOGRAM_MICRO", "GV$EVENT_HISTOGRAM")


@check(
    "gc-receive-time",
    question="Do blocks arrive fast enough at every instance?",
    needs=("activity",),
    uses=("database", "nodes", "networks"),
    about=(ConditionKind.LOST_BLOCKS, ConditionKind.INSTANCE, ConditionKind.DATABASE),
    kinds=(FAST, SLOW, TAIL, DOUBTFUL, NOT_KNOWN, EVENTS, LITTLE),
)
def gc_receive_time(cluster: Cluster) -> Iterator[Finding]:
    """Computes how long a CR block and a current block took to arrive at each instance, between two samples.

    The statistics count in hundredths of a second in every release, so the average in milliseconds is 10 * time /
    blocks. The check compares it with the waits for such blocks, in microseconds. The histogram of the waits shows the
    tail: how many waits took longer than receive_fail_ms although the average is good. Where every private NIC is known
    to run at 10 Gbit/s or more, receive_fast_warn_ms and receive_fast_fail_ms are the limits. Among the three costliest
    events of the wait class Cluster, the check names those that are no plain transfer (congested, busy, retry) from
    gc_wait_share_warn_percent of the waits. Lost blocks are left to gc-blocks-lost. Instances with the same fault share
    one finding.
    """
    if isinstance(cluster.activity, Activity):
        yield from with_container_note(cluster, _findings(cluster, cluster.activity))


def _findings(cluster: Cluster, activity: Activity) -> Iterator[Finding]:
    missing, judged = list(unseen(cluster)), []
    for own in active(activity):
        times = times_of(own)
        if times.blocks is None:
            missing.append(Unseen(own.instance, "Its statistics of received blocks were not read."))
        else:
            judged.append(times)
    limits, waits_known = receive_limits(cluster), waits_are_known(activity)
    few = [t for t in judged if received_few(t.blocks, cluster.thresholds)]
    verdicts = [verdict_on(t, waits_known, limits) for t in judged if t not in few]
    yield from time_faults(cluster, verdicts)
    yield from event_findings(cluster, activity, [t.own for t in judged])
    table = times_table(cluster, activity)
    if fine := [v.times for v in verdicts if v.is_fine]:
        yield _fast(cluster, fine, table)
    if few:
        yield _little(cluster, few, table)
    yield from unknown_instance_findings(cluster, NOT_KNOWN, "The receive time of blocks at {}", missing, ("sysstat",))
    if verdicts:
        yield from _waits_not_known(cluster, activity)
    if not judged and not missing:
        yield NOT_KNOWN.finding(
            "No instance reported how long its blocks take to arrive.",
            subject="no instance",
            evidence=statement_topics(cluster, *STATEMENTS),
        )


def _fast(cluster: Cluster, fine: Sequence[ReceiveTimes], table: Table) -> Finding:
    limits = receive_limits(cluster)
    averages = [k.average_ms for times in fine for k in times.kinds if k.average_ms is not None]
    slowest = max(averages, default=0.0)
    some_lost = any(e.waits > 0 and e.name.endswith("block lost") for times in fine for e in times.own.events)
    return FAST.finding(
        f"Blocks arrive at {named(_names(cluster, fine), 'instance')} in {milliseconds(slowest)} or less on average.",
        subject=f"{milliseconds(slowest)} at most",
        data={"instances": ", ".join(_names(cluster, fine)), "slowest_average_ms": slowest},
        seen=(
            *some([line for times in fine for line in time_lines(cluster, times)], 2 * MOST_LINES),
            *([unusual_text(limits)] if is_unusual(slowest, cluster.thresholds) else []),
            *(["only blocks that arrived; gc-blocks-lost reports those that did not"] if some_lost else []),
        ),
        expected=(good_text(limits),),
        evidence=statement_topics(cluster, *STATEMENTS),
        table=table,
        observed=read_on(FAST.code, nodes_of(cluster, [times.own.instance for times in fine])),
    )


def _little(cluster: Cluster, few: Sequence[ReceiveTimes], table: Table) -> Finding:
    names = _names(cluster, few)
    blocks = sum(t.blocks or 0 for t in few)
    return LITTLE.finding(
        f"{named(names, 'instance')} received {counted(blocks, 'block')} in "
        f"{time_of(t.own for t in few)}: too few blocks to judge the receive time.",
        subject=f"{briefly(names, 'instance')}: {counted(blocks, 'block')}",
        data={"instances": ", ".join(names), "received_blocks": blocks, "seconds": max(t.own.seconds for t in few)},
        seen=some([line for times in few for line in time_lines(cluster, times)], 2 * MOST_LINES),
        expected=(enough_blocks_text(cluster.thresholds),),
        next=[NextStep("Run the check again while the database is busy.", ("racwire check gc-receive-time",))],
        evidence=statement_topics(cluster, *STATEMENTS),
        table=table,
    )


def _waits_not_known(cluster: Cluster, activity: Activity) -> Iterator[Finding]:
    """Yield the finding for waits that were not read: averages alone hide slow blocks."""
    unread = [u for u in activity.unread if u.view in _OF_WAITS]
    reasons = list(dict.fromkeys(u.reason for u in unread))
    if reasons:
        yield NOT_KNOWN.finding(
            f"The slowest blocks and the waits of the sessions are not known in full: {first_sentence(reasons[0])}",
            subject="waits: not known",
            seen=some(reasons),
            expected=("The waits of the class Cluster and their histograms",),
            why="The averages are known, and they hide blocks that take very long.",
            next=[check_again("gc-receive-time")],
            lacks=unread,
            evidence=statement_topics(cluster, "system_event", histogram_statement(cluster)),
        )


def _names(cluster: Cluster, times: Sequence[ReceiveTimes]) -> list[str]:
    return [instance_name(cluster, t.own.instance) for t in times]
