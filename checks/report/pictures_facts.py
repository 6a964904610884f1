"""Pictures from the facts: lost blocks, failed reassemblies, users of the interconnect and frames by size in the
interval of the checks, and lost blocks in the history from AWR or Statspack."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from checks.model.facts import Activity, Cluster, CounterChanges, History, InstanceActivity
from checks.model.interconnect_load import InterconnectLoad
from checks.model.known_instances import instance_name
from checks.report.age import time_text as moment
from checks.report.load_section import estimate_basis
from checks.report.pictures import Curve, Figure, Strip, bar, nice_top, strip
from checks.report.quantities import byte_rate, rate, seconds, share, whole
from checks.report.time_slots import TimeSlots, drawn_span
from checks.rules import cache_fusion
from checks.rules.frame_sizes import FrameSizes, frame_sizes
from checks.rules.interconnect_users import CACHE, shares
from checks.rules.load_of_run import interconnect_load
from checks.traffic.rates import highest

_EPOCH = datetime(1970, 1, 1)


def interval_figures(cluster: Cluster) -> tuple[Figure, ...]:
    """Return bar pictures of the lost blocks of each instance and of the failed reassemblies of each node; none for a
    count that is 0 everywhere."""
    found = (_lost(cluster, cluster.activity), _failed(cluster.counters))
    return tuple(figure for figure in found if figure)


def _lost(cluster: Cluster, activity: object) -> Figure | None:
    if not isinstance(activity, Activity):
        return None
    known = {a.instance: a.statistics for a in activity.instances if isinstance(a, InstanceActivity)}
    bars = []
    for number, statistics in known.items():
        if (count := cache_fusion.lost(statistics)) is not None:
            sent = cache_fusion.due(statistics)
            caption = ", ".join(filter(None, (f"{whole(count)} of {whole(sent)} blocks sent", share(count, sent))))
            bars.append((instance_name(cluster, number), count, caption))
    return _bars("Lost blocks", activity.seconds, "instance", bars)


def _failed(counters: object) -> Figure | None:
    if not isinstance(counters, CounterChanges):
        return None
    failed = [(c.node, n) for c in counters.nodes if (n := c.counters.value("Ip", "ReasmFails")) is not None]
    bars = [(node, count, f"{whole(count)} packets") for node, count in failed]
    return _bars("Failed reassemblies", counters.seconds, "node", bars)


def _bars(what: str, of_s: float, noun: str, bars: list[tuple[str, int, str]]) -> Figure | None:
    """Return a bar for each name, with its count and caption; None where all counts are 0."""
    top = max((count for _, count, _ in bars), default=0)
    if top <= 0:
        return None
    strips = tuple(bar(name, count, top, f"{what} of {name}", caption) for name, count, caption in bars)
    return Figure(f"{what} in {seconds(of_s)}", f"The length of a bar is the number for one {noun}.", strips)


def size_figures(cluster: Cluster) -> tuple[Figure, ...]:
    """Return histograms of the frames by size: a figure for the NICs of a network with the same classes of sizes."""
    alike: dict[tuple[str, tuple[str, ...]], list[FrameSizes]] = {}
    for found in frame_sizes(cluster).known:
        if found.frames:
            alike.setdefault((found.nic.network, tuple(size.label for size in found.classes)), []).append(found)
    return tuple(_histogram(network, labels, same) for (network, labels), same in alike.items())


def _histogram(network: str, labels: tuple[str, ...], same: list[FrameSizes]) -> Figure:
    strips = []
    for found in same:
        name = f"{found.nic.node} {found.nic.name} {'in' if found.way == 'rx' else 'out'}"
        most = max(found.classes, key=lambda size: size.frames)
        caption = f"{whole(found.frames)} frames, {share(most.frames, found.frames)} of {most.label} bytes"
        values = tuple(found.percent(size) for size in found.classes)
        strips.append(strip(name, (Curve(values, "bars"),), 100.0, f"Frames by size of {name}", caption))
    of = f" on {network}" if network else ""
    title = f"Frames by size{of}, in {seconds(max(found.nic.seconds for found in same))}"
    sentence = "From the left, the share of the frames of each size in bytes. Full height is 100 %."
    return Figure(title, sentence, tuple(strips), axis=labels)


def user_figures(cluster: Cluster) -> tuple[Figure, ...]:
    """Return the shares of the users of the interconnect of each instance in its bytes, as bars."""
    load = interconnect_load(cluster)
    if not isinstance(load, InterconnectLoad):
        return ()
    percent = shares(load.users)
    strips = []
    for user in load.users:
        if (part := percent.get((user.instance, user.client))) is not None:
            name = f"{user.instance} {user.client}"
            what = "blocks" if user.client == CACHE else "messages"
            basis = ", estimated" if user.is_estimate else ""
            number = rate(user.messages_per_s).removesuffix("/s").strip()
            caption = f"{part:.3g} %, {byte_rate(user.bytes_per_s)}{basis}, {number} {what}/s"
            strips.append(bar(name, part, 100.0, f"Share of {name} in the bytes of its instance", caption))
    if not strips:
        return ()
    title = f"Users of the interconnect, in {seconds(load.seconds)}"
    sentence = "The length of a bar is the share in the bytes of its instance, both directions."
    if any(user.is_estimate for user in load.users):
        sentence += f" Estimates: {estimate_basis(load.block_bytes)}."
    return (Figure(title, sentence, tuple(strips)),)


def history_figure(cluster: Cluster) -> Figure | str | None:
    """Return the picture of the blocks lost over the history; a sentence where no block was lost; None where no history
    is known."""
    history = cluster.history
    if not isinstance(history, History):
        return None
    times = [(period, _host_seconds(period.begin), _host_seconds(period.end)) for period in history.periods]
    spans = [(period, begin, end) for period, begin, end in times if begin < end]
    usual_s = max((end - begin for _, begin, end in spans), default=0.0)  # the ends of the range may cut a period
    span = drawn_span(min(b for _, b, _ in spans), max(e for *_, e in spans), usual_s) if spans else None
    if span is None:
        return None
    when = f"{history.source}, {moment(history.begin)} to {moment(history.end)}"
    slots, totals = TimeSlots(span), Counter[int]()
    for period, begin, end in spans:
        slots.put(period.instance, end, end - begin, period.lost)
        totals[period.instance] += period.lost
    if not any(totals.values()):
        return f"{when}: no block was lost."
    top = nice_top(max(highest(slots.values(number)) or 0.0 for number in totals))
    part = f"the highest number in each {seconds(span.step_s)}"
    return Figure(
        "Lost blocks in the history",
        f"{when}; {part}. Full height is {whole(top)}.",
        tuple(_history_strip(cluster, slots, number, top, totals[number]) for number in sorted(totals)),
        (("bars", "lost blocks"), *((("gap", "not known"),) if any(map(slots.unknown_s, totals)) else ())),
        tuple(f"{_EPOCH + timedelta(seconds=at):%Y-%m-%d %H:%M}" for at in (span.begin, span.end)),
    )


def _history_strip(cluster: Cluster, slots: TimeSlots, number: int, top: float, total: int) -> Strip:
    values, name = slots.values(number), instance_name(cluster, number)
    most = f", at most {whole(highest(values))} at a time" if total else ""
    caption = f"{whole(total)} in all{most}" if total else "none"
    return strip(name, (Curve(values, "bars"),), top, f"Lost blocks of {name} in the history", caption)


def _host_seconds(text: str) -> float:
    """A time of the database's host in seconds, to compare with its other times; 0 where the text is no time."""
    try:
        return (datetime.fromisoformat(text).replace(tzinfo=None) - _EPOCH).total_seconds()
    except ValueError:
        return 0.0
