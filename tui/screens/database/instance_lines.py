"""The instances: the node of each, its present Cache Fusion figures, and its cost of serving blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.facts import Activity, ActivityGap, Database, InstanceActivity, NotAsked, Unknown
from checks.model.finding import Status
from checks.model.wording import moment, span
from checks.report.age import offset
from checks.rules import cache_fusion
from checks.traffic.rates import instance_rates
from checks.traffic.samples import InstanceSample
from tui.screens.database.figures import NONE, UNKNOWN, Value, ms, percent, rate, volume
from tui.screens.database.live_source import LiveFigures, by_the_checks
from tui.screens.database.statuses import RunStatuses, sampled_activity
from tui.screens.database.table import Head, TableRow, table_lines
from tui.text.line import Line, hanging
from tui.widgets.sorting import Sorting
from tui.widgets.units import clock

_FIGURES = ("in/s", "out/s", "lost/s", "cr ms", "cur ms")
SORTED_BY = ("lost/s", "cr ms", "cur ms", "in/s", "out/s")
"""The columns that the instances can be sorted by, in the order of the key: first what goes wrong."""


def in_order(
    names: dict[int, str], database: Database, activity: Activity | Unknown | NotAsked, live: LiveFigures, by: Sorting
) -> dict[int, str]:
    """Return the names in the order of a column of the instances."""
    if not by.is_sorted:
        return names
    samples, _ = figures_of(database, activity, live)

    def figure(number: int) -> float | None:
        if (sample := samples.get(names[number])) is None:
            return None
        rates = instance_rates(sample)
        figures = (rates.blocks_in_per_s, rates.blocks_out_per_s, rates.lost_per_s)
        return dict(zip(_FIGURES, (*figures, rates.cr_receive_ms, rates.current_receive_ms), strict=True))[by.column]

    return {number: names[number] for number in by.in_order(names, figure)}


def instances_lines(
    database: Database,
    activity: Activity | Unknown | NotAsked,
    live: LiveFigures,
    statuses: RunStatuses,
    width: int,
    sorting: Sorting = Sorting(),  # noqa: B008 - it is frozen
) -> Iterator[Line]:
    """Yield a row for each instance; where its figures are not known, the reason."""
    if live.trouble:
        yield from hanging([(" ", ""), ("? ", "unknown")], f"No {live.word} figures: {live.trouble}", width)
    elif live.pace:
        yield from hanging([(" ", "")], f"Sampled {live.pace}.", width, "faint")
    samples, gaps = figures_of(database, activity, live)
    judged = sampled_activity(list(live.instances.values())) if live.instances else activity
    losses = statuses.losses(judged) if isinstance(judged, Activity) else {}
    versions = {i.version for i in database.instances}
    odd = any(i.status != "OPEN" for i in database.instances)
    heads = [*(Head(sorting.heading(text)) for text in _FIGURES), Head("node", True), Head("up since", True)]
    heads += [Head("status", True)] if odd else []
    heads += [Head("version", True)] if len(versions) > 1 else []
    rows = []
    for number, name in in_order(names_of(database, live), database, activity, live, sorting).items():
        own = database.instance(number)
        if name in gaps:
            where = f"{own.host}: " if own else ""
            rows.append(TableRow(name, reason=where + gaps[name]))
            continue
        sample = samples.get(name)
        still = "not read yet" if isinstance(activity, Unknown) else UNKNOWN
        static = [own.host, moment(own.startup_time)] if own else [sample.host if sample else still, UNKNOWN]
        static += [own.status if own else UNKNOWN] if odd else []
        static += [own.version if own else UNKNOWN] if len(versions) > 1 else []
        rows.append(TableRow(name, [*_values(sample, losses.get(number), statuses), *(Value(text) for text in static)]))
    yield from table_lines("", heads, rows, width)


def names_of(database: Database, live: LiveFigures) -> dict[int, str]:
    """Return the names of all known instances by number, with those that were not queried or started since."""
    known = {i.number: i.name for i in database.unasked} | {i.number: i.name for i in database.instances}
    known |= {s.number: s.instance for s in live.instances.values() if s.number not in known}
    return {number: known[number] or f"instance {number}" for number in sorted(known)}


def figures_of(
    database: Database, activity: Activity | Unknown | NotAsked, live: LiveFigures
) -> tuple[dict[str, InstanceSample], dict[str, str]]:
    """Return a sample of each instance by name, and by name why there is none of the others.

    The samples are the newest live ones where there are any, otherwise those of the run."""
    names = names_of(database, live)
    gaps = {names[u.number]: u.reason for u in database.unasked if not database.instance(u.number)}
    if live.instances or (live.gaps and not live.trouble):
        gaps = {**{n: reason for n, reason in gaps.items() if n not in live.instances}, **live.gaps}
        missing = [n for n in names.values() if n not in live.instances and n not in gaps]
        return live.instances, gaps | dict.fromkeys(missing, f"No {live.word} sample yet.")
    if not isinstance(activity, Activity):
        return {}, gaps
    samples = {}
    for own in activity.instances:
        name = names.get(own.instance, f"instance {own.instance}")
        if isinstance(own, ActivityGap):
            gaps[name] = own.reason
        else:
            samples[name] = InstanceSample(name, own.instance, "", 0.0, own.seconds, own.statistics, own.messages)
            gaps.pop(name, None)
    return samples, gaps


def when(activity: Activity | Unknown | NotAsked, live: LiveFigures) -> str:
    """Return the source of the figures and their time, with its zone."""
    if live.instances:
        newest = max(live.instances.values(), key=lambda s: s.at)
        return f"{live.word}, {span(newest.seconds)} to {clock(newest.at, live.zone)}"
    if live.gaps and not live.trouble:
        return live.word
    if isinstance(activity, Activity):
        return f"{by_the_checks(activity)} {offset(activity.ended_at)}".rstrip()
    return ""


def _values(sample: InstanceSample | None, loss: Status | None, judged: RunStatuses) -> Sequence[Value]:
    if sample is None:
        return [Value(UNKNOWN, role="unknown")] * len(_FIGURES)
    rates, statistics = instance_rates(sample), sample.statistics
    of_times = judged.times(InstanceActivity(sample.number, sample.seconds, statistics))
    times = (
        (rates.cr_receive_ms, cache_fusion.CR_RECEIVED, of_times[0]),
        (rates.current_receive_ms, cache_fusion.CURRENT_RECEIVED, of_times[1]),
    )
    return [
        Value(rate(rates.blocks_in_per_s)),
        Value(rate(rates.blocks_out_per_s)),
        Value(rate(rates.lost_per_s), loss if rates.lost_per_s is not None else None),
        *(
            Value(ms(time, NONE if blocks in statistics else UNKNOWN, statistics.get(blocks)), status)
            for time, blocks, status in times
        ),
    ]


# --- what serving costs -----------------------------------------------------------------------------------------------


def serving_lines(database: Database, activity: Activity, order: Sequence[int], width: int) -> Iterator[Line]:
    """Yield where the blocks of an instance come from, and what serving blocks to other instances costs, in the order
    of the numbers of the instances."""
    known = [own for own in activity.instances if isinstance(own, InstanceActivity)]
    known.sort(key=lambda own: order.index(own.instance) if own.instance in order else len(order))
    names = [database.instance_name(own.instance) for own in known]
    text = "Traffic as AWR estimates it, in units of 1000; share of buffers from the own cache, other caches and disk."
    yield from hanging([(" ", "")], text, width, "faint")
    heads = [Head(head) for head in ("traffic/s", "own %", "others %", "disk %")]
    rows = [TableRow(name, [Value(v) for v in _buffers(database, own)]) for name, own in zip(names, known, strict=True)]
    yield from table_lines("", heads, rows, width)
    text = (
        "CR block served: build time and send time in ms, share that waited for a log flush, flush time in ms. Current "
        "block served: pin time, then the same. A sender that waits for its log delays blocks on any network."
    )
    yield from hanging([(" ", "")], text, width, "faint")
    of_each = ("send", "flushed %", "flush")
    heads = [Head(head) for head in ("cr build", *of_each, "cur pin", *of_each)]
    rows = [TableRow(name, [Value(v) for v in _serving(own)]) for name, own in zip(names, known, strict=True)]
    yield from table_lines("", heads, rows, width)
    for view in ("GV$DLM_MISC", "GV$CR_BLOCK_SERVER", "GV$CURRENT_BLOCK_SERVER"):
        if reason := activity.why_unread(view):
            yield from hanging([(" ", ""), ("? ", "unknown")], reason, width)


def _buffers(database: Database, own: InstanceActivity) -> Iterator[str]:
    counted, buffers = own.statistics, "consistent gets from cache"
    kb = cache_fusion.estimated_traffic_kb_per_s(counted, own.messages, database.block_size_bytes, own.seconds)
    yield UNKNOWN if kb is None else volume(1024 * kb)
    for share in (cache_fusion.local_cache_percent, cache_fusion.remote_cache_percent, cache_fusion.disk_percent):
        yield percent(share(counted), NONE if buffers in counted else UNKNOWN)


def _serving(own: InstanceActivity) -> Iterator[str]:
    """Yield the figures of consistent-read blocks, then of current blocks."""
    counted = own.statistics
    for served, flushes, times, flushed, flush_ms in (
        (
            cache_fusion.CR_SERVED,
            own.cr_flushes,
            (cache_fusion.average_cr_build_ms, cache_fusion.average_cr_send_ms),
            cache_fusion.cr_log_flush_percent,
            cache_fusion.average_cr_flush_ms,
        ),
        (
            cache_fusion.CURRENT_SERVED,
            own.current_flushes,
            (cache_fusion.average_current_pin_ms, cache_fusion.average_current_send_ms),
            cache_fusion.current_log_flush_percent,
            cache_fusion.average_current_flush_ms,
        ),
    ):
        for time in times:
            yield ms(time(counted), NONE if served in counted else UNKNOWN, counted.get(served))
        unless = UNKNOWN if flushes is None or served not in counted else NONE
        yield percent(flushed(counted, flushes), unless)
        yield ms(flush_ms(counted, flushes), unless, flushes)
