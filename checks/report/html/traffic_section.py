"""What flowed and what got lost: the pictures, the figures of the instances, and who lost whose blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from checks.model.facts import Activity, ActivityGap, BlockTransfer, Cluster, CounterChanges, Database, History, Unknown
from checks.report.html.evidence_sheets import Sheet
from checks.report.pictures import Figure
from checks.report.pictures_facts import history_figure, instance_name, interval_figures
from checks.report.pictures_samples import sampled
from checks.report.quantities import milliseconds, seconds, share, whole
from checks.report.report_evidence import Evidence
from checks.rules import cache_fusion

_COUNTED = (
    ("Ip", "ReasmReqds", "Fragments"),
    ("Ip", "ReasmOKs", "Reassembled"),
    ("Ip", "ReasmFails", "Failed"),
    ("Udp", "InDatagrams", "UDP in"),
    ("Udp", "RcvbufErrors", "Buffer full"),
    ("Softnet", "Dropped", "Softnet dropped"),
)
_NOT_NEEDED = Cluster(local_node="", taken_at="").activity


@dataclass(frozen=True)
class Losses:
    """Who lost blocks of whom: rows receive, columns send."""

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """A receiver, and what it lost of each; `?` where that was not measured, `·` of itself."""
    has_unknown: bool
    """Whether there is a `?`."""


@dataclass(frozen=True)
class Traffic:
    """A section of the page."""

    sentences: tuple[str, ...]
    figures: tuple[Figure, ...]
    losses: tuple[Losses, ...]
    sheets: tuple[Sheet, ...]


def traffic_of(evidence: Evidence) -> Traffic:
    """All that is known of it. Raises RecordingError where the samples cannot be read."""
    report = evidence.report
    cluster = report.cluster
    samples = sampled(evidence.track, cluster, _zone(report.started_at)) if evidence.track else None
    past = history_figure(cluster)
    figures = samples.figures if samples else interval_figures(cluster)
    told = samples.sentences if samples else ("The traffic was not sampled: there is no picture of it over time.",)
    return Traffic(
        sentences=(*told, *_no_blocks(cluster), *((past,) if isinstance(past, str) else ())),
        figures=(*figures, *((past,) if isinstance(past, Figure) else ())),
        losses=_losses(cluster),
        sheets=tuple(sheet for sheet in (_blocks(cluster), _counters(cluster.counters)) if sheet),
    )


def _zone(time: str) -> tzinfo | None:
    """The zone of the node that the report is of; that of this machine where it names none."""
    try:
        return datetime.fromisoformat(time).tzinfo
    except ValueError:
        return None


def _losses(cluster: Cluster) -> tuple[Losses, ...]:
    activity, history = cluster.activity, cluster.history
    found = []
    if isinstance(activity, Activity):
        title = f"Who lost whose blocks, in {seconds(activity.seconds)}"
        found.append(_square(title, activity.transfers, cluster))
    if isinstance(history, History):
        found.append(_square(f"Who lost whose blocks, in the past ({history.source})", history.transfers, cluster))
    return tuple(square for square in found if square)


def _square(title: str, transfers: Sequence[BlockTransfer] | Unknown, cluster: Cluster) -> Losses | None:
    """None where none got lost."""
    if isinstance(transfers, Unknown) or not any(t.lost > 0 for t in transfers):
        return None
    lost = {(t.receiver, t.sender): t.lost for t in transfers}
    numbers = sorted({number for pair in lost for number in pair})
    names = [instance_name(cluster, number) for number in numbers]
    rows = [
        (name, tuple("·" if to == own else whole(lost.get((own, to))) for to in numbers))
        for own, name in zip(numbers, names, strict=True)
    ]
    return Losses(title, tuple(names), tuple(rows), any("?" in cells for _, cells in rows))


def _no_blocks(cluster: Cluster) -> Iterator[str]:
    """Why nothing is told of the blocks between instances, where that is so."""
    if not isinstance(cluster.activity, Activity):
        why = cluster.activity if isinstance(cluster.database, Database) else cluster.database
        reason = "No check of this run asks for it." if why == _NOT_NEEDED else why.reason
        yield f"What the instances lost in the checks' own interval is not known. {reason}"


def _blocks(cluster: Cluster) -> Sheet | None:
    """What each instance received and lost in the interval."""
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return None
    rows, notes = [], []
    for own in activity.instances:
        name = instance_name(cluster, own.instance)
        if isinstance(own, ActivityGap):
            notes.append(f"{name}: {own.reason}")
            continue
        lost, received = cache_fusion.lost(own.statistics), cache_fusion.received(own.statistics)
        part = "" if lost is None else share(lost, cache_fusion.due(own.statistics))
        served = cache_fusion.served(own.statistics)
        rows.append((name, whole(received), whole(served), whole(lost), part, *_times(own.statistics)))
    title = f"Blocks between instances, in {seconds(activity.seconds)}"
    columns = ("Instance", "Received", "Served", "Lost", "of those sent", "CR block in", "Current block in")
    return Sheet(title, columns, tuple(rows), tuple(notes))


def _times(statistics: Mapping[str, int]) -> tuple[str, str]:
    """How long a block took to come: CR, current."""
    cr = cache_fusion.least_average_ms(statistics.get(cache_fusion.CR_RECEIVED))
    current = cache_fusion.least_average_ms(statistics.get(cache_fusion.CURRENT_RECEIVED))
    return (
        milliseconds(cache_fusion.average_cr_receive_ms(statistics), cr),
        milliseconds(cache_fusion.average_current_receive_ms(statistics), current),
    )


def _counters(counters: CounterChanges | Unknown) -> Sheet | None:
    """What the kernels counted in the interval."""
    if isinstance(counters, Unknown):
        return None
    rows = [
        (change.node, *(whole(change.counters.value(group, name)) for group, name, _ in _COUNTED))
        for change in counters.nodes
    ]
    notes = [f"{node}: {unread.reason}" for node, unread in counters.unread.items()]
    title = f"What the kernels counted, in {seconds(counters.seconds)}"
    return Sheet(title, ("Node", *(told for *_, told in _COUNTED)), tuple(rows), tuple(notes))
