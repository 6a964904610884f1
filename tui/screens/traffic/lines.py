"""The content of the Traffic screen and its cursor: one node, one block of a node alone, or all nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from checks.traffic.weighing import weight_of_samples
from tui.screens.traffic.all_nodes_lines import glance_graph, glance_heading, glance_lines, left_out, nodes_in_order
from tui.screens.traffic.metrics import RowMetric
from tui.screens.traffic.node_lines import Block, InterfaceBlock, KnownNodes, blocks_of
from tui.screens.traffic.node_page import Layout, Layouts, NodePage, Shown, other_nodes
from tui.screens.traffic.rate_history import RateWindow
from tui.screens.traffic.rows import MARK, DrawingStyle, graph_role, merged
from tui.screens.traffic.side_pane import LEAST_WIDTH, WIDTH, side_pane, with_side_pane
from tui.screens.traffic.size_lines import SizesBlock
from tui.screens.traffic.time_axis import TimeAxis, axis_line
from tui.screens.traffic.user_lines import UsersBlock, user_blocks
from tui.screens.traffic.weight_line import WeightBlock
from tui.text.line import Line, fitted, sanitize_line, wrapped
from tui.widgets import units as units
from tui.widgets.graph import Style, points, tall_graph
from tui.widgets.sorting import Sorting

_FIGURE = units.BITS
_TALLEST = 5
_LEAST_GRAPH = 8
_TALL = (5, 3, 2, 1)
"""The lines that a graph can have."""


def alone_lines(block: Block, look: DrawingStyle, height: int, axis: TimeAxis) -> Iterator[Line]:
    """Yield a block alone, in `height` lines or in more where it has more figures."""
    label = min(max(len(metric.label) for metric in block.metrics), max(look.width - _FIGURE - 2, 0))
    before = 1 + label + 1 + _FIGURE + 1
    drawn = look.width - before - units.SCALE - 1 - 1 - _FIGURE
    drawn = drawn if drawn >= _LEAST_GRAPH else 0
    yield [(fitted(f" {block.about}", look.width), "title")]
    heading = " " * (1 + label + 1) + f"{'now':<{_FIGURE}}"
    if drawn:
        heading += f" {'':<{units.SCALE + 1 + drawn}} {'highest':<{_FIGURE}}"
    yield [(fitted(heading, look.width), "faint")]
    if block.series.trouble:
        yield [(fitted(f" {sanitize_line(block.series.trouble)}", look.width), "unknown")]
    spare = max(height - 3 - bool(block.series.trouble) - len(block.metrics), 0)
    extra = min(spare // block.large, _TALLEST - 1) if drawn and block.large else 0
    for number, metric in enumerate(block.metrics):
        yield from _metric_lines(block, metric, look, label, drawn, 1 + (extra if number < block.large else 0))
    if drawn:
        yield axis_line(axis, [(before + units.SCALE + 1, drawn)], look.style, look.width)


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
        is_first, is_last = number == 0, number == len(lines) - 1
        scale = units.scale(top) if is_first and tall > 1 else "0" if is_last and tall > 1 else ""
        yield merged(
            [
                (" " + fitted(metric.label if is_first else "", label) + " ", ""),
                (fitted(metric.now(block.series) if is_first else "", _FIGURE), metric.role_of(now)),
                (f" {scale:>{units.SCALE}} " if drawn else "", "faint"),
                (line, graph_role(metric, shown)),
                (f" {fitted(highest if is_first else '', _FIGURE)}" if drawn else "", ""),
            ],
            look.width,
        )


_FEW_NODES = 6
"""Up to so many nodes are all read, to display all of them below one node where there is room."""
_LARGE, _FEW_NODES_IN_LARGE = 30, 16


@dataclass
class TrafficView:
    """The view that the operator selected."""

    kind: Literal["node", "alone", "nodes"] = "node"
    node: str = ""
    chosen: str = ""
    """The title of the selected block of a node, or the name of the selected node; empty for the first."""
    others: bool = False
    """Whether to display interfaces that are not ports of a private network."""
    sorting: Sorting = field(default_factory=Sorting)
    """The order of all nodes."""

    def settle(self, nodes: Sequence[str]) -> None:
        """Select the first of the displayed nodes, where none of them is selected."""
        if self.node not in nodes and nodes:
            self.node = nodes[0]
            self.chosen = self.node if self.kind == "nodes" else self.chosen

    def wanted(self, nodes: Sequence[str], height: int) -> Sequence[str]:
        """Return the nodes to read for this view in that many lines; empty for all."""
        few = _FEW_NODES if height < _LARGE else _FEW_NODES_IN_LARGE
        return [self.node] if self.node and self.kind != "nodes" and len(nodes) > few else []

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

    def show_block(self, node: str, title: str) -> None:
        """Go to a node, and select its block of that title; without a node, to the present one."""
        self.kind, self.chosen, self.node = "node", title, node or self.node

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

    def show(self, node: str) -> None:
        """Show a node."""
        self.kind, self.node, self.chosen = "node", node, ""

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
    nodes: Mapping[int, str] = field(default_factory=dict)
    """The node of each line that is about another node, by the number of the line."""

    def key_at(self, line: int) -> str:
        """Return the key at a line; empty where there is none."""
        if line in self.nodes:
            return ""
        return next((k for k, s in zip(reversed(self.keys), reversed(self.starts), strict=True) if s <= line), "")


@dataclass(frozen=True)
class Surroundings:
    """What the page draws in addition to the samples."""

    height: int
    layouts: Layouts
    axis: TimeAxis | None = None
    """None while there are no samples."""
    trouble: str = ""
    """Why no more samples come."""
    waiting: str = "Waiting for the first samples."
    """The text where there are no samples and no trouble."""
    sizes: SizesBlock | None = None
    """The frames by size of the node of the view, which are no samples."""
    block_bytes: int | None = None
    """The block size of the database; None where it is not known."""
    no_match: str = ""
    """The text where no node matches the filter."""


def page_of(
    window: RateWindow | None, places: KnownNodes, view: TrafficView, look: DrawingStyle, around: Surroundings
) -> TrafficPage:
    """Return the page for that width and height."""
    head: list[Line] = [[(part, "fail")] for part in wrapped(around.trouble, look.width)] if around.trouble else []
    if places.nodes and not places.shown:
        return TrafficPage([*head, *([(f" {part}", "faint")] for part in wrapped(around.no_match, look.width - 1))])
    if window is None or not view.node or around.axis is None:
        text = "" if around.trouble else around.waiting
        return TrafficPage([*head, [(fitted(f" {text}", look.width), "faint")]])
    if view.kind == "node" and look.width >= LEAST_WIDTH:
        left = look.width - WIDTH
        page = _node(window, places, view, replace(look, width=left), around, around.axis, head)
        lines = with_side_pane(page.lines, side_pane(window, places, around.axis), left, around.height)
        return replace(page, lines=lines)
    make = {"nodes": _all_nodes, "alone": _alone, "node": _node}[view.kind]
    return make(window, places, view, look, around, around.axis, head)


def _all_nodes(
    window: RateWindow,
    places: KnownNodes,
    view: TrafficView,
    look: DrawingStyle,
    around: Surroundings,
    axis: TimeAxis,
    head: list[Line],
) -> TrafficPage:
    nodes = nodes_in_order(window, places, view.sorting)
    lines = [*head, glance_heading(places.nodes, look, view.sorting)]
    room = around.height - len(lines) - 1
    tall = next((tall for tall in _TALL if tall * len(nodes) <= room), 1)
    rows = list(glance_lines(window, places, nodes, replace(look, tall=tall), view.sorting.column))
    chosen = view.chosen if view.chosen in nodes else nodes[0]
    first = len(lines)
    place = first + tall * nodes.index(chosen)
    for number, row in enumerate(rows):
        lines.append(_marked(row, first + number == place))
    if room >= tall * len(nodes) and (graph := glance_graph(places.nodes, look.width))[1]:
        lines.append(axis_line(axis, [graph], look.style, look.width))
    lines += left_out(places.nodes, look.width, view.sorting)
    starts = range(first, first + len(rows), tall)
    in_sight = (0 if place == first else place, place + tall - 1)
    return TrafficPage(lines, nodes, starts, in_sight, window.stretch.count)


def _alone(
    window: RateWindow,
    places: KnownNodes,
    view: TrafficView,
    look: DrawingStyle,
    around: Surroundings,
    axis: TimeAxis,
    head: list[Line],
) -> TrafficPage:
    blocks = _blocks(window, places, view, around)
    keys = [block.title for block in blocks]
    block = blocks[keys.index(view.chosen) if view.chosen in keys else 0]
    if isinstance(block, SizesBlock | UsersBlock | WeightBlock):
        lines = [*head, *block.alone(look)]
    else:
        weight = _weight(window, view, around) if isinstance(block, InterfaceBlock) else None
        said = list(weight.alone(look)) if weight else []
        users = [one for one in blocks if isinstance(one, UsersBlock) and one.instance == block.title]
        below = [line for one in users for line in one.alone(look)]
        height = around.height - len(head) - len(said) - len(below)
        first, *figures = alone_lines(block, look, height, axis)
        lines = [*head, first, *said, *figures, *below]
    return TrafficPage(lines, keys, [0] * len(keys), (0, 0), window.stretch.count)


def _node(
    window: RateWindow,
    places: KnownNodes,
    view: TrafficView,
    look: DrawingStyle,
    around: Surroundings,
    axis: TimeAxis,
    head: list[Line],
) -> TrafficPage:
    blocks = _blocks(window, places, view, around)
    others = other_nodes(window, places, view.node)

    def page_with(shown: list[Shown]) -> tuple[NodePage, Layout]:
        page = NodePage(window, places, view.node, shown, look, around.height - len(head), axis, others)
        return page, around.layouts.of(page)

    page, layout = page_with(blocks)
    if others and layout.others is None:  # the other nodes come before the users, which the instance alone has too
        fewer: list[Shown] = [block for block in blocks if not isinstance(block, UsersBlock)]
        if (without := page_with(fewer))[1].others is not None:
            blocks, (page, layout) = fewer, without
    keys = [block.title for block in blocks]
    chosen = keys.index(view.chosen) if view.chosen in keys else 0
    lines = [*head, page.head(layout)]
    starts: list[int] = []
    in_sight = (0, 0)
    for number, block in enumerate(blocks):
        starts.append(len(lines))
        first, *rest = page.block(block, layout)
        lines += [_marked(first, number == chosen), *rest]
        if number == chosen:
            in_sight = (0 if number == 0 else starts[-1], len(lines) - 1)
    lines.append(page.axis_line(layout))
    nodes: dict[int, str] = {}
    for node, line in page.below(layout):
        nodes[len(lines)] = node
        lines.append(line)
    return TrafficPage(lines, keys, starts, in_sight, page.graph_points(layout), nodes)


def _blocks(window: RateWindow, places: KnownNodes, view: TrafficView, around: Surroundings) -> list[Shown]:
    weight = _weight(window, view, around) if around.height >= _LARGE else None
    weights = [weight] if weight else []
    zone = around.axis.zone if around.axis else None
    users = user_blocks(window, places.instances_on(view.node), around.block_bytes, zone)
    sizes = [around.sizes] if around.sizes else []
    return [*blocks_of(window, view.node, places, others=view.others), *weights, *users, *sizes]


def _weight(window: RateWindow, view: TrafficView, around: Surroundings) -> WeightBlock | None:
    """Return how heavy the load of the node is; None where the use of none of its private links is known."""
    zone = around.axis.zone if around.axis else None
    key = ("weight", view.node)
    weight = window.once(key, lambda: weight_of_samples(window.events, window.links, view.node, zone))
    return WeightBlock(weight) if weight.place else None


def _marked(line: Line, chosen: bool) -> Line:
    """Return the line with the mark of the selected one in its first column."""
    if not chosen or not line:
        return line
    (text, role), *rest = line
    return [(MARK, "accent"), (text[1:], role), *rest]
