"""The lines of nodes in a wide terminal: the graphs of both directions of an interface side by side.

The figures are below each other at the left of their graph, as many as it has lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from checks.traffic.rates import Direction
from checks.traffic.source_id import SourceId
from tui.screens.traffic.metrics import BITS_IN, BITS_OUT, Group, RowMetric
from tui.screens.traffic.rate_history import InterfacePoint, Series
from tui.screens.traffic.rows import (
    Columns,
    DrawingStyle,
    figure,
    flowed,
    graph_lines,
    loss_text,
    merged,
    peak_of,
    values_shown,
    way_of,
)
from tui.text.line import Line, Span, clipped, fitted, sanitize_line, width_of, wrapped
from tui.widgets import units as units

LEAST_WIDTH = 110
"""Columns from which two graphs side by side are long enough."""
_FIGURES = units.BITS + 1 + units.SHARE + 1
_BESIDE = 3 + 1 + _FIGURES + 1 + units.SCALE + 1
"""Columns of a half before its graph: the direction, the figures, the scale."""
_GAP = 2


@dataclass(frozen=True)
class Halves:
    """The widths of the parts."""

    width: int
    name: int
    """The labels at the left."""

    @property
    def graph(self) -> int:
        """The columns of each graph."""
        return (self.width - 2 - self.name - _GAP) // 2 - _BESIDE

    @property
    def graphs(self) -> list[tuple[int, int]]:
        """The first column of each graph, and its columns."""
        left = 2 + self.name + _BESIDE
        return [(left, self.graph), (left + self.graph + _GAP + _BESIDE, self.graph)]

    @property
    def columns(self) -> Columns:
        """The columns of a graph and its scale."""
        return Columns(self.name, graph=self.graph, scale=units.SCALE)


def interface_halves(
    source: SourceId,
    labels: Sequence[Span],
    name: str,
    series: Series[InterfacePoint],
    halves: Halves,
    look: DrawingStyle,
) -> Iterator[Line]:
    """Yield the lines of one interface: in at the left, out at the right."""
    rates = series.newest.rates if series.newest else None
    values = {metric.label: values_shown(series, metric, halves.columns, look) for metric in (BITS_IN, BITS_OUT)}
    top = look.scales.top(source, name, *values.values())
    ways = []
    for metric in (BITS_IN, BITS_OUT):
        peak = peak_of(look, source, f"{name} {metric.label}", values[metric.label])
        texts = _figures(way_of(rates, metric.label), peak, look.tall)
        ways.append((metric.label, texts, list(graph_lines(series, metric, halves.columns, look.tall, top, look))))
    for number in range(look.tall):
        first, role = labels[number] if number < len(labels) else ("", "")
        line: list[Span] = [(f" {clipped(first, halves.name)} ", role)]
        for place, (way, texts, drawn) in enumerate(ways):
            gap = " " * _GAP if place else ""
            line += [(f"{gap}{way if number == 0 else '':<3} ", ""), texts[number], *drawn[number]]
        yield merged(line, look.width)


def group_halves(
    source: SourceId, title: str, group: Group[Any], series: Series[Any], halves: Halves, look: DrawingStyle
) -> Iterator[Line]:
    """Yield a group of figures: what goes wrong next to its graph, the amount of work at its right."""
    [(first, _), _] = halves.graphs
    room = _BESIDE - units.SCALE - 1
    wrong = [line for metric in group.second for line in _broken(metric, series, room)]
    right = halves.width - first - halves.graph - _GAP
    work: list[Line] = list(flowed(group.first, series, right))
    tall = max(len(wrong), len(work), 3 if look.is_roomy else 2)
    if series.trouble:
        work = [[(fitted(reason, right), "unknown")] for reason in wrapped(series.trouble, right)[: len(work)]]
    values = values_shown(series, group.graphed, halves.columns, look)
    top = look.scales.top(source, title, values)
    graph = graph_lines(series, group.graphed, halves.columns, tall, top, look)
    for number, (text, drawn, amount) in enumerate(zip_longest(wrong, graph, work, fillvalue=())):
        name = sanitize_line(title) if number == 0 else ""
        line: list[Span] = [(f" {clipped(name, halves.name)} ", ""), *text, (" " * (room - 1 - width_of(text)), "")]
        yield merged([*line, *drawn, (" " * _GAP, ""), *amount], look.width)


def _figures(way: Direction | None, peak: float | None, tall: int) -> list[Span]:
    """Return the figures of a direction, one span a line: rate and share, packets and their size, losses, the peak."""
    size = units.size(way.mean_packet_bytes if way else None, units.NONE if way else units.UNKNOWN)
    lost, role = loss_text(way)
    texts = [
        (f"{units.bits(way.bits_per_s if way else None)} {units.share(way.share_percent if way else None)}", ""),
        (f"{units.rate(way.packets_per_s if way else None)} {size}", ""),
        (f"drop+err {lost:>{_FIGURES - 9}}", role),
        (f"peak {units.bits(peak)}", ""),
    ]
    blank = [("", "")] * max(tall - len(texts), 0)
    return [(fitted(text, _FIGURES), role) for text, role in [*texts, *blank][:tall]]


def _broken(metric: RowMetric[Any], series: Series[Any], room: int) -> Iterator[Line]:
    """Yield a figure after its name; where both are too long for a line, below its name."""
    text = metric.now(series)
    if len(metric.label) + 1 + len(text.rstrip()) <= room - 1:
        yield [figure(metric, series, room - 1)]
    else:
        yield [(fitted(metric.label, room - 1), "")]
        yield [(text, metric.role_of(series.now(metric.read)))]
