"""The lines of one node on the Traffic screen: two for each interface, two or three for each group of figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks.traffic.rates import Direction, InterfaceRates
from checks.traffic.samples import Link
from tui.screens.traffic.metrics import BITS_IN, BITS_OUT, Group, RowMetric
from tui.screens.traffic.peaks import Peaks, Scales
from tui.screens.traffic.rate_history import InterfacePoint, Series
from tui.text.line import Line, Span, fitted, sanitize_line, width_of
from tui.widgets import units as units
from tui.widgets.graph import Style, points

MARK = "▶"
_LEAST_GRAPH = 8
_NAMES = 4, 12
"""The least and most columns for names."""
_PEAK = units.BITS


@dataclass(frozen=True)
class DrawingStyle:
    """Width, graph style, scales and peaks of the drawing."""

    width: int
    style: Style = "blocks"
    scales: Scales = field(default_factory=Scales)
    peaks: Peaks | None = None
    """The peaks; None for an earlier moment, for which the highest value in the graph is displayed."""


@dataclass(frozen=True)
class Columns:
    """The widths of the columns; 0 where a column has no room. All graphs of a node are in one column."""

    name: int
    loss: int = 0
    share: int = 0
    graph: int = 0
    packets: int = 0
    size: int = 0
    peak: int = 0

    @property
    def before_graph(self) -> int:
        """The width of all columns before the graph, with a space."""
        fixed = 1 + self.name + 1 + 3 + 1 + units.BITS
        return fixed + sum(column + 1 for column in (self.share, self.packets, self.size) if column) + 1


def columns_for(width: int, names: Sequence[str]) -> Columns:
    """Return the columns for lines of that width: the less important a figure, the earlier it is left out."""
    low, high = _NAMES
    name = min(max([low, *(len(sanitize_line(n)) for n in names)]), high, max(width // 5, low))
    room = width - (1 + name + 1 + 3 + 1 + units.BITS)
    found = {"name": name}
    wanted = {"loss": units.RATE, "share": units.SHARE, "graph": _LEAST_GRAPH, "packets": units.RATE}
    for column, needed in {**wanted, "size": units.SIZE, "peak": _PEAK}.items():
        if room < needed + 1:
            break
        found[column] = needed
        room -= needed + 1
    if "graph" in found:
        found["graph"] += max(room, 0)
    return Columns(**found)


def heading_line(columns: Columns, graph_span: str, highest: str, width: int) -> Line:
    """Return the headings of the columns of interfaces."""
    text = " " * (1 + columns.name + 1 + 3 + 1) + f"{'rate':<{units.BITS}}"
    for wanted, word in ((columns.share, "  link"), (columns.packets, "packets"), (columns.size, "   size")):
        text += f" {word:<{wanted}}" if wanted else ""
    if columns.graph:
        text += " " + fitted(graph_span, columns.graph)
    text += f" {highest:>{columns.peak}}" if columns.peak else ""
    text += f" {'drop+err':>{columns.loss}}" if columns.loss else ""
    return [(fitted(text, width), "faint")]


def interface_lines(
    source: str, name: str, link: Link | None, series: Series[InterfacePoint], columns: Columns, look: DrawingStyle
) -> Iterator[Line]:
    """Yield the lines of one interface: in and out."""
    below, role = _state_of(link)
    rates = series.newest.rates if series.newest else None
    drawn_points = points(columns.graph, look.style)
    values = {metric.label: series.values(metric.read)[-drawn_points:] for metric in (BITS_IN, BITS_OUT)}
    top = look.scales.top(source, name, *values.values())
    for metric, first, first_role in ((BITS_IN, sanitize_line(name), ""), (BITS_OUT, below, role)):
        way = metric.label
        peak = _peak(look, source, f"{name} {way}", values[way])
        drawn = series.drawn(metric.read, columns.graph, top, look.style)
        yield merged(
            [
                (" ", ""),
                (fitted(first, columns.name), first_role),
                (f" {way:<3} ", ""),
                *_direction(_way(rates, way), columns),
                (" " if columns.graph else "", ""),
                (drawn, "accent"),
                (f" {units.bits(peak)}" if columns.peak else "", ""),
                *_loss(_way(rates, way), columns),
            ],
            look.width,
        )


def group_lines(
    source: str, title: str, group: Group[Any], series: Series[Any], columns: Columns, look: DrawingStyle
) -> Iterator[Line]:
    """Yield a group of figures: the amount of work, and next to the graph what goes wrong; or why nothing is known."""
    indent = columns.name + 2
    start: Line = [(" " + fitted(sanitize_line(title), columns.name) + " ", "")]
    first: list[Line] = list(_flowed(group.first, series, look.width - indent))
    if series.trouble:
        # As many lines as the figures would take, so that nothing below moves when a source comes or goes.
        reason: Line = [(fitted(sanitize_line(series.trouble), max(look.width - indent, 0)), "unknown")]
        first = [reason, *[[]] * (len(first) - 1)]
    for line in first:
        yield merged([*start, *line], look.width)
        start = [(" " * indent, "")]
    room = columns.before_graph - 1 - indent if columns.graph else look.width - indent
    *others, last = _flowed(group.second, series, room)
    for line in others:
        yield merged([*start, *line], look.width)
    yield merged([*start, *last, *_group_graph(source, title, group, series, columns, look, room, last)], look.width)


def merged(line: Line, width: int) -> Line:
    """Return the line with adjacent spans of the same role joined, cut to the width."""
    spans: list[Span] = []
    left = width
    for text, role in line:
        part = fitted(text, left) if width_of([(text, role)]) > left else text
        left -= width_of([(part, role)])
        if spans and (spans[-1][1] == role or not part.strip()) and part:
            spans[-1] = (spans[-1][0] + part, spans[-1][1])
        elif part:
            spans.append((part, role))
    return spans


def figure(metric: RowMetric[Any], series: Series[Any], width: int) -> Span:
    """Return a figure after its name; where there is no room for both, the name is cut."""
    text = metric.now(series)
    room = max(width - len(text) - 1, 0)
    label = metric.label if len(metric.label) <= room else fitted(metric.label, room)
    return f"{label} {text}"[: max(width, 0)], metric.role_of(series.now(metric.read))


def _group_graph(
    source: str,
    title: str,
    group: Group[Any],
    series: Series[Any],
    columns: Columns,
    look: DrawingStyle,
    room: int,
    last: Line,
) -> Iterator[Span]:
    if not columns.graph:
        return
    metric = group.graphed
    values = series.values(metric.read)[-points(columns.graph, look.style) :]
    drawn = series.drawn(metric.read, columns.graph, look.scales.top(source, title, values), look.style)
    yield " " * (room - width_of(last)), ""
    yield " ", ""
    yield drawn, "accent"
    if columns.peak:
        yield f" {fitted(metric.text(_peak(look, source, title, values)), columns.peak)}", ""


def _flowed(metrics: Sequence[RowMetric[Any]], series: Series[Any], width: int) -> Iterator[Line]:
    """Yield the figures one after another, in as many lines as they need at that width."""
    line: list[Span] = []
    for metric in metrics:
        span = figure(metric, series, width)
        if line and width_of(line) + 2 + width_of([span]) > width:
            yield line
            line = []
        line += [("  ", ""), span] if line else [span]
    yield line


def _peak(look: DrawingStyle, source: str, what: str, values: Sequence[float | None]) -> float | None:
    if look.peaks is not None:
        return look.peaks.of(source, what)
    return max((value for value in values if value is not None), default=None)


def _way(rates: InterfaceRates | None, way: str) -> Direction | None:
    return None if rates is None else rates.rx if way == "in" else rates.tx


def _direction(way: Direction | None, columns: Columns) -> Iterator[Span]:
    yield units.bits(way.bits_per_s if way else None), ""
    if columns.share:
        yield f" {units.share(way.share_percent if way else None)}", ""
    if columns.packets:
        yield f" {units.rate(way.packets_per_s if way else None)}", ""
    if columns.size:
        yield f" {units.size(way.mean_packet_bytes if way else None, units.NONE if way else units.UNKNOWN)}", ""


def _loss(way: Direction | None, columns: Columns) -> Iterator[Span]:
    """Yield drops plus errors; the interface alone has them separately."""
    if not columns.loss:
        return
    lost = None if way is None else way.drops_per_s + way.errors_per_s
    text = "0" if lost == 0 else units.rate(lost).strip()
    yield " ", ""
    yield f"{text:>{columns.loss}}", "" if not lost else "fail" if way and way.errors_per_s else "warn"


def _state_of(link: Link | None) -> Span:
    if link is None:
        return "", ""
    if not link.is_up:
        return "down", "fail"
    return str(link.mtu) if link.mtu else "", "faint"
