"""What each instance lost of what it received, and whose blocks those were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checks.model.facts import Activity, Cluster, InstanceActivity, Unknown, WaitEvent
from checks.model.finding import Table
from checks.model.instance_facts import instance_name
from checks.model.wording import counted, listed
from checks.plugins.shared.grouping import MOST_NAMED, named, some
from checks.plugins.shared.instance_pairs import pairs_table
from checks.plugins.shared.instance_words import span
from checks.rules.cache_fusion import lost, received
from checks.rules.waits import costliest

_NEARLY_ALL = 0.9
"""Share of the lost blocks that touch one instance from which it is called the one that they have in common. Ours."""


@dataclass(frozen=True)
class Loss:
    """One instance in the interval."""

    instance: int
    seconds: float
    lost: int
    received: int | None
    """None where the statistics were not read."""
    senders: dict[int, int]
    """Lost blocks by the instance that sent them; empty where that is not known, or there were none."""
    waits: tuple[WaitEvent, ...]
    """Waits for blocks that were lost."""
    waits_are_on_top: bool
    """Whether one of them is among the three events of the wait class Cluster that took longest."""
    claims_lost: int
    corrupt: int

    @property
    def of(self) -> int:
        """Blocks that were sent to it: received or lost, as `checks.rules.cache_fusion.due`."""
        return (self.received or 0) + self.lost

    @property
    def percent(self) -> float:
        """Blocks lost, of a hundred that were sent to it; 100 where none is known to have come."""
        return 100 * self.lost / self.of if self.of else 0.0

    @property
    def worst_sender(self) -> int | None:
        """Whose blocks are lost most."""
        return max(self.senders, key=lambda n: (self.senders[n], -n)) if self.senders else None


def loss_of(activity: Activity, own: InstanceActivity) -> Loss | None:
    """What one instance lost; None where nothing says so.

    The count of the statistics and that of the transfers are sampled moments apart: the larger one is taken. Waits
    for lost blocks count where both say nothing, so that none of the three is passed over. Transfers that were not
    all read do not prove that nothing was lost.
    """
    transfers = () if isinstance(activity.transfers, Unknown) else activity.transfers
    of_own = [t for t in transfers if t.receiver == own.instance and t.sender != own.instance]
    senders: dict[int, int] = {}
    for transfer in of_own:
        if transfer.lost > 0:
            senders[transfer.sender] = senders.get(transfer.sender, 0) + transfer.lost
    waits = tuple(e for e in own.events if e.name.endswith("block lost") and e.waits > 0)
    counted_lost = lost(own.statistics)
    came = received(own.statistics)
    if came is None and of_own:
        came = sum(t.cr_blocks + t.current_blocks for t in of_own)
    if counted_lost is None and not of_own and not waits:
        return None
    if counted_lost is None and not waits and not senders and activity.why_unread("GV$INSTANCE_CACHE_TRANSFER"):
        return None
    number = max(counted_lost or 0, sum(senders.values())) or sum(e.waits for e in waits)
    return Loss(
        instance=own.instance,
        seconds=own.seconds,
        lost=max(0, number),
        received=None if came is None else max(0, came),
        senders=senders,
        waits=waits,
        waits_are_on_top=any(e in waits for e in costliest(own.events)),
        claims_lost=max(0, own.statistics.get("gc claim blocks lost", 0)),
        corrupt=max(0, own.statistics.get("gc blocks corrupt", 0)),
    )


def loss_title(cluster: Cluster, losses: Sequence[Loss]) -> str:
    """`prod2 lost 37 of 12,437 blocks in 30 s, all of them from prod1.`"""
    names = named((instance_name(cluster, loss.instance) for loss in losses), "instance")
    number, time = sum(loss.lost for loss in losses), span(max(loss.seconds for loss in losses))
    if any(loss.received is None for loss in losses):
        head = f"{names} lost {counted(number, 'block')} in {time}"
    elif not any(loss.received for loss in losses):
        head = f"{names} lost {counted(number, 'block')} in {time} and received none"
    else:
        head = f"{names} lost {number:,} of {counted(sum(loss.of for loss in losses), 'block')} in {time}"
    whose = _whose(cluster, losses[0]) if len(losses) == 1 else _between_whom(cluster, losses)
    return f"{head}, {whose}." if whose else f"{head}."


def _whose(cluster: Cluster, loss: Loss) -> str:
    """Whose blocks one instance lost."""
    worst = loss.worst_sender
    if worst is None:
        return ""
    sender, share = instance_name(cluster, worst), loss.senders[worst]
    if share == loss.lost:
        return f"from {sender}" if loss.lost == 1 else f"all of them from {sender}"
    return f"{share:,} of them from {sender}"


def _between_whom(cluster: Cluster, losses: Sequence[Loss]) -> str:
    """What several instances that lost blocks have in common: one that all losses touch, or the worst pair."""
    pairs = {(loss.instance, sender): n for loss in losses for sender, n in loss.senders.items()}
    if not pairs:
        return ""
    total = sum(loss.lost for loss in losses)
    touched = {n: sum(lost for pair, lost in pairs.items() if n in pair) for pair in pairs for n in pair}
    hub = max(touched, key=lambda n: (touched[n], -n))
    (receiver, sender), worst = max(pairs.items(), key=lambda item: (item[1], [-n for n in item[0]]))
    if len(touched) > 2 and touched[hub] >= _NEARLY_ALL * total:
        receives = any(receiver == hub for receiver, _ in pairs)
        share = "all" if touched[hub] == total else "most"
        return f"{share} of them {'to or ' if receives else ''}from {instance_name(cluster, hub)}"
    if 2 * worst > total:
        return f"most of them {instance_name(cluster, receiver)}'s from {instance_name(cluster, sender)}"
    return f"at worst {worst:,} from {instance_name(cluster, sender)} to {instance_name(cluster, receiver)}"


def loss_lines(cluster: Cluster, losses: Sequence[Loss]) -> list[str]:
    """What the views say of it, the instance that lost most first."""
    worst = sorted(losses, key=lambda loss: (-loss.lost, loss.instance))
    lines = list(some([_line(cluster, loss, alone=len(losses) == 1) for loss in worst if loss.received]))
    waits: dict[str, list[WaitEvent]] = {}
    for event in (e for loss in losses for e in loss.waits):
        waits.setdefault(event.name, []).append(event)
    for name, events in waits.items():
        number = counted(sum(e.waits for e in events), "wait")
        lines.append(f"{name}: {number}, {sum(e.time_us for e in events) / 1e6:,.1f} s in all")
    return lines


def _line(cluster: Cluster, loss: Loss, alone: bool) -> str:
    line = f"{instance_name(cluster, loss.instance)}: {loss.lost:,} lost, {loss.received or 0:,} received"
    if alone or not loss.senders:
        return line
    if len(loss.senders) > MOST_NAMED:
        return f"{line}; {_whose(cluster, loss)}"
    whose = [f"{n:,} from {instance_name(cluster, sender)}" for sender, n in loss.senders.items()]
    if rest := loss.lost - sum(loss.senders.values()):
        whose.append(f"{rest:,} of unknown origin")
    return f"{line}; {listed(whose)}"


def loss_table(cluster: Cluster, activity: Activity) -> Table | None:
    """Lost blocks, receiver by sender."""
    if isinstance(activity.transfers, Unknown) or not activity.transfers:
        return None
    cells: dict[tuple[int, int], int] = {}
    for t in activity.transfers:
        cells[t.receiver, t.sender] = cells.get((t.receiver, t.sender), 0) + t.lost
    return pairs_table(
        cluster,
        ("to", "from"),
        {pair: f"{number:,}" for pair, number in cells.items()},
        cells,
        f"blocks lost in {span(activity.seconds)}, receiver by sender",
        heading="lost",
    )
