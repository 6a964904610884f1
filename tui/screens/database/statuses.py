"""The statuses of the figures on the Database screen: the rules of the checks, applied to the displayed samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from checks.model.facts import (
    Activity,
    BlockTransfer,
    Cluster,
    InstanceActivity,
    InstancePing,
    UnreadView,
    WaitEvent,
)
from checks.model.finding import Status
from checks.rules.instance_pings import judge_ping
from checks.rules.lost_blocks import loss_statuses
from checks.rules.receive_time import (
    BlockTimes,
    ReceiveLimits,
    judge_time,
    judge_times,
    receive_limits,
    times_of,
    waits_are_known,
)
from checks.traffic.samples import InstanceSample, PairsSample

_NOT_SAMPLED = (
    UnreadView("GV$SYSTEM_EVENT", "Live samples hold no waits."),
    UnreadView("GV$INSTANCE_CACHE_TRANSFER", "Live samples of the pairs are of another time."),
)


def _notable(status: Status | None) -> Status | None:
    """Return the status, but None for PASS: a figure that passes has no letter."""
    return None if status is Status.PASS else status


@dataclass(frozen=True)
class RunStatuses:
    """Judges figures with the facts and the wait events of a run."""

    cluster: Cluster
    """The facts, each group from the newest run that has it."""

    @property
    def _run(self) -> Activity | None:
        return self.cluster.activity if isinstance(self.cluster.activity, Activity) else None

    @cached_property
    def _limits(self) -> ReceiveLimits:
        """The limits of receive times; of 8 nodes, to find them for each pair would take most of the time of a page."""
        return receive_limits(self.cluster)

    def losses(self, activity: Activity) -> Mapping[int, Status | None]:
        """Return the status of the loss of each instance in these samples, by number."""
        cluster = msgspec.structs.replace(self.cluster, activity=activity)
        known = [own.instance for own in activity.instances if isinstance(own, InstanceActivity)]
        return {number: _notable(status) for number, status in loss_statuses(cluster, activity, known).items()}

    def times(self, own: InstanceActivity) -> tuple[Status | None, Status | None]:
        """Return the statuses of the average receive times of CR and of current blocks, judged with the waits of the
        run."""
        known = msgspec.structs.replace(own, events=self._events(own.instance))
        cr, current = judge_times(times_of(known), self._waits_known, self._limits)
        return _notable(cr), _notable(current)

    def pair_time(self, transfer: BlockTransfer) -> Status | None:
        """Return the status of the averages between two instances: the worse one of both kinds of blocks."""
        cr, current = times_of(InstanceActivity(transfer.receiver, 0.0, events=self._events(transfer.receiver))).kinds
        kinds = (
            BlockTimes("CR", transfer.cr_blocks, average_ms(transfer.cr_time_us, transfer.cr_blocks), cr.waited_ms),
            BlockTimes(
                "current",
                transfer.current_blocks,
                average_ms(transfer.current_time_us, transfer.current_blocks),
                current.waited_ms,
            ),
        )
        each = (_notable(judge_time(kind, self._waits_known, self._limits)) for kind in kinds)
        return min((status for status in each if status), key=lambda s: s.gravity, default=None)

    def ping(self, ping: InstancePing) -> Status | None:
        """Return the status of the pings of a pair."""
        return _notable(judge_ping(ping, self.cluster.thresholds).status)

    def too_few(self, ping: InstancePing) -> bool:
        """Return whether a pair has too few pings to be judged."""
        return judge_ping(ping, self.cluster.thresholds).status is None

    @property
    def _waits_known(self) -> bool:
        return self._run is not None and waits_are_known(self._run)

    def _events(self, instance: int) -> tuple[WaitEvent, ...]:
        own = self._run.of(instance) if self._run else None
        return own.events if own else ()


def average_ms(time_us: int, blocks: int) -> float | None:
    """Return the average milliseconds per block; None where there was no block."""
    return time_us / blocks / 1000 if blocks > 0 else None


def sampled_activity(samples: Sequence[InstanceSample]) -> Activity:
    """Return live samples in the form that the rules take: without waits and transfers, and without a time to compare
    with the counters of the kernels."""
    return Activity(
        "",
        "",
        max((s.seconds for s in samples), default=0.0),
        tuple(InstanceActivity(s.number, s.seconds, s.statistics, s.messages) for s in samples),
        transfers=(),
        unread=_NOT_SAMPLED,
    )


def sampled_pairs(pairs: PairsSample) -> Activity:
    """Return a live sample of the pairs in the form that the rules take."""
    receivers = dict.fromkeys(t.receiver for t in pairs.transfers)
    instances = tuple(InstanceActivity(n, pairs.seconds) for n in receivers)
    return Activity("", "", pairs.seconds, instances, pairs.transfers, unread=_NOT_SAMPLED[:1])
