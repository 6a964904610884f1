"""The page of one node: its blocks, and below them the private interfaces of the other nodes, as high as there is room.

The first of `_PREFERRED` that fits is chosen once for a size and for what there is to draw: the layout does not move
while figures change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from checks.traffic.source_id import SourceId
from tui.screens.traffic.all_nodes_lines import (
    glance_heading,
    glance_lines,
    lost_series,
    trouble_figures,
)
from tui.screens.traffic.metrics import INSTANCE
from tui.screens.traffic.node_lines import Block, GroupBlock, InterfaceBlock, KnownNodes, private_blocks
from tui.screens.traffic.pairs_of_graphs import LEAST_WIDTH, Halves, group_halves, interface_halves
from tui.screens.traffic.peaks import Scales
from tui.screens.traffic.rate_history import RateWindow, node_series
from tui.screens.traffic.rows import (
    Columns,
    DrawingStyle,
    columns_for,
    graph_lines,
    heading_line,
    interface_labels,
    interface_lines,
    merged,
    values_shown,
)
from tui.screens.traffic.size_lines import SizesBlock
from tui.screens.traffic.time_axis import TimeAxis, axis_line
from tui.screens.traffic.user_lines import UsersBlock
from tui.screens.traffic.weight_line import WeightBlock
from tui.text.line import Line, Span, fitted, sanitize_line, width_of
from tui.text.node_names import fitted_names
from tui.widgets.graph import points

Shown = Block | SizesBlock | UsersBlock | WeightBlock


@dataclass(frozen=True)
class Layout:
    """How high the graphs are, and how the node and the others are displayed."""

    tall: int = 1
    """The lines of each graph of an interface of the node."""
    is_paired: bool = False
    """Whether both directions of an interface are side by side."""
    others: int | None = None
    """The lines of each graph of the other nodes; 0 for one line a node, None for nothing about them."""
    is_roomy: bool = False


_PREFERRED = ((5, False), (3, False), (5, True), (3, True), (2, False), (2, True), (1, False), (1, True))
"""The lines of each graph, and whether two are side by side: alone a graph displays more time."""
_OTHERS = {5: (5, 3), 3: (3, 2), 2: (2, 1), 1: (1,)}
"""The lines of the graphs of the other nodes, by those of the node."""


class Layouts:
    """The layouts that were chosen, by what they depend on."""

    def __init__(self) -> None:
        self._chosen: dict[object, Layout] = {}

    def of(self, page: NodePage) -> Layout:
        """Return the layout of a page."""
        key = page.key
        if key not in self._chosen:
            if len(self._chosen) > 100:
                self._chosen.clear()
            self._chosen[key] = page.best_layout()
        return self._chosen[key]


@dataclass(frozen=True)
class NodePage:
    """What a page of a node draws, without its layout."""

    window: RateWindow
    places: KnownNodes
    node: str
    blocks: Sequence[Shown]
    look: DrawingStyle
    height: int
    axis: TimeAxis
    others: dict[str, list[InterfaceBlock]] = field(default_factory=dict)
    """The private interfaces of each other node; empty where not all other nodes are read."""
    _made_columns: dict[Layout, Columns] = field(default_factory=dict)
    _made_halves: dict[Layout, Halves] = field(default_factory=dict)

    @property
    def key(self) -> object:
        """What the layout depends on."""
        return (
            (self.look.width, self.height, self.look.style),
            tuple((type(block), block.title) for block in self.blocks),
            tuple((node, tuple(block.title for block in blocks)) for node, blocks in self.others.items()),
        )

    def best_layout(self) -> Layout:
        """Return the preferred layout that fits; the lowest graphs where none does."""
        for layout in self._candidates():
            if self._lines_of(layout) <= self.height:
                roomy = replace(layout, is_roomy=True)
                return roomy if self._lines_of(roomy) <= self.height else layout
        return Layout()

    def _candidates(self) -> Iterator[Layout]:
        kinds = [(tall, pair) for tall, pair in _PREFERRED if not pair or self.look.width >= LEAST_WIDTH]
        if self.others:
            yield from (Layout(tall, pair, others) for tall, pair in kinds for others in _OTHERS[tall])
            yield from (Layout(tall, pair, 0) for tall, pair in kinds)
        yield from (Layout(tall, pair) for tall, pair in kinds)

    def _lines_of(self, layout: Layout) -> int:
        """Return how many lines the page has in that layout. No graph is drawn for that."""
        style = self._style(layout)
        own = sum(
            layout.tall * (1 if layout.is_paired else 2)
            if isinstance(block, InterfaceBlock)
            else sum(1 for _ in self._block(block.only_now, layout, style))
            for block in self.blocks
        )
        lines = own + 2
        if layout.others == 0:
            lines += 1 + len(self.places.shown)
        elif layout.others:
            per_port = layout.others * (1 if layout.is_paired else 2)
            lines += sum(1 + per_port * len(ports) for ports in self.others.values())
        return lines

    def _style(self, layout: Layout) -> DrawingStyle:
        return replace(self.look, tall=layout.tall, is_roomy=layout.is_roomy, scales=Scales())

    # --- drawing ------------------------------------------------------------------------------------------------------

    def head(self, layout: Layout) -> Line:
        """Return the names of the columns, or why nothing is known of the node."""
        trouble = node_series(self.window, self.node).trouble
        if trouble:
            return [(fitted(f" {sanitize_line(self.node)}: {sanitize_line(trouble)}", self.look.width), "unknown")]
        if layout.is_paired:
            texts = [f"{way}  bits/s and share; packets/s and size" for way in ("in", "out")]
            first, second = self._halves(layout).graphs
            half = second[0] - first[0]
            return [
                (
                    fitted(" " * (2 + self._halves(layout).name) + fitted(texts[0], half) + texts[1], self.look.width),
                    "faint",
                )
            ]
        return heading_line(self._columns(layout), "peak" if self.look.peaks else "highest", self.look.width)

    def block(self, block: Shown, layout: Layout) -> Iterator[Line]:
        """Yield the lines of a block of the node."""
        yield from self._block(block, layout, replace(self.look, tall=layout.tall, is_roomy=layout.is_roomy))

    def axis_line(self, layout: Layout) -> Line:
        """Return the time axis of the graphs."""
        columns = self._columns(layout)
        graphs = self._halves(layout).graphs if layout.is_paired else [(columns.before_graph, columns.graph)]
        return axis_line(self.axis, [one for one in graphs if one[1] > 0], self.look.style, self.look.width)

    def graph_points(self, layout: Layout) -> int:
        """Return the number of points of each graph."""
        graph = self._halves(layout).graph if layout.is_paired else self._columns(layout).graph
        return points(graph, self.look.style)

    def below(self, layout: Layout) -> Iterator[tuple[str, Line]]:
        """Yield the lines about the other nodes, each with its node; empty for a heading."""
        if layout.others == 0:
            look = replace(self.look, tall=1)
            yield "", glance_heading(self.places.nodes, look)
            for node, line in zip(
                self.places.shown, glance_lines(self.window, self.places, self.places.shown, look), strict=True
            ):
                yield node, line
        elif layout.others:
            look = replace(self.look, tall=layout.others)
            for node, ports in self.others.items():
                yield from ((node, line) for port in ports for line in self._port(port, layout, look, node))
                yield node, self._troubles(node, layout)

    def _block(self, block: Shown, layout: Layout, look: DrawingStyle) -> Iterator[Line]:
        if isinstance(block, InterfaceBlock):
            return self._port(block, layout, look, "")
        if layout.is_paired and isinstance(block, GroupBlock):
            return group_halves(block.source, block.title, block.group, block.series, self._halves(layout), look)
        return block.lines(self._columns(layout), look)

    def _port(self, port: InterfaceBlock, layout: Layout, look: DrawingStyle, node: str) -> Iterator[Line]:
        labels = interface_labels(port.title, port.link, self._short(node, layout) if node else "")
        if layout.is_paired:
            if node and look.tall == 1:
                labels = [(_place(node, port), ""), *labels[2:]]
            return interface_halves(port.source, labels, port.title, port.series, self._halves(layout), look)
        return interface_lines(port.source, labels, port.title, port.series, self._columns(layout), look)

    def _name_width(self, layout: Layout) -> int:
        return self._halves(layout).name if layout.is_paired else self._columns(layout).name

    def _short(self, node: str, layout: Layout) -> str:
        """Return the name of a node, cut for its column so that it differs from the other names."""
        every = list(self.places.nodes)
        names = fitted_names([sanitize_line(one) for one in every], self._name_width(layout))
        return names[every.index(node)] if node in every else sanitize_line(node)

    def _troubles(self, node: str, layout: Layout) -> Line:
        """Return what goes wrong on another node, in one line, with the graph of its lost blocks."""
        trouble = node_series(self.window, node).trouble
        start: list[Span] = [(f" {fitted(self._short(node, layout), self._name_width(layout))} ", "")]
        if trouble:
            return merged([*start, (sanitize_line(trouble), "unknown")], self.look.width)
        lost, wrong = trouble_figures(self.window, self.places, node)
        columns = self._halves(layout).columns if layout.is_paired else self._columns(layout)
        first = self._halves(layout).graphs[0][0] if layout.is_paired else columns.before_graph
        # Figures without room before the graph are at the right of it.
        before = lost if layout.is_paired else _joined([*lost, *wrong], first - 1 - width_of(start))
        after = [span for span in wrong if span not in before]
        line = [*start, *before, (" " * (first - 1 - width_of([*start, *before])), "")]
        series = lost_series(self.window, self.places, node)
        metric = INSTANCE.graphed
        if series is None:
            line.append((" " * (1 + columns.graph), ""))
        else:
            look = replace(self.look, tall=1)
            top = look.scales.top(SourceId.node(node), "lost", values_shown(series, metric, columns, look))
            [drawn] = graph_lines(series, metric, replace(columns, scale=0), 1, top, look)
            line += drawn
        rest = _joined(after, self.look.width - width_of(line) - 2)
        return merged([*line, ("  ", ""), *rest], self.look.width)

    def _columns(self, layout: Layout) -> Columns:
        if layout not in self._made_columns:
            tallest = max(layout.tall, layout.others or 1)
            self._made_columns[layout] = columns_for(self.look.width, self._names(layout), tallest)
        return self._made_columns[layout]

    def _halves(self, layout: Layout) -> Halves:
        if layout not in self._made_halves:
            names = self._names(layout)
            self._made_halves[layout] = Halves(self.look.width, min(max(map(len, names), default=4), 14))
        return self._made_halves[layout]

    def _names(self, layout: Layout) -> list[str]:
        names = [sanitize_line(block.title) for block in self.blocks]
        if layout.others:
            names += [sanitize_line(node) for node in self.others]
        if layout.others == 1 and layout.is_paired:
            names += [_place(node, port) for node, ports in self.others.items() for port in ports]
        return names


def _place(node: str, port: InterfaceBlock) -> str:
    return f"{sanitize_line(node)} {sanitize_line(port.title)}"


def _joined(spans: Sequence[Span], room: int) -> list[Span]:
    """Return as many figures as fit, two columns apart, or one where that is too much."""
    for gap in ("  ", " "):
        line = [part for number, span in enumerate(spans) for part in ((gap if number else "", ""), span)]
        if width_of(line) <= room:
            return line
    return _joined(spans[:-1], room) if spans else []


def other_nodes(window: RateWindow, places: KnownNodes, node: str) -> dict[str, list[InterfaceBlock]]:
    """Return the private interfaces of each node but this one; empty where not all nodes are read."""
    if any(SourceId.node(other) not in window.events for other in places.nodes):
        return {}
    return {other: private_blocks(window, other) for other in places.shown if other != node}
