"""Instances that lose blocks for one cause: one finding for all of them, as grave as that of the worst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Activity, Cluster, Unknown, release
from checks.model.finding import Remedy, Status
from checks.model.instance_facts import database_of, instance_name, node_of, nodes_of
from checks.plugins.gc_blocks_lost.loss_counts import Loss
from checks.plugins.gc_blocks_lost.loss_signs import Signs, signs_of
from checks.plugins.shared.grouping import alike, briefly, named
from checks.plugins.shared.instance_words import span

_HAS_FALSE_COUNTS = (12, 1, 0, 2)
MAY_BE_FALSE = "12.1.0.2 may count too many (bug 20922010, MOS 2096299.1)"


@dataclass(frozen=True)
class LossGroup:
    """Instances that lose blocks, and what they have in common."""

    losses: tuple[Loss, ...]
    status: Status
    likely_false: bool
    """Whether only the counts of a release that counts wrongly say so."""
    signs: Signs
    receivers: tuple[str, ...]
    """The nodes of the instances, those that are known."""
    nodes: tuple[str, ...]
    """The same, then those of the instances whose blocks got lost."""

    def subject(self, cluster: Cluster) -> str:
        """`prod2: 37 in 30 s`."""
        names = briefly((instance_name(cluster, loss.instance) for loss in self.losses), "instance")
        number, seconds = sum(loss.lost for loss in self.losses), max(loss.seconds for loss in self.losses)
        return f"{names}: {number:,} in {span(seconds)}"

    @property
    def extent(self) -> tuple[float, str] | None:
        """How bad it is at the instance where it is worst; None where it is not known how many blocks came."""
        if any(loss.received is None for loss in self.losses):
            return None
        return max(loss.percent for loss in self.losses), "% lost of the blocks sent"


def loss_groups(cluster: Cluster, activity: Activity, losing: Sequence[Loss]) -> Iterator[LossGroup]:
    """The instances that lose blocks, by what the most telling sign of each says."""
    groups = [_group(cluster, activity, [loss]) for loss in losing]
    for same in alike(groups, lambda g: (g.likely_false, g.signs.cause)):
        yield same[0] if len(same) == 1 else _group(cluster, activity, [loss for g in same for loss in g.losses])


def _group(cluster: Cluster, activity: Activity, losses: Sequence[Loss]) -> LossGroup:
    senders = {loss.instance: nodes_of(cluster, loss.senders) for loss in losses}
    signs = signs_of(cluster, [(node_of(cluster, n), nodes) for n, nodes in senders.items()])
    receivers = nodes_of(cluster, senders)
    likely_false = all(_may_be_false(cluster, activity, loss, signs) for loss in losses)
    if likely_false:
        doubt = signs.not_known or why_no_transfers(activity) or activity.why_unread("GV$SYSTEM_EVENT")
        status = Status.WARN if doubt else Status.INFO
    else:
        status = Status.FAIL if any(_is_grave(cluster, loss) for loss in losses) else Status.WARN
    nodes = (*receivers, *(node for own in senders.values() for node in own))
    return LossGroup(tuple(losses), status, likely_false, signs, receivers, tuple(dict.fromkeys(nodes)))


def _is_grave(cluster: Cluster, loss: Loss) -> bool:
    return loss.percent > cluster.thresholds.lost_blocks_fail_percent or loss.waits_are_on_top


def _may_be_false(cluster: Cluster, activity: Activity, loss: Loss, signs: Signs) -> bool:
    """Whether the count stands alone: no sign, no sender, no wait, and at least something was looked at."""
    looked = bool(signs.clean) or not why_no_transfers(activity)
    alone = not signs.signs and not loss.senders and not loss.waits
    return counts_falsely(cluster, loss.instance) and alone and looked


def counts_falsely(cluster: Cluster, instance: int) -> bool:
    """Whether the instance is of the release that counts blocks as lost that were not (bug 20922010)."""
    database = database_of(cluster)
    one = database.instance(instance) if database else None
    return one is not None and release(one.version)[:4] == _HAS_FALSE_COUNTS


def see_patch(nodes: Sequence[str]) -> Remedy:
    """Whether these nodes have what ends the false counts (MOS 2096299.1)."""
    return Remedy(
        "See whether the patch for bug 20922010 is in (12.1.0.2.161018 and later have it).",
        ("$ORACLE_HOME/OPatch/opatch lsinventory | grep -i 20922010",),
        f"the owner of the database on {named(nodes, 'node') or 'its node'}",
    )


def why_no_transfers(activity: Activity) -> str:
    """Why the transfers between instances are not known, or not all of them; empty where they are."""
    if isinstance(activity.transfers, Unknown):
        return activity.transfers.reason or "GV$INSTANCE_CACHE_TRANSFER was not read."
    return activity.why_unread("GV$INSTANCE_CACHE_TRANSFER") or ""
