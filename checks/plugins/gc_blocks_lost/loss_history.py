"""Lost blocks in AWR or Statspack: since when, how many, and whether the loss grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.facts import Cluster, History, LossHistory, Unknown
from checks.model.known_instances import instance_name
from checks.model.wording import counted, listed, moment, span
from checks.plugins.shared.grouping import named, some
from checks.plugins.shared.instance_text import statement_topics
from checks.rules.lost_blocks import lost_by_pair, seconds_between

_MOST_PARTS = 8


def history_of(cluster: Cluster) -> History | None:
    """Return the history, or None where there is none."""
    return cluster.history if isinstance(cluster.history, History) else None


def past_loss(cluster: Cluster, instance: int) -> LossHistory | None:
    """Return the losses of one instance in the range of the history; None where none are known."""
    history = history_of(cluster)
    losses = history.losses if history else ()
    return next((loss for loss in losses if loss.instance == instance and loss.lost > 0), None)


def history_evidence(cluster: Cluster) -> list[tuple[str, str]]:
    """Return the journal topics of the losses in the history."""
    history = history_of(cluster)
    if history is None:
        return []
    transfers = () if isinstance(history.transfers, Unknown) else ("cache_transfer",)
    read = ("instances", "losses", "periods", *transfers)
    return statement_topics(cluster, *(f"{history.source.lower()}_{what}" for what in read))


def history_lines(cluster: Cluster, instances: Sequence[int]) -> list[str]:
    """Return lines about the earlier losses of these instances: start, total, worst interval and trend."""
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
            *([f"{where}: no data about {named(strange, 'instance')}"] if strange else []),
            *_gaps(cluster, history, instances),
        ]
    number = sum(past.lost for past in losses)
    worst = max(losses, key=lambda past: past.worst_lost)
    one = len(instances) == 1
    by = "" if one else f" by {named((instance_name(cluster, past.instance) for past in losses), 'instance')}"
    times = f" in {counted(worst.intervals_with_loss, 'interval')}" if one else ""
    lines = [
        f"{where}: {counted(number, 'block')} lost{by}{times}, the latest run of losses since "
        f"{moment(min(past.since_begin for past in losses))}",
        f"worst {_between(worst.worst_begin, worst.worst_end)}: {counted(worst.worst_lost, 'block')} "
        f"lost{'' if one else f' by {instance_name(cluster, worst.instance)}'}",
    ]
    if pairs := lost_by_pair(history, instances):
        (receiver, sender), blocks = max(pairs.items(), key=lambda pair: (pair[1], [-n for n in pair[0]]))
        ends = f"from {instance_name(cluster, sender)} to {instance_name(cluster, receiver)}"
        lines.append(f"most between two instances: {counted(blocks, 'block')} lost {ends}")
    return [*lines, *_by_period(history, instances), *_gaps(cluster, history, instances)]


def _by_period(history: History, instances: Sequence[int]) -> Iterator[str]:
    """Yield the losses period by period; the periods at the ends of the range may be shorter than the others."""
    own = [part for part in history.periods if part.instance in instances]
    begins = sorted({part.begin for part in own})[-_MOST_PARTS:]
    if len(begins) < 2:
        return
    lost = dict.fromkeys(begins, 0)
    for part in own:
        if part.begin in lost:
            lost[part.begin] += part.lost
    lengths = [length for part in own if (length := seconds_between(part.begin, part.end)) is not None]
    length = max(lengths, default=0.0)
    of = f" of {span(length)}" if length > 0 else ""
    first = _second(begins[0]) if 0 < length < 60 else moment(begins[0])
    yield f"lost in periods{of}, oldest first, from {first}: {', '.join(f'{number:,}' for number in lost.values())}"


def _between(begin: str, end: str) -> str:
    """Return `from 2026-11-18 03:00 to 04:00`; with seconds where the time is below two minutes."""
    length = seconds_between(begin, end)
    text_of = _second if length is not None and length < 120 else moment
    first, last = text_of(begin), text_of(end)
    return f"from {first} to {last[11:] if last[:10] == first[:10] else last}"


def _second(text: str) -> str:
    """Return a time of the database with seconds: `2026-11-18 03:00:05`."""
    return text.replace("T", " ")[:19]


def _gaps(cluster: Cluster, history: History, instances: Sequence[int]) -> tuple[str, ...]:
    """Return lines about gaps: losses around a restart are in no difference of two snapshots."""
    lines = []
    for one in (i for i in history.instances if i.instance in instances):
        kinds = ((one.restarts, "restart"), (one.missing_snapshots, "missing snapshot"))
        if holes := [counted(number, what) for number, what in kinds if number > 0]:
            leave = "leaves a gap" if one.restarts + one.missing_snapshots == 1 else "leave gaps"
            lines.append(f"{instance_name(cluster, one.instance)}: {listed(holes)} {leave} in these figures")
    return some(lines)
