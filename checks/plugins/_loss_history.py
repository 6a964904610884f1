"""What the past says of lost blocks: since when, how much, and whether it grows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from checks.facts import Cluster, History, LossHistory
from checks.plugins._instances import instance_name, moment
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


def history_lines(cluster: Cluster, instance: int) -> list[str]:
    """When the loss began, how much it was in all and at its worst, and how it went."""
    history = history_of(cluster)
    if history is None:
        return []
    where = f"{history.source}, {moment(history.begin)} to {moment(history.end)}"
    past = past_loss(cluster, instance)
    if past is None:
        known = any(i.instance == instance for i in history.instances)
        name = instance_name(cluster, instance)
        return [f"{where}: {name} lost no block"] if known else [f"{where}: nothing is kept of {name}"]
    lines = [
        f"{where}: {counted(past.lost, 'block')} lost in {counted(past.intervals_with_loss, 'interval')}, the latest "
        f"run of losses since {moment(past.since_begin)}",
        f"worst from {moment(past.worst_begin)} to {moment(past.worst_end)}: {counted(past.worst_lost, 'block')} lost",
    ]
    parts = sorted((p for p in history.periods if p.instance == instance), key=lambda p: p.begin)[-_MOST_PARTS:]
    if len(parts) > 1:
        lines.append(f"lost by period, oldest first, from {moment(parts[0].begin)}: {_numbers(p.lost for p in parts)}")
    return lines


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(f"{v:,}" for v in values)
