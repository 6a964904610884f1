"""Texts about the blocks that each instance lost, and about their senders."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import Activity, Cluster, Unknown, WaitEvent
from checks.model.finding import Table
from checks.model.known_instances import instance_name
from checks.model.wording import counted, listed, span
from checks.plugins.shared.grouping import MOST_NAMED, named, some, time_of
from checks.plugins.shared.instance_pairs import pairs_table
from checks.rules.lost_blocks import InstanceLoss

_NEARLY_ALL = 0.9
"""Share of the lost blocks sent or received by one instance, from which the title names that instance. Ours."""


def loss_title(cluster: Cluster, losses: Sequence[InstanceLoss]) -> str:
    """Return `prod2 lost 37 of 12,437 blocks in 30 s, all of them from prod1.`"""
    names = named((instance_name(cluster, loss.instance) for loss in losses), "instance")
    number, time = sum(loss.lost for loss in losses), time_of(losses)
    if any(loss.received is None for loss in losses):
        head = f"{names} lost {counted(number, 'block')} in {time}"
    elif not any(loss.received for loss in losses):
        head = f"{names} lost {counted(number, 'block')} in {time} and received none"
    else:
        head = f"{names} lost {number:,} of {counted(sum(loss.of for loss in losses), 'block')} in {time}"
    senders = _worst_sender_text(cluster, losses[0]) if len(losses) == 1 else _common_text(cluster, losses)
    only = "and only while racwire probed" if all(loss.only_while_probing for loss in losses) else ""
    return f"{', '.join(filter(None, (head, senders, only)))}."


def _worst_sender_text(cluster: Cluster, loss: InstanceLoss) -> str:
    """Return the text for the worst sender of the blocks that one instance lost; empty where it is not known."""
    worst = loss.worst_sender
    if worst is None:
        return ""
    sender, share = instance_name(cluster, worst), loss.senders[worst]
    if share == loss.lost:
        return f"from {sender}" if loss.lost == 1 else f"all of them from {sender}"
    return f"{share:,} of them from {sender}"


def _common_text(cluster: Cluster, losses: Sequence[InstanceLoss]) -> str:
    """Return the text for the instance that nearly all losses have in common, else for the worst pair."""
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


def loss_lines(cluster: Cluster, activity: Activity, losses: Sequence[InstanceLoss]) -> list[str]:
    """Return a line for each instance, the worst first, and a line for each wait event of lost blocks."""
    worst = sorted(losses, key=lambda loss: (-loss.lost, loss.instance))
    lines = list(some([_line(cluster, loss, alone=len(losses) == 1) for loss in worst if loss.received]))
    waits: dict[str, list[WaitEvent]] = {}
    for event in (e for loss in losses for e in loss.waits):
        waits.setdefault(event.name, []).append(event)
    for name, events in waits.items():
        number = counted(sum(e.waits for e in events), "wait")
        lines.append(f"{name}: {number}, {sum(e.time_us for e in events) / 1e6:,.1f} s in all")
    lines += some([_while_probing(cluster, loss) for loss in worst if loss.while_probing])
    if isinstance(activity.quiet, Unknown):
        lines.append(f"whether racwire's own packets cost blocks is not known: {activity.quiet.reason}")
    return lines


def _while_probing(cluster: Cluster, loss: InstanceLoss) -> str:
    return (
        f"{instance_name(cluster, loss.instance)}: {loss.while_probing:,} of these {loss.lost:,} were lost while "
        f"racwire probed, {span(loss.probing_s)} of {span(loss.seconds)}"
    )


def _line(cluster: Cluster, loss: InstanceLoss, alone: bool) -> str:
    line = f"{instance_name(cluster, loss.instance)}: {loss.lost:,} lost, {loss.received or 0:,} received"
    if alone or not loss.senders:
        return line
    if len(loss.senders) > MOST_NAMED:
        return f"{line}; {_worst_sender_text(cluster, loss)}"
    senders = [f"{n:,} from {instance_name(cluster, sender)}" for sender, n in loss.senders.items()]
    if rest := loss.lost - sum(loss.senders.values()):
        senders.append(f"{rest:,} of unknown origin")
    return f"{line}; {listed(senders)}"


def loss_table(cluster: Cluster, activity: Activity) -> Table | None:
    """Return the table of lost blocks, receiver by sender; None where no transfers are known."""
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
