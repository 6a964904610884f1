"""The lines of one node on the Traffic screen, one below the other: the two directions of each interface, and two or
three lines for each group of figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks.traffic.rates import Direction, InterfaceRates
from checks.traffic.samples import Link
from checks.traffic.source_id import SourceId
from tui.screens.traffic.metrics import BITS_IN, BITS_OUT, Group, RowMetric
from tui.screens.traffic.peaks import Peaks, Scales
from tui.screens.traffic.rate_history import InterfacePoint, Series
from tui.text.line import Line, Span, cell_len, clipped, cut, fitted, sanitize_line, width_of, wrapped
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
    tall: int = 1
    """The lines of each graph of an interface. Graphs of more than one line have a scale."""
    is_roomy: bool = False
    """Whether the graphs of the groups may be as high as all their figures one below the other."""


@dataclass(frozen=True)
class Columns:
    """The widths of the columns; 0 where a column has no room. All graphs of a page are in one column."""

    name: int
    loss: int = 0
    share: int = 0
    graph: int = 0
    packets: int = 0
    size: int = 0
    peak: int = 0
    scale: int = 0
    """The scale of the graphs."""

    @property
    def before_graph(self) -> int:
        """The width of all columns before the graph, with a space."""
        fixed = 1 + self.name + 1 + 3 + 1 + units.BITS
        return fixed + sum(column + 1 for column in (self.share, self.packets, self.size, self.scale) if column) + 1


def columns_for(width: int, names: Sequence[str], tall: int = 1) -> Columns:
    """Return the columns for lines of that width: the less important a figure, the earlier it is left out."""
    low, high = _NAMES
    name = min(max([low, *(len(sanitize_line(n)) for n in names)]), high, max(width // 5, low))
    room = width - (1 + name + 1 + 3 + 1 + units.BITS)
    found = {"name": name}
    wanted = {"loss": units.RATE, "share": units.SHARE, "graph": _LEAST_GRAPH, "packets": units.RATE}
    scale = {"scale": units.SCALE} if tall > 1 else {}
    for column, needed in {**wanted, **scale, "size": units.SIZE, "peak": _PEAK}.items():
        if room < needed + 1:
            break
        found[column] = needed
        room -= needed + 1
    if "graph" in found:
        found["graph"] += max(room, 0)
    return Columns(**found)


def heading_line(columns: Columns, highest: str, width: int) -> Line:
    """Return the headings of the columns of interfaces."""
    text = " " * (1 + columns.name + 1 + 3 + 1) + f"{'rate':>{units.BITS - 5}}     "
    for wanted, word in ((columns.share, "link  "), (columns.packets, "packets "), (columns.size, "size   ")):
        text += f" {word:>{wanted}}" if wanted else ""
    text += f" {'':<{columns.scale}}" if columns.scale else ""
    text += f" {'':<{columns.graph}}" if columns.graph else ""
    text += f" {highest:<{columns.peak}}" if columns.peak else ""
    text += f" {'drop+err':>{columns.loss}}" if columns.loss else ""
    return [(fitted(text, width), "faint")]


def interface_labels(name: str, link: Link | None, node: str = "") -> list[Span]:
    """Return the labels of the lines of an interface from the first one on: its node, where there is one, its
    name, and its MTU or that it is down."""
    labels = [(sanitize_line(text), "") for text in (node, name) if text]
    return [*labels, _state_of(link)]


def interface_lines(
    source: SourceId,
    labels: Sequence[Span],
    name: str,
    series: Series[InterfacePoint],
    columns: Columns,
    look: DrawingStyle,
) -> Iterator[Line]:
    """Yield the lines of one interface: in and out."""
    rates = series.newest.rates if series.newest else None
    values = {metric.label: values_shown(series, metric, columns, look) for metric in (BITS_IN, BITS_OUT)}
    top = look.scales.top(source, name, *values.values())
    label = iter(labels)
    for metric in (BITS_IN, BITS_OUT):
        way = metric.label
        peak = peak_of(look, source, f"{name} {way}", values[way])
        figures = list(_direction(way_of(rates, way), columns))
        after = [(f" {units.bits(peak)}" if columns.peak else "", ""), *_loss(way_of(rates, way), columns)]
        for drawn in graph_lines(series, metric, columns, look.tall, top, look):
            first, role = next(label, ("", ""))
            start: Line = [(" ", ""), (clipped(first, columns.name), role), (f" {way:<3} ", "")]
            yield merged([*start, *figures, *drawn, *after], look.width)
            way, after = "", []
            figures = [(" " * width_of(figures), "")]


def values_shown(
    series: Series[Any], metric: RowMetric[Any], columns: Columns, look: DrawingStyle
) -> Sequence[float | None]:
    """Return the values in the graph of a figure."""
    count = points(columns.graph, look.style)
    return series.values(metric.read)[-count:] if count else ()


def graph_lines(
    series: Series[Any], metric: RowMetric[Any], columns: Columns, tall: int, top: float, look: DrawingStyle
) -> Iterator[Line]:
    """Yield the lines of a graph with its scale, the highest first: the value of a full column, and 0."""
    if not columns.graph:
        yield from [[]] * tall
        return
    role = graph_role(metric, values_shown(series, metric, columns, look))
    for number, drawn in enumerate(series.tall(metric.read, columns.graph, tall, top, look.style)):
        scale = units.scale(top) if not number and tall > 1 else "0" if number == tall - 1 and tall > 1 else ""
        yield [(f" {scale:>{columns.scale}} ", "faint") if columns.scale else (" ", ""), (drawn, role)]


def graph_role(metric: RowMetric[Any], values: Sequence[float | None]) -> str:
    """Return the role of a graph: traffic has another one than what should not happen."""
    return (metric.role if any(values) else "faint") if metric.role else "accent"


def group_lines(
    source: SourceId, title: str, group: Group[Any], series: Series[Any], columns: Columns, look: DrawingStyle
) -> Iterator[Line]:
    """Yield a group of figures: the amount of work, and next to the graph what goes wrong; or why nothing is known.

    Where there is room, all of them are next to a taller graph."""
    indent = columns.name + 2
    room = columns.before_graph - 1 - (columns.scale + 1 if columns.scale else 0) - indent
    work_room = room if look.is_roomy else look.width - indent
    work: list[Line] = list(flowed(group.first, series, work_room))
    if series.trouble:
        # As many lines as the figures would take, so that nothing below moves when a source comes or goes.
        reasons = wrapped(series.trouble, work_room) if look.is_roomy else [sanitize_line(series.trouble)]
        reasons = [*reasons, *[""] * len(work)][: len(work)]
        work = [[(fitted(reason, max(work_room, 0)), "unknown")] for reason in reasons]
    wrong = list(flowed(group.second, series, room if columns.graph else look.width - indent))
    above, beside = ([], [*wrong, *work]) if look.is_roomy else ([*work, *wrong[:-1]], wrong[-1:])
    start: Line = [(" " + clipped(sanitize_line(title), columns.name) + " ", "")]
    for line in above:
        yield merged([*start, *line], look.width)
        start = [(" " * indent, "")]
    metric = group.graphed
    values = values_shown(series, metric, columns, look)
    top = look.scales.top(source, title, values)
    peak = fitted(metric.text(peak_of(look, source, title, values)), columns.peak)
    after: Line = [(f" {peak}", "")] if columns.peak else []
    for line, drawn in zip(beside, graph_lines(series, metric, columns, len(beside), top, look), strict=True):
        gap = [(" " * (room - width_of(line)), "")] if drawn else []
        yield merged([*start, *line, *gap, *drawn, *(after if drawn else ())], look.width)
        start, after = [(" " * indent, "")], []


def merged(line: Line, width: int) -> Line:
    """Return the line with adjacent spans of the same role joined, cut to the width."""
    spans: list[Span] = []
    left = width
    for text, role in line:
        wide = len(text) if text.isascii() else cell_len(text)
        part = text
        if wide > left:
            part, wide = fitted(text, left), left
        left -= wide
        if spans and (spans[-1][1] == role or not part.strip()) and part:
            spans[-1] = (spans[-1][0] + part, spans[-1][1])
        elif part:
            spans.append((part, role))
    return spans


def figure(metric: RowMetric[Any], series: Series[Any], width: int) -> Span:
    """Return a figure after its name; where there is no room for both, the name is cut."""
    text = metric.now(series)
    room = max(width - len(text) - 1, 0)
    label = fitted(metric.label, min(len(metric.label), room))
    return cut(f"{label} {text}", width), metric.role_of(series.now(metric.read))


def flowed(metrics: Sequence[RowMetric[Any]], series: Series[Any], width: int) -> Iterator[Line]:
    """Yield the figures one after another, in as many lines as they need at that width."""
    line: list[Span] = []
    for metric in metrics:
        span = figure(metric, series, width)
        if line and width_of(line) + 2 + width_of([span]) > width:
            yield line
            line = []
        line += [("  ", ""), span] if line else [span]
    yield line


def peak_of(look: DrawingStyle, source: SourceId, what: str, values: Sequence[float | None]) -> float | None:
    """Return the peak of a figure; the highest value in the graph where the display does not follow new samples."""
    if look.peaks is not None:
        return look.peaks.of(source, what)
    return max((value for value in values if value is not None), default=None)


def way_of(rates: InterfaceRates | None, way: str) -> Direction | None:
    """Return the rates of one direction: `in` or `out`."""
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
    if columns.loss:
        text, role = loss_text(way)
        yield " ", ""
        yield f"{text:>{columns.loss}}", role


def loss_text(way: Direction | None) -> Span:
    """Return drops plus errors of a direction; the interface alone has them separately."""
    lost = None if way is None else way.drops_per_s + way.errors_per_s
    text = "0" if lost == 0 else units.rate(lost).strip()
    return text, "" if not lost else "fail" if way and way.errors_per_s else "warn"


def _state_of(link: Link | None) -> Span:
    if link is None:
        return "", ""
    if not link.is_up:
        return "down", "fail"
    return str(link.mtu) if link.mtu else "", "faint"
