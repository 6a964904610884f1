"""How grave the figures of the Database screen are: the rules of the checks, on the samples that are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from checks.rules.receive_time import BlockTimes, judge_time, judge_times, times_of, waits_are_known
from checks.traffic.samples import InstanceSample, PairsSample

_NOT_SAMPLED = (
    UnreadView("GV$SYSTEM_EVENT", "Live samples hold no waits."),
    UnreadView("GV$INSTANCE_CACHE_TRANSFER", "Live samples of the pairs are of another time."),
)


def _told(status: Status | None) -> Status | None:
    """The status where it is more than a pass: what passes is a figure without a letter."""
    return None if status is Status.PASS else status


@dataclass(frozen=True)
class RunStatuses:
    """Judges figures against a run: its facts, and the waits that it read."""

    cluster: Cluster
    """With the newest groups of facts that are known."""

    @property
    def _run(self) -> Activity | None:
        return self.cluster.activity if isinstance(self.cluster.activity, Activity) else None

    def losses(self, activity: Activity) -> Mapping[int, Status | None]:
        """Status of the loss of each instance in these samples, by number."""
        cluster = msgspec.structs.replace(self.cluster, activity=activity)
        told = [own.instance for own in activity.instances if isinstance(own, InstanceActivity)]
        return {number: _told(status) for number, status in loss_statuses(cluster, activity, told).items()}

    def times(self, own: InstanceActivity) -> tuple[Status | None, Status | None]:
        """Statuses of an instance's averages of CR and of current blocks, held against the waits of the run."""
        known = msgspec.structs.replace(own, events=self._events(own.instance))
        cr, current = judge_times(times_of(known), self._waits_known, self.cluster.thresholds)
        return _told(cr), _told(current)

    def pair_time(self, transfer: BlockTransfer) -> Status | None:
        """Status of the averages between two instances, the worse of the two kinds of blocks."""
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
        each = (_told(judge_time(kind, self._waits_known, self.cluster.thresholds)) for kind in kinds)
        return min((status for status in each if status), key=lambda s: s.gravity, default=None)

    def ping(self, ping: InstancePing) -> Status | None:
        """Status of the pings of a pair."""
        return _told(judge_ping(ping, self.cluster.thresholds).status)

    def too_few(self, ping: InstancePing) -> bool:
        """Whether a pair's pings are too few to be judged."""
        return judge_ping(ping, self.cluster.thresholds).status is None

    @property
    def _waits_known(self) -> bool:
        return self._run is not None and waits_are_known(self._run)

    def _events(self, instance: int) -> tuple[WaitEvent, ...]:
        own = self._run.of(instance) if self._run else None
        return own.events if own else ()


def average_ms(time_us: int, blocks: int) -> float | None:
    """Milliseconds of a block on average; None where none came."""
    return time_us / blocks / 1000 if blocks > 0 else None


def sampled_activity(samples: Sequence[InstanceSample]) -> Activity:
    """Live samples as the checks have them: without waits, without transfers, of no time that the kernels' counters
    are of."""
    return Activity(
        "",
        "",
        max((s.seconds for s in samples), default=0.0),
        tuple(InstanceActivity(s.number, s.seconds, s.statistics, s.messages) for s in samples),
        transfers=(),
        unread=_NOT_SAMPLED,
    )


def sampled_pairs(pairs: PairsSample) -> Activity:
    """A live sample of the pairs as the checks have it."""
    receivers = dict.fromkeys(t.receiver for t in pairs.transfers)
    instances = tuple(InstanceActivity(n, pairs.seconds) for n in receivers)
    return Activity("", "", pairs.seconds, instances, pairs.transfers, unread=_NOT_SAMPLED[:1])
