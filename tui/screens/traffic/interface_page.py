"""One interface, or one group of figures, alone: everything that it counts, each with a graph of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tui.screens.traffic.metrics import Metric
from tui.screens.traffic.node_lines import Block
from tui.screens.traffic.rows import Look, merged
from tui.text.line import Line, clean, fitted
from tui.widgets import units as units
from tui.widgets.graph import Style, points, tall_graph

_FIGURE = units.BITS
_TALLEST = 4


def alone_lines(block: Block, look: Look, height: int, step_s: float) -> Iterator[Line]:
    """It in that many lines, or more where it has more figures; `step_s` is the time between two points of a graph."""
    label = min(max(len(metric.label) for metric in block.metrics), max(look.width - _FIGURE - 2, 0))
    room = look.width - 1 - label - 1 - _FIGURE - 1
    drawn = room - 1 - _FIGURE if room - 1 - _FIGURE >= 8 else 0
    yield [(fitted(f" {block.about}", look.width), "title")]
    heading = " " * (1 + label + 1) + f"{'now':<{_FIGURE}}"
    if drawn:
        span = units.duration(step_s * points(drawn, look.style))
        heading += f" {fitted(span, drawn)} {'highest':<{_FIGURE}}"
    yield [(fitted(heading, look.width), "faint")]
    if block.series.trouble:
        yield [(fitted(f" {clean(block.series.trouble)}", look.width), "unknown")]
    spare = max(height - 2 - bool(block.series.trouble) - len(block.metrics), 0)
    extra = min(spare // block.large, _TALLEST - 1) if drawn and block.large else 0
    for number, metric in enumerate(block.metrics):
        yield from _metric_lines(block, metric, look, label, drawn, 1 + (extra if number < block.large else 0))


def _metric_lines(block: Block, metric: Metric[Any], look: Look, label: int, drawn: int, tall: int) -> Iterator[Line]:
    values = block.series.values(metric.read)
    shown = values[-points(drawn, look.style) :] if drawn else []
    now = block.series.now(metric.read)
    highest = metric.highest(block.series, len(shown))
    top = look.scales.top(block.source, f"{block.title} {metric.label} alone", shown)
    style: Style = look.style
    lines = tall_graph(shown, drawn, tall, top, style) if drawn else [""]
    for number, line in enumerate(lines):
        # The figures stand at the foot of their graph, where 0 is.
        last = number == len(lines) - 1
        yield merged(
            [
                (" " + fitted(metric.label if last else "", label) + " ", ""),
                (fitted(metric.now(block.series) if last else "", _FIGURE), metric.role_of(now)),
                (" ", ""),
                (line, "accent"),
                (f" {fitted(highest if last else '', _FIGURE)}" if drawn else "", ""),
            ],
            look.width,
        )
