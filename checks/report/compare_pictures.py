"""A comparison as a picture: a dot for every stretch of both runs, medians with their intervals, and values over time.

Colour is never the only difference: the run before is hollow and dashed, the run after is filled and solid.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from checks.model.wording import counted
from checks.report import svg
from checks.traffic.compare.comparison import Compared, Comparison, ComparisonVerdict, Pair, Side, folded
from checks.traffic.compare.comparison_text import change_of, number
from checks.traffic.compare.metrics import LOAD

_WIDTH, _MARGIN = 960, 24
_NAMES, _PLOT, _PLOT_END, _RIGHT = _MARGIN, 300, 700, 760
_ROW, _LINE, _LETTERS = 46, 17, 130
_MOST_ROWS = 40
_MOST_CURVES = 8
_CURVE_WIDTH, _CURVE_HEIGHT = 448, 120
_SIZES_HEIGHT = 220
_CLASSES = {
    ComparisonVerdict.WORSE: "worse",
    ComparisonVerdict.BETTER: "better",
    ComparisonVerdict.DIFFERS: "differs",
    ComparisonVerdict.ENVIRONMENT_SHIFTED: "shifted",
}


def picture_of(comparison: Comparison) -> str:
    """Return the SVG file of a comparison."""
    parts: list[svg.Markup] = []
    title = " / ".join(f"{pair.before.name} → {pair.after.name}" for pair in comparison.pairs)
    y = 34.0
    parts.append(svg.label(_MARGIN, y, textwrap.shorten(title, 100, placeholder=" …"), "title"))
    for sentence in (*comparison.shifted, *comparison.summary):
        for written in textwrap.wrap(sentence, _LETTERS):
            y += _LINE
            parts.append(svg.label(_MARGIN, y, written))
        y += 4
    y += 24
    parts += _legend(y, any(pair.same for pair in comparison.pairs))
    for pair in comparison.pairs:
        drawn, y = _pair(pair, y + 16)
        parts += drawn
    description = " ".join((*comparison.shifted, *comparison.summary))
    return svg.document(_WIDTH, y + _MARGIN, f"Comparison of {title}", description, parts)


def _legend(y: float, with_same: bool) -> Iterator[svg.Markup]:
    yield svg.dot(_MARGIN + 5, y - 4, 3, "before")
    yield svg.label(_MARGIN + 15, y, "before")
    yield svg.dot(_MARGIN + 75, y - 4, 3, "after")
    yield svg.label(_MARGIN + 85, y, "after")
    x = _MARGIN + 135.0
    if with_same:
        yield _diamond(x, y - 4)
        yield svg.label(x + 10, y, "median of the second run before")
        x += 215
    legend = "dot: one stretch of time; vertical line: median; bar: 95 % interval; each metric has its own scale"
    yield svg.label(x, y, legend, "faint")


def _diamond(x: float, y: float) -> svg.Markup:
    return svg.polyline([(x - 4, y), (x, y - 4), (x + 4, y), (x, y + 4), (x - 4, y)], "same")


def _pair(pair: Pair, y: float) -> tuple[list[svg.Markup], float]:
    """The rows and the curves of a pair, and the y coordinate of their end."""
    parts: list[svg.Markup] = []
    moving = [m for m in folded(pair.metrics) if not m.is_still]
    moving.sort(key=lambda m: list(ComparisonVerdict).index(m.verdict))
    # Controls first: they decide whether the rest may be believed.
    moving.sort(key=lambda m: not m.is_control)
    drawn = moving[:_MOST_ROWS]
    kind = None
    for metric in drawn:
        if metric.is_control is not kind:
            kind = metric.is_control
            y += 26
            heading = "Controls: values that the change cannot affect" if kind else f"Measured ({pair.before.kind})"
            parts.append(svg.label(_NAMES, y, heading, "heading"))
            y += 8
        parts += _row(metric, y)
        y += _ROW
    if len(moving) > len(drawn):
        y += _LINE
        parts.append(svg.label(_NAMES, y, f"{counted(len(moving) - len(drawn), 'further metric')} not drawn", "faint"))
    for curve in dict.fromkeys(m.curve for m in pair.metrics if m.curve):
        y += 34
        parts += _size_curve(curve, [m for m in pair.metrics if m.curve == curve], y)
        y += _SIZES_HEIGHT + 44
    curves = _curves(moving)
    if curves:
        y += 34
        parts.append(svg.label(_NAMES, y, "Values over time", "heading"))
        y += 12
    for place, metric in enumerate(curves):
        x = _MARGIN + (place % 2) * (_CURVE_WIDTH + 16)
        parts += _curve(metric, pair.stretch_s, x, y + (place // 2) * (_CURVE_HEIGHT + 44))
    return parts, y + -(-len(curves) // 2) * (_CURVE_HEIGHT + 44)


def _row(metric: Compared, top: float) -> Iterator[svg.Markup]:
    sides = [side for side in (metric.before, metric.after, metric.same) if side]
    low, high = _range([value for side in sides for value in side.values])
    scale = svg.linear_scale(low, high, _PLOT, _PLOT_END)
    yield svg.line(_NAMES, top, _WIDTH - _MARGIN, top, "rule")
    unit = f", {metric.unit}" if metric.unit else ""
    first, *rest = textwrap.wrap(f"{metric.name}{unit}", 42)
    yield svg.label(_NAMES, top + 18, first, tip=metric.note)
    if rest:
        yield svg.label(_NAMES, top + 33, rest[0])
    yield from _lane(metric.before, "before", top + 13, scale)
    yield from _lane(metric.after, "after", top + 29, scale)
    if metric.same:
        yield _diamond(scale(metric.same.centre), top + 13)
    yield svg.label(_PLOT, top + 43, number(low), "faint")
    yield svg.label(_PLOT_END, top + 43, number(high), "faint", anchor="end")
    yield svg.label(_RIGHT + 40, top + 18, change_of(metric), anchor="end")
    p = "" if metric.p_adjusted is None else "p < 0.001" if metric.p_adjusted < 0.001 else f"p {metric.p_adjusted:.3f}"
    yield svg.label(_RIGHT + 56, top + 18, str(metric.verdict), _CLASSES.get(metric.verdict, ""))
    yield svg.label(_RIGHT + 56, top + 33, p, "faint")


def _lane(side: Side, name: str, y: float, scale: svg.Scale) -> Iterator[svg.Markup]:
    if side.low is not None and side.high is not None:
        yield svg.line(scale(side.low), y, max(scale(side.high), scale(side.low) + 1), y, f"{name}-bar")
    for value in side.values:
        yield svg.dot(scale(value), y, 2.2, name)
    centre = scale(side.centre)
    yield svg.line(centre, y - 7, centre, y + 7, f"{name}-line")


def _curves(moving: Sequence[Compared]) -> list[Compared]:
    """The metrics whose values over time are drawn: at most two of each group, those with the worst verdict first."""
    with_curve = [
        m
        for m in moving
        if min(len(m.before.values), len(m.after.values)) > 2
        and not m.curve
        and not m.part_of
        and (m.group == LOAD or not m.is_control)
    ]
    picked: list[Compared] = []
    for number_of_group in (1, 2):
        for metric in with_curve:
            same_group = [m for m in picked if m.group == metric.group]
            if metric not in picked and len(same_group) < number_of_group and len(picked) < _MOST_CURVES:
                picked.append(metric)
    return picked


def _curve(metric: Compared, stretch_s: float | None, x: float, y: float) -> Iterator[svg.Markup]:
    values = [*metric.before.values, *metric.after.values]
    low, high = _range(values)
    unit = f", {metric.unit}" if metric.unit else ""
    longest = max(len(metric.before.values), len(metric.after.values))
    across = svg.linear_scale(0, max(longest - 1, 1), x + 52, x + _CURVE_WIDTH - 8)
    up = svg.linear_scale(low, high, y + 24 + _CURVE_HEIGHT - 24, y + 24)
    yield svg.label(x, y + 14, f"{metric.name}{unit}", tip=metric.note)
    for value in (low, high):
        yield svg.line(x + 48, up(value), x + _CURVE_WIDTH, up(value), "rule")
        yield svg.label(x + 44, up(value) + 4, number(value), "faint", anchor="end")
    for side, name in ((metric.before, "before"), (metric.after, "after")):
        points = [(across(place), up(value)) for place, value in enumerate(side.values)]
        yield svg.polyline(points, f"{name}-line")
        if len(points) <= 60:
            yield from (svg.dot(*point, 2.2, name) for point in points)
    lasting = _time(longest * stretch_s) if stretch_s else counted(longest, "value")
    yield svg.label(x + _CURVE_WIDTH, y + _CURVE_HEIGHT + 16, lasting, "faint", anchor="end")


def _size_curve(name: str, points: Sequence[Compared], top: float) -> Iterator[svg.Markup]:
    """Yield the medians by message size, with their intervals. Both axes are logarithmic: from 64 B to 64 KB, the times
    of a network lie between tens and thousands of microseconds."""
    drawn = sorted((p for p in points if p.size > 0 and min(p.before.centre, p.after.centre) > 0), key=lambda p: p.size)
    yield svg.label(_NAMES, top, f"{name} by message size, {points[0].unit}", "heading")
    if not drawn:
        yield svg.label(_NAMES, top + _LINE, "No size has a value in both runs.", "faint")
        return
    sides = [side for p in drawn for side in (p.before, p.after)]
    values = [v for side in sides for v in (side.centre, side.low, side.high) if v is not None and v > 0]
    left, right, bottom = _MARGIN + 60, _WIDTH - _MARGIN - 20, top + _SIZES_HEIGHT
    across = svg.log_scale(drawn[0].size, drawn[-1].size, left, right)
    ticks = svg.log_ticks(min(values), max(values))
    up = svg.log_scale(ticks[0], ticks[-1], bottom - 8, top + 24)
    for value in ticks:
        yield svg.line(left, up(value), right, up(value), "rule")
        yield svg.label(left - 6, up(value) + 4, number(value), "faint", anchor="end")
    free_from = 0.0
    for point in drawn:
        yield svg.line(across(point.size), bottom - 4, across(point.size), bottom + 2, "rule")
        if across(point.size) >= free_from:  # sizes of one fragment more lie next to each other
            yield svg.label(across(point.size), bottom + 16, f"{point.size:,}", "faint", anchor="middle")
            free_from = across(point.size) + 48
    yield svg.label(right, bottom + 32, "bytes of a message, logarithmic", "faint", anchor="end")
    places = [across(point.size) for point in drawn]
    for class_, shift, of_class in (("before", -3, [p.before for p in drawn]), ("after", 3, [p.after for p in drawn])):
        yield svg.polyline([(x, up(side.centre)) for x, side in zip(places, of_class, strict=True)], f"{class_}-line")
        for x, side in zip(places, of_class, strict=True):
            if side.low is not None and side.high is not None and side.low > 0:
                end = min(up(side.high), up(side.low) - 1)
                yield svg.line(x + shift, up(side.low), x + shift, end, f"{class_}-bar")
            yield svg.dot(x, up(side.centre), 3, class_)


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The limits of a scale: from 0, or closely around the values where all are far from 0."""
    low, high = min(values), max(values)
    if low >= 0 and low < 0.6 * high:
        return 0.0, high
    room = (high - low) * 0.1 or abs(high) * 0.1 or 1.0
    return low - room, high + room
