"""Blocks of the database as observations: those that were lost, that arrived, and that arrived late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from checks.model.facts import Activity, Cluster, Unknown
from checks.model.known_instances import node_of
from checks.model.observation import Fate, Observation
from checks.model.packet_sizes import BLOCK_HEADER_BYTES, USUAL_BLOCK_BYTES
from checks.model.traffic import Traffic
from checks.rules.cache_fusion import BLOCKS_LOST
from checks.rules.lost_blocks import InstanceLoss, why_no_transfers
from checks.rules.observed.database_ways import DatabaseWays, from_any, that_passed

BLOCK = "block"
_Pair = tuple[str, str]
"""The node that sends, and the node that receives."""


def blocks_exchanged(cluster: Cluster, activity: Activity, losses: Sequence[InstanceLoss]) -> tuple[Observation, ...]:
    """Return what became of the blocks that some instances were sent in the interval, by sender and receiver.

    Blocks of a pair passed where their number is known and none was lost, nor one of an unknown sender at the receiver.
    """
    ways = DatabaseWays(cluster)
    arrived = _arrived(activity, ways)
    return (*_lost(cluster, ways, losses, arrived), *_passed(cluster, ways, losses, arrived))


def blocks_late(cluster: Cluster, numbers: Mapping[int, int]) -> tuple[Observation, ...]:
    """Return the blocks that came late to some instances, of any size and from any node."""
    ways = DatabaseWays(cluster)
    nodes = {number: node_of(cluster, number) for number in numbers}
    return tuple(
        Observation(fate=Fate.DELAYED, what=BLOCK, legs=ways.any_size("", nodes[number]), number=late)
        for number, late in numbers.items()
    )


def false_losses(cluster: Cluster, losses: Sequence[InstanceLoss]) -> tuple[Observation, ...]:
    """Return the counts of lost blocks of a release that counts too many: no packet is known to be lost."""
    counted = [(node_of(cluster, loss.instance), loss.lost) for loss in losses]
    return tuple(
        Observation(fate=Fate.COUNTED, what=BLOCKS_LOST, number=lost, nodes=(node,) if node else ())
        for node, lost in counted
    )


def _lost(
    cluster: Cluster, ways: DatabaseWays, losses: Sequence[InstanceLoss], arrived: Mapping[_Pair, int]
) -> Iterator[Observation]:
    by_pair: dict[_Pair, int] = {}
    for loss in losses:
        receiver = ways.node(loss.instance)
        known = _by_sender(ways, loss)
        for number, lost in known.items():
            pair = (ways.node(number), receiver)
            by_pair[pair] = by_pair.get(pair, 0) + lost
        if rest := loss.lost - sum(known.values()):
            sent = None if loss.received is None else rest + loss.received
            legs = _from_others(cluster, ways, receiver)
            yield Observation(fate=Fate.LOST, what=BLOCK, legs=legs, number=rest, of=sent)
    for (sender, receiver), lost in by_pair.items():
        yield Observation(
            fate=Fate.LOST,
            what=BLOCK,
            legs=_block(cluster, ways, sender, receiver),
            number=lost,
            of=lost + arrived[sender, receiver] if (sender, receiver) in arrived else None,
        )


def _passed(
    cluster: Cluster, ways: DatabaseWays, losses: Sequence[InstanceLoss], arrived: Mapping[_Pair, int]
) -> Iterator[Observation]:
    of_unknown = {ways.node(loss.instance) for loss in losses if loss.lost > sum(_by_sender(ways, loss).values())}
    lost = {(ways.node(sender), ways.node(loss.instance)) for loss in losses for sender in loss.senders}
    receivers = {ways.node(loss.instance) for loss in losses} - of_unknown
    for (sender, receiver), number in arrived.items():
        may_have_passed = number and receiver in receivers and (sender, receiver) not in lost
        if may_have_passed and (legs := that_passed(_block(cluster, ways, sender, receiver))):
            yield Observation(fate=Fate.PASSED, what=BLOCK, legs=legs, number=number, of=number)


def _by_sender(ways: DatabaseWays, loss: InstanceLoss) -> dict[int, int]:
    """Return the lost blocks of the senders whose nodes are known."""
    return {number: lost for number, lost in loss.senders.items() if ways.node(number)}


def _arrived(activity: Activity, ways: DatabaseWays) -> dict[_Pair, int]:
    """Return the blocks that arrived, for each pair of nodes; empty where they are not known in full."""
    if isinstance(activity.transfers, Unknown) or why_no_transfers(activity):
        return {}
    found: dict[_Pair, int] = {}
    for t in activity.transfers:
        sender, receiver = ways.node(t.sender), ways.node(t.receiver)
        if sender and receiver and sender != receiver:
            blocks = max(0, t.cr_blocks) + max(0, t.current_blocks)
            found[sender, receiver] = found.get((sender, receiver), 0) + blocks
    return found


def _from_others(cluster: Cluster, ways: DatabaseWays, receiver: str) -> tuple[Traffic, ...]:
    senders = [node for node in ways.nodes if node != receiver] if receiver else []
    return from_any(leg for sender in senders for leg in _block(cluster, ways, sender, receiver)) or ways.any_size(
        "", receiver
    )


def _block(cluster: Cluster, ways: DatabaseWays, sender: str, receiver: str) -> tuple[Traffic, ...]:
    size = cluster.block_size_bytes or USUAL_BLOCK_BYTES
    return ways.packets(sender, receiver, size + BLOCK_HEADER_BYTES)
