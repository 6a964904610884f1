"""The content of the Traffic screen and its cursor: one node, one block of a node alone, or all nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tui.screens.traffic.all_nodes_lines import glance_heading, glance_lines
from tui.screens.traffic.metrics import RowMetric
from tui.screens.traffic.node_lines import Block, KnownNodes, blocks_of
from tui.screens.traffic.rate_history import RateWindow, node_series
from tui.screens.traffic.rows import MARK, Columns, DrawingStyle, columns_for, heading_line, merged
from tui.screens.traffic.size_lines import SizesBlock
from tui.text.line import Line, fitted, sanitize_line, wrapped
from tui.widgets import units as units
from tui.widgets.graph import Style, points, tall_graph

_FIGURE = units.BITS
_TALLEST = 4


def alone_lines(block: Block, look: DrawingStyle, height: int, step_s: float) -> Iterator[Line]:
    """Yield a block alone, in `height` lines or in more where it has more figures.

    `step_s` is the time between two points of a graph, in seconds."""
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
        yield [(fitted(f" {sanitize_line(block.series.trouble)}", look.width), "unknown")]
    spare = max(height - 2 - bool(block.series.trouble) - len(block.metrics), 0)
    extra = min(spare // block.large, _TALLEST - 1) if drawn and block.large else 0
    for number, metric in enumerate(block.metrics):
        yield from _metric_lines(block, metric, look, label, drawn, 1 + (extra if number < block.large else 0))


def _metric_lines(
    block: Block, metric: RowMetric[Any], look: DrawingStyle, label: int, drawn: int, tall: int
) -> Iterator[Line]:
    values = block.series.values(metric.read)
    shown = values[-points(drawn, look.style) :] if drawn else []
    now = block.series.now(metric.read)
    highest = metric.highest(block.series, len(shown))
    top = look.scales.top(block.source, f"{block.title} {metric.label} alone", shown)
    style: Style = look.style
    lines = tall_graph(shown, drawn, tall, top, style) if drawn else [""]
    for number, line in enumerate(lines):
        # The figures are on the lowest line of their graph, where 0 is.
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


_FEW_NODES = 6
"""Up to so many nodes are all read, to display all of them below one node where there is room."""


@dataclass
class TrafficView:
    """The view that the operator selected."""

    kind: Literal["node", "alone", "nodes"] = "node"
    node: str = ""
    chosen: str = ""
    """The title of the selected block of a node, or the name of the selected node; empty for the first."""
    others: bool = False
    """Whether to display interfaces that are not ports of a private network."""

    def settle(self, nodes: Sequence[str]) -> None:
        """Select the first node, once one is known."""
        if not self.node and nodes:
            self.node = nodes[0]

    def wanted(self, nodes: Sequence[str]) -> Sequence[str]:
        """Return the nodes to read for this view; empty for all."""
        return [self.node] if self.node and self.kind != "nodes" and len(nodes) > _FEW_NODES else []

    def choose(self, key: str) -> None:
        """Select a block, or a node, which is then the node to display."""
        self.chosen = key
        if self.kind == "nodes":
            self.node = key

    def move(self, keys: Sequence[str], by: int) -> None:
        """Move the selection down by that many places."""
        if keys:
            place = keys.index(self.chosen) if self.chosen in keys else 0
            self.choose(keys[min(max(place + by, 0), len(keys) - 1)])

    def open(self) -> None:
        """Go from all nodes to one node, or from a node to one block alone."""
        if self.kind == "nodes":
            self.kind, self.chosen = "node", ""
        else:
            self.kind = "alone"

    def back(self) -> None:
        """Go back to the whole node."""
        if self.kind == "nodes":
            self.chosen = ""
        self.kind = "node"

    def toggle_all(self) -> None:
        """Switch between all nodes and the selected node."""
        self.kind, self.chosen = ("node", "") if self.kind == "nodes" else ("nodes", self.node)

    def next_node(self, nodes: Sequence[str], by: int) -> None:
        """Go to another node; after the last comes the first."""
        place = nodes.index(self.node) if self.node in nodes else 0
        self.node = nodes[(place + by) % len(nodes)]
        if self.kind == "nodes":
            self.chosen = self.node

    def about(self, nodes: int) -> str:
        """Return the name of the view: `rac1 of 2 nodes`."""
        if self.kind == "nodes":
            return f"all {nodes} nodes"
        return sanitize_line(self.node) + (f" of {nodes} nodes" if nodes > 1 else "")


@dataclass(frozen=True)
class TrafficPage:
    """The lines of the screen, and the position of what can be selected."""

    lines: Sequence[Line] = ()
    keys: Sequence[str] = ()
    """What can be selected, from top to bottom."""
    starts: Sequence[int] = ()
    """The first line of each key."""
    chosen_lines: tuple[int, int] = (0, 0)
    """The first and the last line that must be in view."""
    graph_points: int = field(default=0)
    """The number of points of the graphs."""

    def key_at(self, line: int) -> str:
        """Return the key at a line; empty where there is none."""
        return next((k for k, s in zip(reversed(self.keys), reversed(self.starts), strict=True) if s <= line), "")


def page_of(
    window: RateWindow | None,
    places: KnownNodes,
    view: TrafficView,
    look: DrawingStyle,
    height: int,
    trouble: str = "",
    waiting: str = "Waiting for the first samples.",
    sizes: SizesBlock | None = None,
) -> TrafficPage:
    """Return the page for that width and height.

    `trouble` says why no more samples come; `waiting` is the text where there are no samples and no trouble. `sizes`
    has the frames by size of the node of the view, which are no samples."""
    head: list[Line] = [[(part, "fail")] for part in wrapped(trouble, look.width)] if trouble else []
    if window is None or not view.node:
        return TrafficPage([*head, [(fitted(f" {'' if trouble else waiting}", look.width), "faint")]])
    if view.kind == "nodes":
        return _all_nodes(window, places, view, look, head)
    blocks = [*blocks_of(window, view.node, places, others=view.others), *((sizes,) if sizes else ())]
    if view.kind == "alone":
        return _alone(window, blocks, view, look, height, head)
    return _node(window, places, blocks, view, look, height, head)


def _all_nodes(
    window: RateWindow, places: KnownNodes, view: TrafficView, look: DrawingStyle, head: list[Line]
) -> TrafficPage:
    lines = [*head, glance_heading(places.nodes, look, window.stretch.step_s)]
    chosen = view.chosen if view.chosen in places.nodes else places.nodes[0]
    first = len(lines)
    rows = [
        _marked(line, node == chosen)
        for node, line in zip(places.nodes, glance_lines(window, places, places.nodes, look), strict=True)
    ]
    place = first + places.nodes.index(chosen)
    starts = range(first, first + len(rows))
    return TrafficPage(
        [*lines, *rows], places.nodes, starts, (0 if place == first else place, place), window.stretch.count
    )


def _alone(
    window: RateWindow,
    blocks: Sequence[Block | SizesBlock],
    view: TrafficView,
    look: DrawingStyle,
    height: int,
    head: list[Line],
) -> TrafficPage:
    keys = [block.title for block in blocks]
    block = blocks[keys.index(view.chosen) if view.chosen in keys else 0]
    if isinstance(block, SizesBlock):
        lines = [*head, *block.alone(look)]
    else:
        lines = [*head, *alone_lines(block, look, height - len(head), window.stretch.step_s)]
    return TrafficPage(lines, keys, [0] * len(keys), (0, 0), window.stretch.count)


def _node(
    window: RateWindow,
    places: KnownNodes,
    blocks: Sequence[Block | SizesBlock],
    view: TrafficView,
    look: DrawingStyle,
    height: int,
    head: list[Line],
) -> TrafficPage:
    columns = columns_for(look.width, [block.title for block in blocks])
    shown = points(columns.graph, look.style)
    keys = [block.title for block in blocks]
    chosen = keys.index(view.chosen) if view.chosen in keys else 0
    lines = [*head, _heading(window, view.node, columns, look)]
    starts: list[int] = []
    in_sight = (0, 0)
    for number, block in enumerate(blocks):
        starts.append(len(lines))
        first, *rest = block.lines(columns, look)
        lines += [_marked(first, number == chosen), *rest]
        if number == chosen:
            in_sight = (0 if number == 0 else starts[-1], len(lines) - 1)
    lines += _others_below(window, places, look, height - len(lines))
    return TrafficPage(lines, keys, starts, in_sight, shown)


def _heading(window: RateWindow, node: str, columns: Columns, look: DrawingStyle) -> Line:
    """Return the names of the columns, or why nothing is known of the node."""
    trouble = node_series(window, node).trouble
    if trouble:
        return [(fitted(f" {sanitize_line(node)}: {sanitize_line(trouble)}", look.width), "unknown")]
    span = _span(window, points(columns.graph, look.style))
    return heading_line(columns, span, "peak" if look.peaks else "highest", look.width)


def _others_below(window: RateWindow, places: KnownNodes, look: DrawingStyle, room: int) -> Iterator[Line]:
    """Yield all nodes, one line each, where there is room for all of them."""
    read = [node for node in places.nodes if f"node {node}" in window.events]
    if len(places.nodes) > 1 and len(read) == len(places.nodes) and room >= len(read) + 2:
        yield []
        yield glance_heading(places.nodes, look, window.stretch.step_s)
        yield from glance_lines(window, places, places.nodes, look)


def _marked(line: Line, chosen: bool) -> Line:
    """Return the line with the mark of the selected one in its first column."""
    if not chosen or not line:
        return line
    (text, role), *rest = line
    return [(MARK, "accent"), (text[1:], role), *rest]


def _span(window: RateWindow, count: int) -> str:
    return units.duration(window.stretch.step_s * min(count, window.stretch.count))
