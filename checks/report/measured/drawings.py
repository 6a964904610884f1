"""Pictures of results: times by message size, completion times by class, two networks, and silence as a timeline.

Colour is never the only difference: a median is a filled dot on a solid line, a high percentile a hollow dot on a
dashed one.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from checks.model.facts import Unknown
from checks.model.measured_rate import MeasuredRate
from checks.model.measurement import (
    DrillOf,
    FlowSummary,
    MeasuredMix,
    MeasuredPath,
    MeasuredSizes,
    Measurement,
    PathSilence,
    PriorityEffect,
    SizeSummary,
)
from checks.model.packet_sizes import IP_HEADER, UDP_HEADER
from checks.report import svg
from checks.report.measured.drill_parts import begin_of, share_of_misscount
from checks.report.measured.mix_parts import PRIORITIES, interval_text, percent_text
from checks.report.measured.result_parts import state_of, title_of
from checks.report.measurement_headline import headline, ms_text, silence_text, size_text
from checks.rules.drill_verdicts import was_silent
from checks.traffic.compare.public_ratio import PublicRatio, public_ratios

_WIDTH, _MARGIN = 900, 20
_LEFT, _RIGHT = 150, 870
_LINE = 16
_SIZES_HEIGHT = 200
_ROW = 30
_LETTERS = 120
_EVENT_ROOM = 30
"""Pixels for the number of an event."""
_MOST_EVENTS = 40
_OF_A_SILENCE = 220
"""Pixels for the text after a silence."""
_OF_A_CHANGE = 290
"""Pixels for the text after a bar."""
_LONGEST_BAR = 3.0
"""Times with priorities that are longer than this multiple of those without are drawn as this."""
_NEAREST_LABELS = 58
"""Pixels between two labels of an axis."""


@dataclass(frozen=True)
class Drawing:
    """One picture."""

    title: str
    description: str
    """The figures of the picture in a sentence, for those who cannot see it."""
    height: float
    marks: tuple[svg.Markup, ...]

    @property
    def on_page(self) -> Markup:
        """The picture for an HTML page."""
        drawn = svg.picture(_WIDTH, self.height, self.title, self.description, self.marks, class_="drawing")
        return Markup(drawn)  # noqa: S704 - the writer of SVG escapes all text


def drawings_of(measurement: Measurement) -> Iterator[Drawing]:
    """Yield the pictures of a result; none for a kind whose tables say all."""
    match measurement.result:
        case MeasuredSizes() as result:
            for number, path in enumerate(measurement.paths):
                yield from _sizes([one for one in result.summaries if one.path == number], path)
        case MeasuredMix() as result:
            for link in dict.fromkeys((one.paths, one.concurrency) for one in result.effects):
                yield from _effects([one for one in result.effects if (one.paths, one.concurrency) == link])
            for number, path in enumerate(measurement.paths):
                yield from _mix([one for one in result.summaries if one.path == number], path)
        case MeasuredRate() as result:
            ratios = [one for one in public_ratios(result, measurement.paths) if one.ratio is not None]
            if ratios:
                yield _public(ratios)
        case DrillOf() as result:
            yield from _silence(result, measurement.paths)


def picture_file(measurement: Measurement) -> str | None:
    """Return the pictures of a result as one SVG file; None where it has none."""
    drawn = list(drawings_of(measurement))
    if not drawn:
        return None
    y, parts = 30.0, []
    parts.append(svg.label(_MARGIN, y, f"{title_of(measurement)}: {headline(measurement)}", "title"))
    for sentence in state_of(measurement):
        for written in textwrap.wrap(sentence.text, _LETTERS):
            y += _LINE
            parts.append(svg.label(_MARGIN, y, written, "" if sentence.look else "faint"))
    y += 14
    for one in drawn:
        parts.append(svg.element("g", *one.marks, transform=f"translate(0 {y:.0f})"))
        y += one.height + 10
    description = " ".join(one.description for one in drawn)
    return svg.document(_WIDTH, y, title_of(measurement), description, parts)


def _named(path: MeasuredPath) -> str:
    return f"{path.source_node} → {path.target_node} on {path.network}, MTU {path.mtu}"


# --- sizes ------------------------------------------------------------------------------------------------------------


def _sizes(own: Sequence[SizeSummary], path: MeasuredPath) -> Iterator[Drawing]:
    for what, rows in (
        ("one at a time", [one for one in own if not one.rate]),
        ("at a fixed rate", [one for one in own if one.rate]),
    ):
        known = [one for one in rows if one.p50_us is not None and one.p50_us > 0 and one.size > 0]
        if known:
            yield _size_drawing(f"Round trip by message size, {what}: {_named(path)}", known, path.mtu)


def _size_drawing(title: str, rows: Sequence[SizeSummary], mtu: int) -> Drawing:
    ordered = sorted(rows, key=lambda one: one.size * one.train)
    values = [value for one in rows for value in (one.p50_us, one.p99_us) if isinstance(value, float) and value > 0]
    ticks = svg.log_ticks(min(values), max(values))
    top, bottom = 46.0, 46.0 + _SIZES_HEIGHT
    smallest, largest = ordered[0].size * ordered[0].train, ordered[-1].size * ordered[-1].train
    across = svg.log_scale(smallest / 1.2, largest * 1.2, _LEFT - 70, _RIGHT)
    up = svg.log_scale(ticks[0], max(ticks[-1], ticks[0] * 2), bottom, top)
    marks = [svg.label(_MARGIN, 18, title, "heading"), *_size_legend(any(one.train > 1 for one in rows))]
    for tick in ticks:
        marks.append(svg.line(_LEFT - 70, up(tick), _RIGHT, up(tick), "rule"))
        marks.append(svg.label(_LEFT - 76, up(tick) + 4, f"{tick:,.6g} us", "faint", anchor="end"))
    room = mtu - IP_HEADER[4] - UDP_HEADER
    if smallest < room < largest:
        marks.append(svg.line(across(room), top - 8, across(room), bottom, "mark"))
        marks.append(svg.label(across(room) - 5, top, "one packet", "faint", anchor="end"))
        marks.append(svg.label(across(room) + 5, top, "fragments", "faint"))
    free_from = 0.0
    for size in dict.fromkeys(one.size * one.train for one in ordered):
        marks.append(svg.line(across(size), bottom - 4, across(size), bottom + 3, "rule"))
        if across(size) >= free_from:
            marks.append(svg.label(across(size), bottom + 17, size_text(size), "faint", anchor="middle"))
            free_from = across(size) + _NEAREST_LABELS
    single = [one for one in ordered if one.train == 1]
    high = [(across(o.size), up(o.p99_us)) for o in single if isinstance(o.p99_us, float) and o.p99_us > 0]
    marks += [svg.polyline(high, "before-line"), *(svg.dot(*point, 3, "before") for point in high)]
    middle = [(across(one.size), up(one.p50_us or 1.0)) for one in single]
    marks += [svg.polyline(middle, "after-line"), *(svg.dot(*point, 3, "after") for point in middle)]
    for one in (train for train in ordered if train.train > 1):
        x, y = across(one.size * one.train), up(one.p50_us or 1.0)
        marks.append(svg.box(x - 3.5, y - 3.5, 7, 7, "after"))
    said = "; ".join(f"{one.train} x {one.size:,} B" * (one.train > 1) or f"{one.size:,} B" for one in ordered[:1])
    description = (
        f"{title}. The median goes from {ordered[0].p50_us:,.0f} us at {said} to {ordered[-1].p50_us:,.0f} us at "
        f"{size_text(largest)}. Both axes are logarithmic."
    )
    return Drawing(title, description, bottom + 26, tuple(marks))


def _size_legend(with_trains: bool) -> Iterator[svg.Markup]:
    y = 34.0
    yield svg.dot(_MARGIN + 5, y - 4, 3, "after")
    yield svg.label(_MARGIN + 15, y, "p50", "faint")
    yield svg.dot(_MARGIN + 55, y - 4, 3, "before")
    yield svg.label(_MARGIN + 65, y, "p99, from 100 answers on", "faint")
    if with_trains:
        yield svg.box(_MARGIN + 226, y - 7.5, 7, 7, "after")
        yield svg.label(_MARGIN + 240, y, "p50 of a train of blocks, by its bytes", "faint")
    yield svg.label(_RIGHT, y, "both axes are logarithmic", "faint", anchor="end")


# --- completion times -------------------------------------------------------------------------------------------------


def _mix(own: Sequence[FlowSummary], path: MeasuredPath) -> Iterator[Drawing]:
    known = [one for one in own if one.p50_ms is not None and one.p50_ms > 0]
    if not known:
        return
    title = f"Flow completion times by class: {_named(path)}"
    values = [value for one in known for value in (one.p50_ms, _high(one), one.mean_ms) if value]
    ticks = svg.log_ticks(min(values), max(values))
    across = svg.log_scale(ticks[0], max(ticks[-1], ticks[0] * 2), _LEFT + 60, _RIGHT)
    marks = [
        svg.label(_MARGIN, 18, title, "heading"),
        svg.dot(_MARGIN + 5, 30, 3, "after"),
        svg.label(_MARGIN + 15, 34, "p50", "faint"),
        svg.dot(_MARGIN + 55, 30, 3, "before"),
        svg.label(_MARGIN + 65, 34, "p99, else p95, else none: too few flows", "faint"),
        svg.label(_RIGHT, 34, "ms, logarithmic; short line: mean", "faint", anchor="end"),
    ]
    y, said = 58.0, []
    order = {name: place for place, name in enumerate(dict.fromkeys(one.flow_class for one in known))}
    begin = y
    for one in sorted(known, key=lambda one: (order[one.flow_class], one.company, one.concurrency)):
        where = f"{one.fullness or one.company}{PRIORITIES[one.prioritised]}, {one.concurrency} at a time"
        marks.append(svg.label(_MARGIN, y + 4, f"{one.flow_class}, {size_text(one.size)}"))
        marks.append(svg.label(_MARGIN, y + 17, where, "faint"))
        high = _high(one)
        assert one.p50_ms is not None
        if high:
            marks.append(svg.line(across(one.p50_ms), y, across(high), y, "before-line"))
            marks.append(svg.dot(across(high), y, 3.5, "before"))
        marks.append(svg.dot(across(one.p50_ms), y, 3.5, "after"))
        if one.mean_ms:
            marks.append(svg.line(across(one.mean_ms), y - 8, across(one.mean_ms), y + 8, "after-line"))
        said.append(f"{one.flow_class} {where}: p50 {ms_text(one.p50_ms)}")
        y += _ROW
    rules: list[svg.Markup] = []
    for tick in ticks:
        rules.append(svg.line(across(tick), begin - 14, across(tick), y - 12, "rule"))
        rules.append(svg.label(across(tick), y + 3, f"{tick:,.6g}", "faint", anchor="middle"))
    yield Drawing(title, f"{title}. {'; '.join(said)}.", y + 12, (*rules, *marks))


def _effects(own: Sequence[PriorityEffect]) -> Iterator[Drawing]:
    """Draw two bars for each class, without and with priorities: as parts of the time without."""
    known = [
        (one, min(one.with_ms / one.without_ms, _LONGEST_BAR))
        for one in own
        if one.without_ms is not None and one.with_ms is not None and one.without_ms > 0 and one.with_ms >= 0
    ]
    if not known:
        return
    title = f"Flow completion times without and with priorities of the switch, {own[0].concurrency} flows at a time"
    across = svg.linear_scale(0.0, max(1.0, *(part for _, part in known)), _LEFT, _RIGHT - _OF_A_CHANGE)
    marks = [
        svg.label(_MARGIN, 18, title, "heading"),
        svg.box(_MARGIN + 1, 26, 10, 8, "before"),
        svg.label(_MARGIN + 16, 34, "without", "faint"),
        svg.box(_MARGIN + 71, 26, 10, 8, "after"),
        svg.label(_MARGIN + 86, 34, "with", "faint"),
        svg.label(_RIGHT, 34, "medians of rounds; change with its 95 % interval", "faint", anchor="end"),
    ]
    y, said = 48.0, []
    for one, part in known:
        change = f"{percent_text(one.change)} ({interval_text(one)}), {one.verdict}"
        marks.append(svg.label(_MARGIN, y + 14, f"{one.flow_class}, {size_text(one.size)}"))
        marks.append(svg.box(_LEFT, y, across(1.0) - _LEFT, 9, "before"))
        marks.append(svg.label(across(1.0) + 8, y + 9, f"{ms_text(one.without_ms)}", "faint"))
        marks.append(svg.box(_LEFT, y + 13, across(part) - _LEFT, 9, "after"))
        marks.append(svg.label(across(part) + 8, y + 22, f"{ms_text(one.with_ms)}: {change}"))
        said.append(f"{one.flow_class}: {ms_text(one.without_ms)} without, {ms_text(one.with_ms)} with, {change}")
        y += _ROW + 4
    yield Drawing(title, f"{title}. {'; '.join(said)}.", y + 6, tuple(marks))


def _high(one: FlowSummary) -> float | None:
    """Return the p99, else the p95, where there were enough flows."""
    return next((value for value in (one.p99_ms, one.p95_ms) if isinstance(value, float)), None)


# --- private and public -----------------------------------------------------------------------------------------------


def _public(ratios: Sequence[PublicRatio]) -> Drawing:
    title = "What the private and the public network carried"
    rates = [rate / 1e6 for one in ratios for rate in (*one.private_bps, *one.public_bps)]
    across = svg.linear_scale(0.0, max(rates) * 1.05, _LEFT + 60, _RIGHT)
    marks = [
        svg.label(_MARGIN, 18, title, "heading"),
        svg.dot(_MARGIN + 5, 30, 3, "after"),
        svg.label(_MARGIN + 15, 34, "private", "faint"),
        svg.dot(_MARGIN + 75, 30, 3, "before"),
        svg.label(_MARGIN + 85, 34, "public", "faint"),
        svg.label(_RIGHT, 34, "Mb/s of payload, a dot a round; line: median", "faint", anchor="end"),
    ]
    y, said = 58.0, []
    for one in ratios:
        what = "TCP" if one.protocol == "tcp" else "8 KB"
        sure = f", 95 %: {one.interval[0]:.2f} to {one.interval[1]:.2f}" if one.interval else ""
        marks.append(svg.label(_MARGIN, y + 4, f"{what} {'to' if one.is_towards_here else 'from'} this node"))
        marks.append(svg.label(_MARGIN, y + 17, f"{one.ratio:.2f} times{sure}", "faint"))
        for own, kind, place in ((one.private_bps, "after", y), (one.public_bps, "before", y + 14)):
            marks += [svg.dot(across(rate / 1e6), place, 3, kind) for rate in own]
            middle = across(median(own) / 1e6)
            marks.append(svg.line(middle, place - 7, middle, place + 7, f"{kind}-line"))
        said.append(f"{what}: private {median(one.private_bps) / 1e6:,.1f}, public {median(one.public_bps) / 1e6:,.1f}")
        y += _ROW + 14
    marks.append(svg.line(across(0), y, _RIGHT, y, "rule"))
    marks.append(svg.label(across(0), y + 15, "0", "faint", anchor="middle"))
    marks.append(svg.label(_RIGHT, y + 15, f"{max(rates) * 1.05:,.0f} Mb/s", "faint", anchor="end"))
    return Drawing(title, f"{title}, in Mb/s. {'; '.join(said)}.", y + 24, tuple(marks))


# --- silence ----------------------------------------------------------------------------------------------------------


def _silence(result: DrillOf, paths: Sequence[MeasuredPath]) -> Iterator[Drawing]:
    if not result.silences:
        return
    start = begin_of(result)
    ends = [one.began_at - start + one.seconds for one in result.silences if one.began_at is not None]
    moments = [*ends, *(event.at - start for event in result.events)]
    misscount = None if isinstance(result.misscount_s, Unknown) else result.misscount_s
    low, high = min([0.0, *moments]), max([0.1, *moments])
    if misscount is not None and misscount <= 4 * high:
        high = max(high, misscount)
    room = (high - low) * 0.04
    across = svg.linear_scale(low - room, high + room, _LEFT + 90, _RIGHT - _OF_A_SILENCE)
    title = f"Silence: {result.subject}"
    begin, bottom = 50.0, 56.0 + _ROW * len(result.silences)
    marks = [svg.label(_MARGIN, 18, title, "heading")]
    marks += _limits(misscount, low, high, across, begin, bottom)
    events = sorted(result.events, key=lambda each: each.at)
    marks += _event_marks([across(event.at - start) for event in events], begin, bottom)
    y, said = begin + 14, []
    for one in sorted(result.silences, key=lambda each: (each.path, each.protocol)):
        path = paths[one.path]
        marks.append(svg.label(_MARGIN, y + 4, f"{path.source_node} → {path.target_node}, {one.protocol.upper()}"))
        marks.append(svg.label(_MARGIN, y + 17, path.network, "faint"))
        marks += _bar(one, start, y, across, _length(one, result))
        said.append(f"{path.source_node} to {path.target_node} ({one.protocol}): {_length(one, result)}")
        y += _ROW
    marks.append(svg.line(_LEFT + 90, bottom, _RIGHT, bottom, "rule"))
    for tick in _seconds(low, high):
        marks.append(svg.line(across(tick), bottom, across(tick), bottom + 5, "rule"))
        marks.append(svg.label(across(tick), bottom + 18, f"{tick:g} s", "faint", anchor="middle"))
    y = bottom + 42
    for number, event in enumerate(events[:_MOST_EVENTS], 1):
        marks.append(svg.label(_MARGIN + 16, y, f"{number}", "faint", anchor="end"))
        marks.append(svg.label(_MARGIN + 84, y, f"{event.at - start:+.3f} s", "faint", anchor="end"))
        marks.append(svg.label(_MARGIN + 96, y, f"{event.node}: {event.what}"))
        y += _LINE
    if len(events) > _MOST_EVENTS:
        marks.append(svg.label(_MARGIN + 96, y, f"and {len(events) - _MOST_EVENTS} more", "faint"))
        y += _LINE
    yield Drawing(title, f"{title}. {'; '.join(said)}.", y, tuple(marks))


def _event_marks(places: Sequence[float], top: float, bottom: float) -> Iterator[svg.Markup]:
    """Yield a thin line for each event, with its number; events close to each other share a label."""
    groups: list[list[int]] = []
    for number, x in enumerate(places):
        yield svg.line(x, top, x, bottom, "rule")
        if groups and x - places[groups[-1][0]] < _EVENT_ROOM:
            groups[-1].append(number)
        else:
            groups.append([number])
    for group in groups:
        text = f"{group[0] + 1}" if len(group) == 1 else f"{group[0] + 1}–{group[-1] + 1}"
        yield svg.label(places[group[0]], top - 2, text, "faint")


def _bar(one: PathSilence, start: float, y: float, across: svg.Scale, told: str) -> Iterator[svg.Markup]:
    """Yield the silence as a box with its length; one that had not ended has an open end."""
    if one.began_at is None or not was_silent(one):
        yield svg.label(across(0) + 4, y + 4, told, "faint")
        return
    left = across(one.began_at - start)
    right = max(across(one.began_at - start + one.seconds), left + 1.5)
    yield svg.box(left, y - 7, right - left, 14, "silence")
    if not one.is_over:
        yield svg.polyline([(right, y - 7), (right + 6, y), (right, y + 7)], "before-line")
    yield svg.label(right + 10, y + 4, told)


def _length(one: PathSilence, result: DrillOf) -> str:
    if not was_silent(one):
        return "no silence"
    share = share_of_misscount(one, result)
    of = "" if share == "-" else f", {share} of the misscount"
    return f"{'' if one.is_over else 'at least '}{silence_text(one.seconds)}{of}"


def _limits(
    misscount: float | None, low: float, high: float, across: svg.Scale, top: float, bottom: float
) -> Iterator[svg.Markup]:
    """Yield the misscount and its half, where they are on the axis, else where they would be."""
    if misscount is None:
        return
    if misscount > high:
        yield svg.label(_RIGHT, top - 16, f"the misscount is at {misscount:g} s →", "faint", anchor="end")
        return
    for value, name in ((misscount / 2, "half"), (misscount, "misscount")):
        yield svg.line(across(value), top, across(value), bottom, "mark")
        yield svg.label(across(value), top - 16, f"{name}: {value:g} s", "faint", anchor="middle")


def _seconds(low: float, high: float) -> Iterator[float]:
    """Yield round times for an axis: about eight."""
    step = next(
        unit * scale
        for scale in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0, 1e5, 1e6)
        for unit in (1, 2, 5)
        if unit * scale * 8 >= high - low or (scale, unit) == (1e6, 5)
    )
    first = int(low // step)
    yield from itertools.takewhile(lambda value: value <= high, (step * (first + n) for n in range(40)))
