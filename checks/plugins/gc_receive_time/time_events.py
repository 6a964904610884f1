"""What sessions wait for besides plain transfers of blocks: congested senders, busy blocks, requests made again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Activity, Cluster, InstanceActivity, WaitEvent
from checks.model.finding import Finding, Remedy, Status
from checks.model.instance_facts import instance_name, nodes_of
from checks.model.wording import listed
from checks.plugins.gc_blocks_lost.loss_counts import loss_of
from checks.plugins.gc_receive_time.receive_times import top_lines
from checks.plugins.gc_receive_time.time_kinds import EVENTS
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.instance_words import percent, sql
from checks.rules.waits import MEANINGS, costliest, time_us

_THE_LOAD = "busy"


@dataclass(frozen=True)
class _Waits:
    """Of one instance: its costly events that are no plain transfer, and what they are measured against."""

    own: InstanceActivity
    found: tuple[tuple[WaitEvent, str], ...]
    """With the word in the name that says what it is."""
    total_us: int
    """All waits for the cluster but those for lost blocks."""
    without_lost: bool

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for _, word in self.found)


def event_findings(cluster: Cluster, activity: Activity, instances: Sequence[InstanceActivity]) -> Iterator[Finding]:
    """What each instance waits for, those with the same sorts of waits together. Blocks that were lost are left to
    gc-blocks-lost, which tells of them with their cause."""
    waits = [_waits(cluster, activity, own) for own in instances if _are_many(cluster, own)]
    for same in alike([w for w in waits if w.found], lambda w: w.words):
        yield _finding(cluster, same)


def _are_many(cluster: Cluster, own: InstanceActivity) -> bool:
    return sum(e.waits for e in own.events) >= cluster.thresholds.few_blocks


def _waits(cluster: Cluster, activity: Activity, own: InstanceActivity) -> _Waits:
    loss = loss_of(activity, own)
    told = loss.waits if loss else ()
    events = [e for e in own.events if e not in told]
    total = time_us(events)
    much_us = cluster.thresholds.gc_wait_share_warn_percent * total / 100
    found = tuple(
        (event, word)
        for event in costliest(events)
        for word in MEANINGS
        if word in event.name and event.time_us >= much_us
    )
    return _Waits(own, found, total, bool(told))


def _finding(cluster: Cluster, same: Sequence[_Waits]) -> Finding:
    names = [instance_name(cluster, w.own.instance) for w in same]
    words = same[0].words
    events = list(dict.fromkeys((event.name, word) for w in same for event, word in w.found))
    cost = sum(time_us(dict.fromkeys(event for event, _ in w.found)) for w in same)
    total = sum(w.total_us for w in same)
    aside = ", lost blocks aside," if any(w.without_lost for w in same) else ""
    waits = "waits" if len(names) == 1 else "wait"
    share = min(100.0, 100 * cost / total) if total else 0.0
    return EVENTS.finding(
        Status.INFO if words == {_THE_LOAD} else Status.WARN,
        f"{percent(share)} of what {named(names, 'instance')} {waits} for "
        f"the cluster{aside} is {listed(dict.fromkeys(name for name, _ in events))}.",
        subject=f"{briefly(names, 'instance')}: {events[0][0]}",
        seen=some([f"{name}: {line}" for name, w in zip(names, same, strict=True) for line in top_lines(w.own)], 9),
        expected=("Plain transfers and grants (2-way, 3-way) on top",),
        why="; ".join(f"{name}: {MEANINGS[word]}" for name, word in events) + ".",
        next=_next(words),
        evidence=sql(cluster, "system_event"),
        nodes=nodes_of(cluster, [w.own.instance for w in same]),
        extent=(share, "% of the waits"),
    )


def _next(words: frozenset[str]) -> Iterator[Remedy]:
    if words & {"lost", "retry", "failure"}:
        yield Remedy("See whether blocks or packets get lost.", ("racwire check gc-blocks-lost df-ping",))
    if "congested" in words:
        yield Remedy(
            "Look at the CPUs of the nodes that send the blocks, and at the class of their LMS processes.",
            ("mpstat -P ALL 1 5", "ps -eo cls,rtprio,pcpu,comm | grep lms"),
            "root on each node",
        )
    if _THE_LOAD in words:
        yield Remedy("See which objects and sessions it is, with ASH or AWR where you have them.")
