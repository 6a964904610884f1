"""Rules for lost blocks: whether an instance loses blocks, the status, and the other evidence of the loss.

MOS 563566.1 has any lost block investigated. Oracle 12.1.0.2 counts blocks as lost that were not lost (bug 20922010,
MOS 2096299.1).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from checks.model.facts import (
    Activity,
    Cluster,
    CounterChanges,
    Database,
    History,
    InstanceActivity,
    LossHistory,
    PathProbe,
    QuietLosses,
    Thresholds,
    Unknown,
    Unread,
    Verdict,
    WaitEvent,
    release,
)
from checks.model.finding import Status
from checks.model.known_instances import active, database_of, node_of, nodes_of
from checks.rules.cache_fusion import lost, received
from checks.rules.node_counts import NodeCounts, node_counts
from checks.rules.waits import costliest

_EXPECTED_LOSSES = 5.0
"""Losses to expect among the blocks: at none, chance explains it with e^-5, 0.7 %. Ours."""
_RARE, _MOST_BY_CHANCE = 0.01, 500
"""The probability below which more losses while racwire probed are its doing, and the most losses for which that is
computed: with more, twice their share counts. Ours."""
_HAS_FALSE_COUNTS = (12, 1, 0, 2)

CARRY_TOO_LITTLE = (Verdict.BLACK_HOLE, Verdict.TOO_BIG, Verdict.LOCAL_MTU)
LOSE_PACKETS = (Verdict.LOSS, Verdict.UNREACHABLE)
_NOT_KNOWN = (Verdict.UNKNOWN, Verdict.FILTERED)


# --- one instance -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InstanceLoss:
    """The lost blocks of one instance in the interval."""

    instance: int
    seconds: float
    lost: int
    received: int | None
    """None where the statistics were not read."""
    senders: dict[int, int]
    """Lost blocks by the instance that sent them; empty where the senders are not known, or there were none."""
    waits: tuple[WaitEvent, ...]
    """Wait events of lost blocks."""
    waits_are_on_top: bool
    """Whether one of these waits is among the three costliest events of the wait class Cluster."""
    claims_lost: int
    corrupt: int
    while_probing: int | None = None
    """Those of the lost that were lost while racwire probed; None where that is not known, or it sent nothing."""
    probing_s: float = 0.0
    """The seconds in which it probed, of all."""

    @property
    def only_while_probing(self) -> bool:
        """Whether blocks were lost while racwire probed, and none in a quiet time that was long enough to tell."""
        return (
            bool(self.lost) and self.while_probing == self.lost and quiet_tells(self.lost, self.probing_s, self.seconds)
        )

    @property
    def apart(self) -> int:
        """The blocks lost while racwire probed, where more were lost in that time than chance explains; else 0."""
        number, share = self.while_probing or 0, min(1.0, self.probing_s / self.seconds) if self.seconds > 0 else 1.0
        chance = (
            sum(
                math.comb(self.lost, k) * share**k * (1 - share) ** (self.lost - k)
                for k in range(number, self.lost + 1)
            )
            if number and self.lost <= _MOST_BY_CHANCE
            else float(number < 2 * share * self.lost)
        )
        return number if self.only_while_probing or (number and chance < _RARE) else 0

    @property
    def of(self) -> int:
        """Blocks that were sent to the instance, received or lost, as in `checks.rules.cache_fusion.due`."""
        return (self.received or 0) + self.lost

    @property
    def percent(self) -> float:
        """Lost blocks in percent of those sent to the instance; 100 where none is known to have arrived."""
        return 100 * self.lost / self.of if self.of else 0.0

    @property
    def worst_sender(self) -> int | None:
        """The instance that sent most of the lost blocks."""
        return max(self.senders, key=lambda n: (self.senders[n], -n)) if self.senders else None


def lost_at(cluster: Cluster, node: str) -> int:
    """Return the blocks that the instances of a node lost in the interval; 0 where that is not known."""
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return 0
    losses = (loss_of(activity, own) for own in active(activity) if node_of(cluster, own.instance) == node)
    return sum(loss.lost for loss in losses if loss)


def quiet_tells(number: int, probing_s: float, seconds: float) -> bool:
    """Return whether a time without probes was long enough to show that what was counted while racwire probed happens
    only then: it was as long, or at the same rate several were due in it."""
    return seconds - probing_s >= min(probing_s, _EXPECTED_LOSSES * probing_s / max(1, number))


def loss_of(activity: Activity, own: InstanceActivity) -> InstanceLoss | None:
    """Return the loss of one instance; None where neither statistics, transfers nor waits show it.

    The counts of the statistics and of the transfers are sampled at slightly different times, so the larger one is
    used. Waits for lost blocks count where both are 0, so that none of the three sources is ignored. Transfers that
    were not all read do not prove that nothing was lost.
    """
    transfers = () if isinstance(activity.transfers, Unknown) else activity.transfers
    of_own = [t for t in transfers if t.receiver == own.instance and t.sender != own.instance]
    senders: dict[int, int] = {}
    for transfer in of_own:
        if transfer.lost > 0:
            senders[transfer.sender] = senders.get(transfer.sender, 0) + transfer.lost
    waits = tuple(e for e in own.events if e.name.endswith("block lost") and e.waits > 0)
    counted_lost = lost(own.statistics)
    arrived = received(own.statistics)
    if arrived is None and of_own:
        arrived = sum(t.cr_blocks + t.current_blocks for t in of_own)
    if counted_lost is None and not of_own and not waits:
        return None
    if counted_lost is None and not waits and not senders and activity.why_unread("GV$INSTANCE_CACHE_TRANSFER"):
        return None
    number = max(counted_lost or 0, sum(senders.values())) or sum(e.waits for e in waits)
    part = activity.quiet if isinstance(activity.quiet, QuietLosses) else None
    quiet = part.lost.get(own.instance) if part else None
    return InstanceLoss(
        instance=own.instance,
        seconds=own.seconds,
        lost=max(0, number),
        received=None if arrived is None else max(0, arrived),
        senders=senders,
        waits=waits,
        waits_are_on_top=any(e in waits for e in costliest(own.events)),
        claims_lost=max(0, own.statistics.get("gc claim blocks lost", 0)),
        corrupt=max(0, own.statistics.get("gc blocks corrupt", 0)),
        while_probing=None if quiet is None else max(0, number - quiet),
        probing_s=max(0.0, own.seconds - part.seconds) if part else 0.0,
    )


def lost_of_sent(activity: Activity) -> tuple[int, int]:
    """Return the lost blocks of all instances together, and the blocks sent to those that lost some: the figures that
    gc-blocks-lost names, for screens. Where nothing is lost, the blocks sent to all instances."""
    every = [loss for own in active(activity) if (loss := loss_of(activity, own))]
    losing = [loss for loss in every if loss.lost]
    return sum(loss.lost for loss in losing), sum(loss.of for loss in losing or every)


def transfers_unread(activity: Activity) -> Unread | None:
    """Return the transfers between instances where they are not known in full; None where they are."""
    if isinstance(activity.transfers, Unknown):
        return activity.transfers
    return activity.unread_view("GV$INSTANCE_CACHE_TRANSFER")


def why_no_transfers(activity: Activity) -> str:
    """Return the reason why the transfers between instances are not known in full; empty where they are."""
    unread = transfers_unread(activity)
    return (unread.reason or "GV$INSTANCE_CACHE_TRANSFER was not read.") if unread else ""


def received_few(received_blocks: int | None, limits: Thresholds) -> bool:
    """Return whether an instance received too few blocks for a verdict."""
    return (received_blocks or 0) < limits.few_blocks


def blocks_against_loss(lost_share: float, limits: Thresholds) -> float:
    """Return the blocks that must pass without a loss to show that not every packet suffers this share of losses.

    At that number chance explains no loss in under 1 % of the runs.
    """
    return max(limits.few_blocks, _EXPECTED_LOSSES / lost_share if lost_share > 0 else 0.0)


def enough_blocks_text(limits: Thresholds) -> str:
    """Return the number of blocks that is enough for a verdict: `100 blocks or more for each instance`."""
    return f"{limits.few_blocks} blocks or more for each instance"


# --- what else shows the loss -----------------------------------------------------------------------------------------

Ends = tuple[str, Sequence[str]]
"""A node that did not receive blocks, and the nodes that sent them; all nodes where no sender is known."""


@dataclass(frozen=True)
class LossEvidence:
    """Evidence in the paths and the kernels' counters about blocks that some nodes did not receive."""

    paths: Mapping[Verdict, Sequence[PathProbe]]
    """The paths between receivers and senders, both ways: a ping without an answer may be lost in either direction."""
    every_path: Sequence[PathProbe]
    """The same paths as a list."""
    counts: Sequence[NodeCounts]
    """The counters of the receivers."""
    not_known: Mapping[str, Sequence[str]]
    """The evidence that is not available (`the paths`), with the nodes."""
    paths_are_clean: bool
    counters_are_clean: bool

    @property
    def ill_paths(self) -> list[PathProbe]:
        """The paths that do not pass all packets, or are not known."""
        return [p for p in self.every_path if p.verdict is not Verdict.PASSES]

    @property
    def shows_loss(self) -> bool:
        """Whether a path or a counter confirms the loss."""
        ill = (*CARRY_TOO_LITTLE, *LOSE_PACKETS)
        return any(self.paths[verdict] for verdict in ill) or any(c.shows_loss for c in self.counts)

    @property
    def looked(self) -> bool:
        """Whether paths or counters were checked and show no loss."""
        return self.paths_are_clean or self.counters_are_clean


def loss_evidence(cluster: Cluster, missing: Sequence[Ends]) -> LossEvidence:
    """Return the evidence about blocks that some nodes did not receive from others."""
    receivers = list(dict.fromkeys(receiver for receiver, _ in missing))
    of_each = {receiver: _paths(cluster, receiver, senders) for receiver, senders in missing}
    every = list(dict.fromkeys(p for own in of_each.values() for p in own))
    by_verdict = {verdict: [p for p in every if p.verdict is verdict] for verdict in Verdict}
    counts = [known for receiver in receivers if (known := node_counts(cluster, receiver))]
    blind = {
        "the paths": [r for r in receivers if all(p.verdict in _NOT_KNOWN for p in of_each[r])],
        "the kernel's counters": [r for r in receivers if r not in {c.node for c in counts}],
    }
    paths_are_clean = not blind["the paths"] and not any(
        by_verdict[verdict] for verdict in (*CARRY_TOO_LITTLE, *LOSE_PACKETS)
    )
    nothing_counted = not any(c.shows_loss for c in counts)
    of_one_time = _of_one_time(cluster)
    if nothing_counted and not of_one_time:
        blind["the kernel's counters of the same time"] = receivers
    return LossEvidence(
        by_verdict,
        every,
        counts,
        {what: [node or "its node" for node in nodes] for what, nodes in blind.items() if nodes},
        paths_are_clean,
        bool(counts) and nothing_counted and of_one_time,
    )


def _paths(cluster: Cluster, receiver: str, senders: Sequence[str]) -> list[PathProbe]:
    own = [p for p in cluster.read_paths() if receiver in (p.from_node, p.to_node)]
    return [p for p in own if not senders or p.from_node in senders or p.to_node in senders]


def _of_one_time(cluster: Cluster) -> bool:
    """Return whether the kernels' counters cover at least half of the time between the samples of the instances."""
    kernels, instances = cluster.counters, cluster.activity
    if not isinstance(kernels, CounterChanges) or not isinstance(instances, Activity):
        return True
    try:
        begin, end = datetime.fromisoformat(instances.begun_at), datetime.fromisoformat(instances.ended_at)
        first, last = datetime.fromisoformat(kernels.begun_at), datetime.fromisoformat(kernels.ended_at)
        return 2 * (min(end, last) - max(begin, first)) >= end - begin
    except (ValueError, TypeError):  # unreadable or incomparable times do not overlap
        return False


# --- the judgement ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LossVerdict:
    """The verdict on some instances that lose blocks."""

    status: Status
    likely_false: bool
    """Whether the only sign of the loss is the count of a release that is known to overcount."""
    evidence: LossEvidence


def judge_loss(cluster: Cluster, activity: Activity, losses: Sequence[InstanceLoss]) -> LossVerdict:
    """Judge instances that lose blocks, by the worst of them.

    A loss is a warning; above the limit of lost blocks, or where waits for lost blocks are among the costliest, it is a
    failure, except where all of them lost blocks only while racwire probed. A count without other evidence is no fault
    on a release that is known to overcount, unless some evidence is not available.
    """
    senders = {loss.instance: nodes_of(cluster, loss.senders) for loss in losses}
    evidence = loss_evidence(cluster, [(node_of(cluster, n), nodes) for n, nodes in senders.items()])
    likely_false = all(_may_be_false(cluster, activity, loss, evidence) for loss in losses)
    if likely_false:
        doubt = evidence.not_known or why_no_transfers(activity) or activity.why_unread("GV$SYSTEM_EVENT")
        status = Status.WARN if doubt else Status.INFO
    else:
        fails = any(_is_failure(cluster.thresholds, loss) and not loss.only_while_probing for loss in losses)
        status = Status.FAIL if fails else Status.WARN
    return LossVerdict(status, likely_false, evidence)


def loss_statuses(cluster: Cluster, activity: Activity, instances: Collection[int]) -> dict[int, Status]:
    """Return the status of each instance: PASS where it lost nothing, UNKNOWN where its loss is not known."""
    found = {}
    for instance in instances:
        own = activity.of(instance)
        loss = loss_of(activity, own) if own else None
        if loss is None:
            found[instance] = Status.UNKNOWN
        else:
            found[instance] = judge_loss(cluster, activity, [loss]).status if loss.lost else Status.PASS
    return found


def share_status(lost_blocks: int, received_blocks: int | None, limits: Thresholds) -> Status:
    """Return the status of lost blocks by their share of those sent to the instance: any lost block is a warning."""
    if lost_blocks <= 0:
        return Status.PASS
    percent = 100 * lost_blocks / ((received_blocks or 0) + lost_blocks)
    return Status.FAIL if percent > limits.lost_blocks_fail_percent else Status.WARN


def _is_failure(limits: Thresholds, loss: InstanceLoss) -> bool:
    return share_status(loss.lost, loss.received, limits) is Status.FAIL or loss.waits_are_on_top


def _may_be_false(cluster: Cluster, activity: Activity, loss: InstanceLoss, evidence: LossEvidence) -> bool:
    """Return whether the count may be false: no other sign, no sender, no wait, and some evidence was checked."""
    looked = evidence.looked or not why_no_transfers(activity)
    alone = not evidence.shows_loss and not loss.senders and not loss.waits
    return counts_falsely(database_of(cluster), loss.instance) and alone and looked


def counts_falsely(database: Database | None, instance: int) -> bool:
    """Return whether the release of the instance counts blocks as lost that were not lost (bug 20922010)."""
    one = database.instance(instance) if database else None
    return one is not None and release(one.version)[:4] == _HAS_FALSE_COUNTS


# --- the history ------------------------------------------------------------------------------------------------------


def past_loss_status(history: History, database: Database | None, past: LossHistory, limits: Thresholds) -> Status:
    """Return the status of a loss in the range of the history: a warning where the last one is recent, else INFO.

    A count of a release that is known to overcount is INFO where the transfers and waits of the history do not confirm
    it.
    """
    doubtful = counts_falsely(database, past.instance) and _is_only_evidence(history, past.instance)
    return Status.WARN if _is_recent(history, past, limits) and not doubtful else Status.INFO


def _is_recent(history: History, past: LossHistory, limits: Thresholds) -> bool:
    """Return whether the last loss is near the end of the range; True also where the times cannot be read."""
    ago = seconds_between(past.last_end, history.end)
    return ago is None or ago <= limits.recent_loss_h * 3600


def _is_only_evidence(history: History, instance: int) -> bool:
    """Return whether the count of lost blocks is the only evidence: neither transfers nor waits of the history confirm
    it, and the history has at least one of the two."""
    own = next((i for i in history.instances if i.instance == instance), None)
    waits = own.events if own else {}
    confirmed = any(name.endswith("block lost") and number > 0 for name, (number, _) in waits.items())
    recorded = bool(waits) or not isinstance(history.transfers, Unknown)
    return recorded and not confirmed and not lost_by_pair(history, [instance])


def lost_by_pair(history: History, receivers: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return the lost blocks by receiver and sender; empty where none were lost, or the source does not record them."""
    transfers = () if isinstance(history.transfers, Unknown) else history.transfers
    return {(t.receiver, t.sender): t.lost for t in transfers if t.receiver in receivers and t.lost > 0}


def seconds_between(begin: str, end: str) -> float | None:
    """Return the seconds from one ISO 8601 time to another; None where the times cannot be read or compared."""
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
    except (TypeError, ValueError):
        return None
