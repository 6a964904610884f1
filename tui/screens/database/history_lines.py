"""The history from AWR or Statspack: lost blocks and receive times over time, and totals of the whole range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from typing import ParamSpec

from rich.cells import cell_len

from checks.model.facts import Database, History, HistoryPeriod, InstanceHistory, Thresholds, Unknown
from checks.model.finding import Status
from checks.model.wording import counted, moment
from checks.rules import cache_fusion
from checks.rules.lost_blocks import past_loss_status
from checks.rules.receive_time import ReceiveLimits, past_time_status
from tui.screens.database.figures import NONE, UNKNOWN, Value, count, ms, percent, volume
from tui.screens.database.table import Head, TableRow, table_lines
from tui.text.line import Line, cut, fitted, hanging, sanitize_line
from tui.widgets.graph import Style, graph, nice_top

P = ParamSpec("P")


def made_once(lines: Callable[P, Iterator[Line]]) -> Callable[P, list[Line]]:
    """Return the function with a cache of its last result.

    Facts are frozen, so that the same object gives the same lines; numbers and strings are compared by value."""
    cache: list[tuple[tuple[object, ...], list[Line]]] = []

    @wraps(lines)
    def answer(*args: P.args, **kwargs: P.kwargs) -> list[Line]:
        key = (*args, *kwargs.values())
        if not cache or len(cache[0][0]) != len(key) or not all(map(_same, cache[0][0], key)):
            cache[:] = [(key, list(lines(*args, **kwargs)))]
        return cache[0][1]

    return answer


def _same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, int | str) and one == other)


_LEAST_GRAPH = 12
_MOST_CLIENTS = 3


@dataclass(frozen=True)
class _Trend:
    """One figure of one instance over the intervals of the range; None where an interval has no value."""

    name: str
    values: Sequence[float | None]
    status: Status | None
    text: str


@made_once
def history_lines(
    history: History, database: Database, limits: ReceiveLimits, width: int, style: Style = "blocks"
) -> Iterator[Line]:
    """Yield the trends, then the range as a whole."""
    names = {i.instance: i.name or database.instance_name(i.instance) for i in history.instances}
    names |= {p.instance: database.instance_name(p.instance) for p in history.periods if p.instance not in names}
    names = {number: names[number] for number in sorted(names)}
    slots = _slots(history.periods)
    yield from hanging([(" ", "")], _range(history, len(slots)), width, "faint")
    lost = [_lost(history, database, names[n], n, slots, limits.thresholds) for n in names]
    times = [_times(history, names[n], n, slots, limits) for n in names]
    longest = max((cell_len(t.text) for t in (*lost, *times)), default=0)
    for title, trends in (("blocks lost per interval", lost), ("receive time per interval, ms", times)):
        yield [(cut(f" {title}", width), "label")]
        yield from _trend_lines(trends, width, longest, style)
    yield []
    yield from _whole_lines(history, database, names, width)


def _range(history: History, parts: int) -> str:
    length = max((_seconds(p) for p in history.periods), default=0.0)
    of = f", {counted(parts, 'interval')} of {_length(length)}" if parts and length else ""
    return f"{history.source}, {moment(history.begin)} to {moment(history.end)}{of}"


def _length(seconds: float) -> str:
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            number = round(seconds / size)
            return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
    return f"{seconds:.0f} s"


# --- over time --------------------------------------------------------------------------------------------------------


def _slots(periods: Sequence[HistoryPeriod]) -> list[str]:
    """Return the starts of all intervals in order of time, with those that no instance has: a gap must stay visible."""
    begins = sorted({p.begin for p in periods})
    step = max((_seconds(p) for p in periods), default=0.0)
    filled: list[str] = []
    for begin in begins:
        at, last = _time(begin), _time(filled[-1]) if filled else None
        missing = round((at - last).total_seconds() / step) - 1 if at and last and step > 0 else 0
        if last and 0 < missing <= 1000 and len(filled) > 1:
            # From the second interval on the starts are a whole step apart: the range may cut the first interval.
            filled += [(last + timedelta(seconds=step * (n + 1))).isoformat() for n in range(missing)]
        filled.append(begin)
    return filled


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


def _seconds(period: HistoryPeriod) -> float:
    begin, end = _time(period.begin), _time(period.end)
    return (end - begin).total_seconds() if begin and end else 0.0


def _own(history: History, instance: int) -> dict[str, HistoryPeriod]:
    return {p.begin: p for p in history.periods if p.instance == instance}


def _lost(
    history: History, database: Database, name: str, instance: int, slots: Sequence[str], limits: Thresholds
) -> _Trend:
    own = _own(history, instance)
    past = next((loss for loss in history.losses if loss.instance == instance and loss.lost > 0), None)
    most = max(own.values(), key=lambda p: p.lost, default=None)
    total = past.lost if past else sum(p.lost for p in own.values())
    text = f"{count(total)} in total"
    if most is not None and most.lost > 0:
        text += f", peak {count(most.lost)} from {moment(most.begin)}"
    if past is not None:
        text += f"; last loss until {moment(past.last_end)}"
    values = [own[at].lost if at in own else None for at in slots]
    return _Trend(
        name,
        values,
        past_loss_status(history, database, past, limits) if past else None,
        text if own or past else "no data",
    )


def _times(history: History, name: str, instance: int, slots: Sequence[str], limits: ReceiveLimits) -> _Trend:
    periods = _own(history, instance)
    own = {at: time for at, p in periods.items() if (time := _receive_ms(p)) is not None}
    values = [own.get(at) for at in slots]
    if not own:
        return _Trend(name, values, None, "no blocks received")
    worst = max(own, key=lambda at: own[at])
    highest, newest = (ms(own[at], blocks=periods[at].received) for at in (worst, max(own)))
    text = f"peak {highest} from {moment(worst)}, latest {newest}"
    return _Trend(name, values, past_time_status(own[worst], limits), text)


def _receive_ms(period: HistoryPeriod) -> float | None:
    time_cs = period.cr_receive_time_cs + period.current_receive_time_cs
    return 10 * time_cs / period.received if period.received > 0 else None


def _trend_lines(trends: Sequence[_Trend], width: int, longest: int, style: Style) -> Iterator[Line]:
    """Yield a line per trend, all to one scale; where the longest text leaves little room, the text below the graph."""
    label = min(max((cell_len(sanitize_line(t.name)) for t in trends), default=0), max(width // 4, 4))
    is_one_line = width - label - longest - 7 >= _LEAST_GRAPH
    room = max(width - label - 4 - (longest + 3 if is_one_line else 0), 1)
    drawn = [_folded(t.values, room) for t in trends]
    top = nice_top([value for values in drawn for value in values])
    for trend, values in zip(trends, drawn, strict=True):
        start: Line = [(f"   {fitted(sanitize_line(trend.name), label)} ", "")]
        role = trend.status.value.lower() if trend.status else ""
        text = f"{trend.status.letter} {trend.text}" if trend.status else trend.text
        line: Line = [*start, (graph(values, min(room, max(len(values), 1)), top, style), role or "accent")]
        if is_one_line:
            yield [*line, ("  ", ""), (text, role)]
        else:
            yield line
            yield from hanging([(" " * (label + 4), "")], text, width, role)


def _folded(values: Sequence[float | None], room: int) -> list[float | None]:
    """Return as many values as there is room for; of several in one place the largest, so that no peak is hidden."""
    if len(values) <= room:
        return list(values)
    folded: list[float | None] = []
    for place in range(room):
        part = values[place * len(values) // room : (place + 1) * len(values) // room]
        folded.append(max((v for v in part if v is not None), default=None))
    return folded


# --- the whole range --------------------------------------------------------------------------------------------------


def _whole_lines(history: History, database: Database, names: Mapping[int, str], width: int) -> Iterator[Line]:
    """Yield the totals of the range for each instance, and the interconnect traffic by client."""
    clients = () if isinstance(history.clients, Unknown) else history.clients
    volumes: dict[str, int] = {}
    for client in clients:
        volumes[client.client] = volumes.get(client.client, 0) + client.bytes_sent + client.bytes_received
    shown = sorted(volumes, key=lambda name: (-volumes[name], name))[:_MOST_CLIENTS]
    heads = ["lost", "received", "cr ms", "cur ms", "traffic/s", "others %", "disk %", *shown, "restarts"]
    rows = []
    for own in sorted(history.instances, key=lambda i: i.instance):
        used = {c.client: c.bytes_sent + c.bytes_received for c in clients if c.instance == own.instance}
        traffic = [Value(volume(used[name]) if name in used else UNKNOWN) for name in shown]
        values = [*_whole(own, database), *traffic, Value(str(own.restarts))]
        rows.append(TableRow(names[own.instance], values))
    if not rows:
        return
    note = "The whole range: blocks, average receive times, buffers from other instances and from disk"
    note += f"; interconnect traffic by client ({', '.join(map(sanitize_line, shown))})" if shown else ""
    yield from hanging([(" ", "")], note, width, "faint")
    yield from table_lines("", [Head(sanitize_line(head)) for head in heads], rows, width)
    if isinstance(history.clients, Unknown):
        text = f"The interconnect traffic by client is not known: {history.clients.reason}"
        yield from hanging([(" ", ""), ("? ", "unknown")], text, width)


def _whole(own: InstanceHistory, database: Database) -> Iterator[Value]:
    counts = own.statistics
    lost, came = cache_fusion.lost(counts), cache_fusion.received(counts)
    kb = cache_fusion.estimated_traffic_kb_per_s(counts, own.messages, database.block_size_bytes, own.seconds)
    # The trend above has the status: it depends on the time of the loss.
    yield Value(UNKNOWN if lost is None else count(lost))
    yield Value(UNKNOWN if came is None else count(came))
    unless = UNKNOWN if came is None else NONE
    yield Value(ms(cache_fusion.average_cr_receive_ms(counts), unless, counts.get(cache_fusion.CR_RECEIVED)))
    yield Value(ms(cache_fusion.average_current_receive_ms(counts), unless, counts.get(cache_fusion.CURRENT_RECEIVED)))
    yield Value(UNKNOWN if kb is None else volume(1024 * kb))
    unless = NONE if "consistent gets from cache" in counts else UNKNOWN
    yield Value(percent(cache_fusion.remote_cache_percent(counts), unless))
    yield Value(percent(cache_fusion.disk_percent(counts), unless))
