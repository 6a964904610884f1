"""What each instance lost of what it received, and whose blocks those were."""

from __future__ import annotations

from dataclasses import dataclass

from checks.cache_fusion import lost, received
from checks.facts import Activity, Cluster, InstanceActivity, Unknown, WaitEvent
from checks.finding import Table
from checks.plugins._instances import instance_name, pair_table, span
from checks.wording import counted

_MANY_EVENTS = 3


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
        """Blocks that ought to have come: received or lost."""
        return (self.received or 0) + self.lost

    @property
    def percent(self) -> float:
        """Blocks lost for every hundred received; 100 where none came."""
        return 100 * self.lost / self.received if self.received else 100.0

    @property
    def worst_sender(self) -> int | None:
        """Whose blocks are lost most."""
        return max(self.senders, key=lambda n: (self.senders[n], -n)) if self.senders else None


def loss_of(activity: Activity, own: InstanceActivity) -> Loss | None:
    """What one instance lost; None where nothing says so.

    The count of the statistics and that of the transfers are sampled moments apart: the larger one is taken. Waits
    for lost blocks count where both say nothing, so that none of the three is passed over.
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
    number = max(counted_lost or 0, sum(senders.values())) or sum(e.waits for e in waits)
    slowest = sorted((e for e in own.events if e.time_us > 0), key=lambda e: -e.time_us)[:_MANY_EVENTS]
    return Loss(
        instance=own.instance,
        seconds=own.seconds,
        lost=max(0, number),
        received=None if came is None else max(0, came),
        senders=senders,
        waits=waits,
        waits_are_on_top=any(e in slowest for e in waits),
        claims_lost=max(0, own.statistics.get("gc claim blocks lost", 0)),
        corrupt=max(0, own.statistics.get("gc blocks corrupt", 0)),
    )


def loss_title(cluster: Cluster, loss: Loss) -> str:
    """`prod2 lost 37 of 12,437 blocks in 30 s, all of them from prod1.`"""
    name, time = instance_name(cluster, loss.instance), span(loss.seconds)
    if loss.received is None:
        head = f"{name} lost {counted(loss.lost, 'block')} in {time}"
    elif not loss.received:
        head = f"{name} lost {counted(loss.lost, 'block')} in {time} and received none"
    else:
        head = f"{name} lost {loss.lost:,} of {counted(loss.of, 'block')} in {time}"
    worst = loss.worst_sender
    if worst is None:
        return f"{head}."
    sender, share = instance_name(cluster, worst), loss.senders[worst]
    if share == loss.lost:
        return f"{head}, from {sender}." if loss.lost == 1 else f"{head}, all of them from {sender}."
    return f"{head}, {share:,} of them from {sender}."


def loss_lines(cluster: Cluster, loss: Loss) -> list[str]:
    """What the views say of it."""
    name = instance_name(cluster, loss.instance)
    lines = []
    if loss.received:
        lines.append(f"{name}: {loss.lost:,} lost, {loss.received:,} received")
    lines += [f"{e.name}: {counted(e.waits, 'wait')}, {e.time_us / 1e6:,.1f} s in all" for e in loss.waits]
    return lines


def loss_table(cluster: Cluster, activity: Activity) -> Table | None:
    """Lost blocks, receiver by sender."""
    if isinstance(activity.transfers, Unknown) or not activity.transfers:
        return None
    cells: dict[tuple[int, int], int] = {}
    for t in activity.transfers:
        cells[t.receiver, t.sender] = cells.get((t.receiver, t.sender), 0) + t.lost
    return pair_table(
        cluster,
        "to \\ from",
        [n for pair in cells for n in pair],
        {pair: f"{number:,}" for pair, number in cells.items()},
        f"blocks lost in {span(activity.seconds)}, receiver by sender",
    )
