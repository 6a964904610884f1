"""What the past says of lost blocks: since when, how much, and whether it grows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from checks.facts import Cluster, History, LossHistory
from checks.plugins._instances import instance_name, moment
from checks.plugins._together import named
from checks.wording import counted

_MOST_PARTS = 8
_RECENT_H = 24


def history_of(cluster: Cluster) -> History | None:
    """The history, where there is one."""
    return cluster.history if isinstance(cluster.history, History) else None


def past_loss(cluster: Cluster, instance: int) -> LossHistory | None:
    """The losses of one instance in the range of the history; None where there were none, or it is not known."""
    history = history_of(cluster)
    losses = history.losses if history else ()
    return next((loss for loss in losses if loss.instance == instance and loss.lost > 0), None)


def is_recent(history: History, past: LossHistory) -> bool:
    """Whether the last loss lies within a day of the end of the range; also where the times cannot be read."""
    try:
        ago = datetime.fromisoformat(history.end) - datetime.fromisoformat(past.last_end)
    except (TypeError, ValueError):
        return True
    return ago.total_seconds() <= _RECENT_H * 3600


def history_evidence(cluster: Cluster) -> list[tuple[str, str]]:
    """Where the journal has what the history says of losses."""
    history = history_of(cluster)
    if history is None:
        return []
    return [(cluster.local_node, f"sql {history.source.lower()}_{what}") for what in ("losses", "periods")]


def history_lines(cluster: Cluster, instances: Sequence[int]) -> list[str]:
    """When the losses of these began, how much it was in all and at its worst, and how it went."""
    history = history_of(cluster)
    if history is None:
        return []
    where = f"{history.source}, {moment(history.begin)} to {moment(history.end)}"
    losses = [past for n in instances if (past := past_loss(cluster, n))]
    if not losses:
        known = [instance_name(cluster, i.instance) for i in history.instances if i.instance in instances]
        strange = [instance_name(cluster, n) for n in instances if instance_name(cluster, n) not in known]
        return [
            *([f"{where}: {named(known, 'instance')} lost no block"] if known else []),
            *([f"{where}: nothing is kept of {named(strange, 'instance')}"] if strange else []),
        ]
    number = sum(past.lost for past in losses)
    worst = max(losses, key=lambda past: past.worst_lost)
    one = len(instances) == 1
    by = "" if one else f" by {named((instance_name(cluster, past.instance) for past in losses), 'instance')}"
    times = f" in {counted(worst.intervals_with_loss, 'interval')}" if one else ""
    lines = [
        f"{where}: {counted(number, 'block')} lost{by}{times}, the latest run of losses since "
        f"{moment(min(past.since_begin for past in losses))}",
        f"worst from {moment(worst.worst_begin)} to {moment(worst.worst_end)}: {counted(worst.worst_lost, 'block')} "
        f"lost{'' if one else f' by {instance_name(cluster, worst.instance)}'}",
    ]
    periods: dict[str, int] = {}
    for part in history.periods:
        if part.instance in instances:
            periods[part.begin] = periods.get(part.begin, 0) + part.lost
    parts = sorted(periods)[-_MOST_PARTS:]
    if len(parts) > 1:
        numbers = ", ".join(f"{periods[begin]:,}" for begin in parts)
        lines.append(f"lost by period, oldest first, from {moment(parts[0])}: {numbers}")
    return lines
