"""Instances that lose blocks for the same cause: they share one finding, with the status of the worst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Activity, Cluster
from checks.model.finding import NextStep, Scalar, Status
from checks.model.known_instances import instance_name, nodes_of
from checks.model.wording import span
from checks.plugins.gc_blocks_lost.loss_signs import LossSigns, signs_of
from checks.plugins.gc_blocks_lost.nic_signs import with_nic_signs
from checks.plugins.shared.grouping import alike, briefly, named
from checks.rules.lost_blocks import InstanceLoss, judge_loss

MAY_BE_FALSE = "12.1.0.2 may count too many lost blocks (bug 20922010, MOS 2096299.1)"


@dataclass(frozen=True)
class LossGroup:
    """Instances that lose blocks for the same cause."""

    losses: tuple[InstanceLoss, ...]
    status: Status
    likely_false: bool
    """Whether the only sign of the loss is the count of a release that is known to overcount."""
    signs: LossSigns
    receivers: tuple[str, ...]
    """The known nodes of the instances."""
    nodes: tuple[str, ...]
    """The receivers, then the nodes of the instances whose blocks were lost."""

    def subject(self, cluster: Cluster) -> str:
        """Return `prod2: 37 in 30 s`."""
        names = briefly((instance_name(cluster, loss.instance) for loss in self.losses), "instance")
        number, seconds = sum(loss.lost for loss in self.losses), max(loss.seconds for loss in self.losses)
        return f"{names}: {number:,} in {span(seconds)}"

    def data(self, cluster: Cluster) -> dict[str, Scalar | None]:
        """Return the loss in numbers, for the data of the finding."""
        received = [loss.received for loss in self.losses]
        return {
            "instances": ", ".join(instance_name(cluster, loss.instance) for loss in self.losses),
            "lost_blocks": sum(loss.lost for loss in self.losses),
            "received_blocks": None if None in received else sum(blocks or 0 for blocks in received),
            "worst_lost_percent": self.extent[0] if self.extent else None,
            "seconds": max(loss.seconds for loss in self.losses),
            "likely_false": self.likely_false,
        }

    @property
    def extent(self) -> tuple[float, str] | None:
        """The loss of the worst instance in percent; None where the number of received blocks is not known."""
        if any(loss.received is None for loss in self.losses):
            return None
        return max(loss.percent for loss in self.losses), "% lost of the blocks sent"


def loss_groups(cluster: Cluster, activity: Activity, losing: Sequence[InstanceLoss]) -> Iterator[LossGroup]:
    """Yield the instances that lose blocks, grouped by the strongest sign of their cause."""
    groups = [_group(cluster, activity, [loss]) for loss in losing]
    for same in alike(groups, lambda g: (g.likely_false, g.signs.cause)):
        yield same[0] if len(same) == 1 else _group(cluster, activity, [loss for g in same for loss in g.losses])


def _group(cluster: Cluster, activity: Activity, losses: Sequence[InstanceLoss]) -> LossGroup:
    senders = {loss.instance: nodes_of(cluster, loss.senders) for loss in losses}
    receivers = nodes_of(cluster, senders)
    verdict = judge_loss(cluster, activity, losses)
    nodes = dict.fromkeys((*receivers, *(node for own in senders.values() for node in own)))
    signs = with_nic_signs(cluster, signs_of(cluster, verdict.evidence), receivers, tuple(nodes))
    return LossGroup(tuple(losses), verdict.status, verdict.likely_false, signs, receivers, tuple(nodes))


def see_patch(nodes: Sequence[str]) -> NextStep:
    """Return the remedy that checks these nodes for the patch against false counts (MOS 2096299.1)."""
    return NextStep(
        "Check whether the patch for bug 20922010 is installed (12.1.0.2.161018 and later include it).",
        ("$ORACLE_HOME/OPatch/opatch lsinventory | grep -i 20922010",),
        f"the owner of the database on {named(nodes, 'node') or 'its node'}",
    )
