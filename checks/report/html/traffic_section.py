"""The traffic section of the HTML page: pictures, figures of the instances, and the matrix of lost blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import (
    Activity,
    ActivityGap,
    BlockTransfer,
    Cluster,
    CounterChanges,
    Database,
    History,
    NotGathered,
    Unknown,
)
from checks.model.known_instances import instance_name
from checks.report.age import zone_of
from checks.report.html.evidence_sheets import Sheet
from checks.report.pictures import Figure
from checks.report.pictures_facts import history_figure, interval_figures, size_figures, user_figures
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


@dataclass(frozen=True)
class LossMatrix:
    """Lost blocks by receiver (rows) and sender (columns)."""

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """A receiver, and the number of lost blocks from each sender: `?` where it was not measured, `·` for itself."""
    has_unknown: bool
    """Whether a cell is `?`."""


@dataclass(frozen=True)
class TrafficSection:
    """The contents of the section."""

    sentences: tuple[str, ...]
    figures: tuple[Figure, ...]
    loss_matrices: tuple[LossMatrix, ...]
    sheets: tuple[Sheet, ...]


def traffic_section(evidence: Evidence) -> TrafficSection:
    """Return the section from samples and facts. Raises RecordingError where the samples cannot be read."""
    report = evidence.report
    cluster = report.cluster
    samples = sampled(evidence.track, cluster, zone_of(report.started_at)) if evidence.track else None
    history = history_figure(cluster)
    figures = samples.figures if samples else interval_figures(cluster)
    not_sampled = "racwire did not sample the traffic, so no picture shows the traffic over time."
    sentences = samples.sentences if samples else (not_sampled,)
    return TrafficSection(
        sentences=(*sentences, *_no_activity(cluster), *((history,) if isinstance(history, str) else ())),
        figures=(
            *figures,
            *user_figures(cluster),
            *size_figures(cluster),
            *((history,) if isinstance(history, Figure) else ()),
        ),
        loss_matrices=_loss_matrices(cluster),
        sheets=tuple(sheet for sheet in (_blocks(cluster), _counters(cluster.counters)) if sheet),
    )


def _loss_matrices(cluster: Cluster) -> tuple[LossMatrix, ...]:
    activity, history = cluster.activity, cluster.history
    found = []
    if isinstance(activity, Activity):
        title = f"Lost blocks by receiver and sender, in {seconds(activity.seconds)}"
        found.append(_loss_matrix(title, activity.transfers, cluster))
    if isinstance(history, History):
        title = f"Lost blocks by receiver and sender, in the history ({history.source})"
        found.append(_loss_matrix(title, history.transfers, cluster))
    return tuple(matrix for matrix in found if matrix)


def _loss_matrix(title: str, transfers: Sequence[BlockTransfer] | Unknown, cluster: Cluster) -> LossMatrix | None:
    """Return the matrix; None where no block was lost."""
    if isinstance(transfers, Unknown) or not any(t.lost > 0 for t in transfers):
        return None
    lost = {(t.receiver, t.sender): t.lost for t in transfers}
    numbers = sorted({number for pair in lost for number in pair})
    names = [instance_name(cluster, number) for number in numbers]
    rows = [
        (name, tuple("·" if to == own else whole(lost.get((own, to))) for to in numbers))
        for own, name in zip(numbers, names, strict=True)
    ]
    return LossMatrix(title, tuple(names), tuple(rows), any("?" in cells for _, cells in rows))


def _no_activity(cluster: Cluster) -> Iterator[str]:
    """Yield the reason why the blocks between instances are not known, where they are not."""
    if not isinstance(cluster.activity, Activity):
        why = cluster.activity if isinstance(cluster.database, Database) else cluster.database
        reason = "No check of this run needs these numbers." if isinstance(why, NotGathered) else why.reason
        yield f"The blocks that the instances lost in the interval of the checks are not known. {reason}"


def _blocks(cluster: Cluster) -> Sheet | None:
    """Return the table of the blocks that each instance received, served and lost in the interval."""
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
    columns = ("Instance", "Received", "Served", "Lost", "Lost of sent", "CR block in", "Current block in")
    return Sheet(title, columns, tuple(rows), tuple(notes))


def _times(statistics: Mapping[str, int]) -> tuple[str, str]:
    """The average time to receive a CR block and a current block."""
    cr = cache_fusion.least_average_ms(statistics.get(cache_fusion.CR_RECEIVED))
    current = cache_fusion.least_average_ms(statistics.get(cache_fusion.CURRENT_RECEIVED))
    return (
        milliseconds(cache_fusion.average_cr_receive_ms(statistics), cr),
        milliseconds(cache_fusion.average_current_receive_ms(statistics), current),
    )


def _counters(counters: CounterChanges | Unknown) -> Sheet | None:
    """Return the table of the kernel counters in the interval."""
    if isinstance(counters, Unknown):
        return None
    rows = [
        (change.node, *(whole(change.counters.value(group, name)) for group, name, _ in _COUNTED))
        for change in counters.nodes
    ]
    notes = [f"{node}: {unread.reason}" for node, unread in counters.unread.items()]
    title = f"Kernel counters, in {seconds(counters.seconds)}"
    return Sheet(title, ("Node", *(heading for *_, heading in _COUNTED)), tuple(rows), tuple(notes))
