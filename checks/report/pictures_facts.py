"""What the facts know of lost blocks and failed reassemblies, as pictures: over the interval of the checks, and in the
history that AWR or Statspack kept."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from checks.model.facts import Activity, Cluster, CounterChanges, Database, History, HistoryPeriod, InstanceActivity
from checks.report.age import at as moment
from checks.report.pictures import Curve, Figure, Strip, level, nice_top, strip
from checks.report.pictures_places import TrafficPlaces, stretch_of
from checks.report.quantities import seconds, share, whole
from checks.rules import cache_fusion
from checks.traffic.rates import highest

_EPOCH = datetime(1970, 1, 1)


def instance_name(cluster: Cluster, number: int) -> str:
    """An instance's name, or `instance 3` where it is not known."""
    return cluster.database.instance_name(number) if isinstance(cluster.database, Database) else f"instance {number}"


def interval_figures(cluster: Cluster) -> tuple[Figure, ...]:
    """Lost blocks of each instance and failed reassemblies of each node, where there were any, as lengths of bars."""
    found = (_lost(cluster, cluster.activity), _failed(cluster.counters))
    return tuple(figure for figure in found if figure)


def _lost(cluster: Cluster, activity: object) -> Figure | None:
    if not isinstance(activity, Activity):
        return None
    known = {a.instance: a.statistics for a in activity.instances if isinstance(a, InstanceActivity)}
    lost = {n: count for n, s in known.items() if (count := cache_fusion.lost(s)) is not None}
    if not any(count > 0 for count in lost.values()):
        return None
    strips = []
    for number, count in lost.items():
        sent = cache_fusion.due(known[number])
        told = ", ".join(filter(None, (f"{whole(count)} of {whole(sent)} blocks sent", share(count, sent))))
        name = instance_name(cluster, number)
        strips.append(level(name, count, max(lost.values()), f"Lost blocks of {name}", told))
    return Figure(f"Lost blocks in {seconds(activity.seconds)}", "Of each instance, by length.", tuple(strips))


def _failed(counters: object) -> Figure | None:
    if not isinstance(counters, CounterChanges):
        return None
    failed = {c.node: n for c in counters.nodes if (n := c.counters.value("Ip", "ReasmFails")) is not None}
    if not any(count > 0 for count in failed.values()):
        return None
    top = max(failed.values())
    strips = tuple(
        level(node, count, top, f"Failed reassemblies of {node}", f"{whole(count)} packets")
        for node, count in failed.items()
    )
    return Figure(f"Failed reassemblies in {seconds(counters.seconds)}", "Of each node, by length.", strips)


def history_figure(cluster: Cluster) -> Figure | str | None:
    """The blocks that were lost in the course of the history; a sentence where none were."""
    history = cluster.history
    spans = [(p, begin, end) for p in _periods(history) if (begin := _at(p.begin)) < (end := _at(p.end))]
    stretch = stretch_of(min(b for _, b, _ in spans), max(e for *_, e in spans), _usual(spans)) if spans else None
    if not isinstance(history, History) or stretch is None:
        return None
    when = f"{history.source}, {moment(history.begin)} to {moment(history.end)}"
    places, totals = TrafficPlaces(stretch), Counter[int]()
    for period, begin, end in spans:
        places.put(period.instance, end, end - begin, period.lost)
        totals[period.instance] += period.lost
    if not any(totals.values()):
        return f"{when}: no block was lost."
    top = nice_top(max(highest(places.values(number)) or 0.0 for number in totals))
    part = f"the most in each {seconds(stretch.step_s)}"
    return Figure(
        "Lost blocks in the past",
        f"{when}; {part}. Full height is {whole(top)}.",
        tuple(_past(cluster, places, number, top, totals[number]) for number in sorted(totals)),
        (("bars", "lost blocks"), *((("gap", "not known"),) if any(map(places.unknown_s, totals)) else ())),
        tuple(f"{_EPOCH + timedelta(seconds=at):%Y-%m-%d %H:%M}" for at in (stretch.begin, stretch.end)),
    )


def _past(cluster: Cluster, places: TrafficPlaces, number: int, top: float, total: int) -> Strip:
    values, name = places.values(number), instance_name(cluster, number)
    most = f", at most {whole(highest(values))} at a time" if total else ""
    told = f"{whole(total)} in all{most}" if total else "none"
    return strip(name, (Curve(values, "bars"),), top, f"Lost blocks of {name} in the past", told)


def _periods(history: object) -> tuple[HistoryPeriod, ...]:
    return history.periods if isinstance(history, History) else ()


def _usual(spans: list[tuple[HistoryPeriod, float, float]]) -> float:
    """How long a part is that the ends of the range do not cut."""
    return max(end - begin for _, begin, end in spans)


def _at(text: str) -> float:
    """A time of the database's host in seconds, to compare with its others; the beginning of all where it is none."""
    try:
        return (datetime.fromisoformat(text).replace(tzinfo=None) - _EPOCH).total_seconds()
    except ValueError:
        return 0.0
