"""Texts about the receive time of blocks: from the statistics, and from the waits of the same time."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.facts import Activity, Cluster, InstanceActivity
from checks.model.finding import Table
from checks.model.known_instances import active, instance_name
from checks.model.wording import counted, span
from checks.plugins.shared.instance_text import milliseconds, percent
from checks.rules.cache_fusion import estimated_traffic_kb_per_s
from checks.rules.receive_time import ReceiveTimes, histogram_of, times_of
from checks.rules.waits import costliest, quantile_us, time_us

_WIDELY = 5.0
"""The ratio of two averages from which a line calls them far apart; a remark only. Ours."""


def time_lines(cluster: Cluster, times: ReceiveTimes) -> list[str]:
    """Return the averages of both kinds of blocks with the waits for them; `far apart` where the two differ widely."""
    name = instance_name(cluster, times.own.instance)
    lines = []
    for kind in times.kinds:
        if kind.average_ms is None:
            continue
        waited = f"; waits for them {milliseconds(kind.waited_ms)}" if kind.waited_ms is not None else ""
        apart = " (far apart)" if kind.waited_ms is not None and _far_apart(kind.average_ms, kind.waited_ms) else ""
        lines.append(
            f"{name}: {kind.label} {milliseconds(kind.average_ms)} on average of {counted(kind.blocks, 'block')}"
            f"{waited}{apart}"
        )
    return lines


def _far_apart(one_ms: float, other_ms: float) -> bool:
    low, high = sorted((one_ms, other_ms))
    return high > _WIDELY * low and high - low > 1.0


def tail_lines(cluster: Cluster, times: ReceiveTimes) -> list[str]:
    """Return a line with the times within which 95 % and 99 % of the waits ended."""
    histogram = histogram_of(times.own)
    limits = [(share, quantile_us(histogram, share)) for share in (0.95, 0.99)]
    lines = [f"{share:.0%} in up to {milliseconds(us / 1000)}" for share, us in limits if us is not None]
    return [f"{instance_name(cluster, times.own.instance)}: waits for blocks: {', '.join(lines)}"] if lines else []


def top_lines(own: InstanceActivity) -> list[str]:
    """Return a line for each of the costliest events, with its share of all cluster waits."""
    total = time_us(own.events) or 1
    return [
        f"{e.name}: {counted(e.waits, 'wait')}, {milliseconds(e.time_us / e.waits / 1000) if e.waits > 0 else '-'} "
        f"each, {percent(100 * e.time_us / total)} of the cluster wait time"
        for e in costliest(own.events)
    ]


def times_table(cluster: Cluster, activity: Activity) -> Table:
    """Return a table with one row for each instance."""
    rows, everyone = [], list(active(activity))
    traffics = {own.instance: traffic(cluster, own) for own in everyone}
    known = any(traffics.values())
    for own in everyone:
        times = times_of(own)
        cells = [milliseconds(k.average_ms) if k.average_ms is not None else "-" for k in times.kinds]
        sent = [traffics[own.instance] or "-"] if known else []
        rows.append((instance_name(cluster, own.instance), f"{times.blocks or 0:,}", *cells, *sent))
    columns = ("instance", "blocks", "CR", "current", *(["traffic"] if known else []))
    about = "; traffic as AWR estimates it" if known else ""
    return Table(columns, tuple(rows), f"averages over {span(activity.seconds)}{about}")


def traffic(cluster: Cluster, own: InstanceActivity) -> str:
    """Return the estimated traffic of an instance, `1.6 MB/s`; empty where a figure for it is missing."""
    kb_per_s = estimated_traffic_kb_per_s(own.statistics, own.messages, cluster.block_size_bytes, own.seconds)
    if kb_per_s is None:
        return ""
    return f"{kb_per_s / 1024:,.1f} MB/s" if kb_per_s >= 1024 else f"{kb_per_s:.0f} KB/s"


def traffic_lines(cluster: Cluster, instances: Iterable[InstanceActivity]) -> list[str]:
    """Return a line for each instance with its estimated traffic with the other instances."""
    lines = [(own, traffic(cluster, own)) for own in instances]
    return [
        f"{instance_name(cluster, own.instance)}: about {rate} over the interconnect" for own, rate in lines if rate
    ]
