"""All nodes, one line each, or as many as there is room for; and what goes wrong on one of them, in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from checks.traffic.rates import InstanceRates, KernelRates, bits_per_second
from checks.traffic.samples import NodeSample
from tui.screens.traffic.node_lines import KnownNodes, private_links
from tui.screens.traffic.rate_history import (
    InterfacePoint,
    RateWindow,
    Series,
    instance_series,
    interface_series,
    kernel_series,
    node_series,
)
from tui.screens.traffic.rows import DrawingStyle, merged
from tui.text.line import Line, Span, fitted, hanging, sanitize_line, width_of
from tui.text.node_names import fitted_names
from tui.widgets import units as units
from tui.widgets.graph import points
from tui.widgets.sorting import Sorting

P = TypeVar("P")

_RATE = 7
_LEAST_GRAPH = 4
_SHARES = ("link", "softirq")
_WORST = (("FAILED", "fail"), ("buffer", "fail"), ("drops", "warn"))
"""Figures that should be 0, in the order of their columns, each with its role when it is not."""


@dataclass(frozen=True)
class Glance:
    """The figures of a node."""

    trouble: str
    bits_in: float | None
    bits_out: float | None
    share: float | None
    worst: tuple[float | None, ...]
    softirq: float | None
    lost: float | None
    has_instances: bool
    graphed: Series[float]

    def figure(self, column: str) -> float | None:
        """Return the figure of a column of `SORTED_BY`; None where it is not known."""
        figures = {"in": self.bits_in, "out": self.bits_out, "link": self.share, "softirq": self.softirq}
        figures |= {word: value for (word, _), value in zip(_WORST, self.worst, strict=True)}
        return None if self.trouble else figures.get(column, self.lost)


SORTED_BY = ("lost", "softirq", "drops", "buffer", "FAILED", "link", "out", "in")
"""The columns that the nodes can be sorted by, in the order of the key: first what goes wrong."""


_COLUMNS = {
    "in": units.BITS + 1,
    "out": units.BITS + 1,
    "link": units.SHARE + 1,
    **{word: _RATE + 1 for word, _ in _WORST},
    "softirq": 8,
    "lost": _RATE + 1,
}
"""The columns after the name of a node, with their widths."""
_GIVE_WAY = ("link", "softirq", "out", "in", "buffer", "FAILED", "drops")
"""The columns that are left out where there is no room for all, the first ones first."""


def glance_columns(names: Iterable[str], width: int, sorted_by: str = "") -> list[str]:
    """Return the columns that fit next to these names of nodes; the sorted one always."""
    chosen = list(_COLUMNS)
    room = width - _name_width(names) - 1
    for word in (word for word in _GIVE_WAY if word != sorted_by):
        if sum(_COLUMNS[each] for each in chosen) > room:
            chosen.remove(word)
    return chosen


def left_out(names: Iterable[str], width: int, sorting: Sorting) -> Iterator[Line]:
    """Yield which columns are left out, and the width that shows them; nothing where all fit."""
    names = list(names)
    shown = glance_columns(names, width, sorting.column)
    if missing := [word for word in _COLUMNS if word not in shown]:
        text = f"A terminal of {_needed(names)} columns has also {', '.join(missing)}."
        yield from hanging([(" ", "")], text, width, "faint")


def glance_heading(names: Iterable[str], look: DrawingStyle, sorting: Sorting = Sorting()) -> Line:  # noqa: B008
    """Return the headings of the columns, with the sign of the sorted one."""
    names = list(names)
    name, drawn = _room(names, look.width)
    text = f" {'node':<{name}}"
    for word in glance_columns(names, look.width, sorting.column):
        unit = {"in": 3, "out": 3, "link": 1}.get(word, 0)  # a heading is over the figures
        text += f"{sorting.heading(word):>{_COLUMNS[word] - unit}}{'':{unit}}"
    if drawn:
        text += f" {fitted('in', drawn)}"
    text = fitted(text, look.width)
    start = text.find(sorting.heading(sorting.column)) if sorting.is_sorted else -1
    if start < 0:
        return [(text, "faint")]
    end = start + len(sorting.column) + 1
    return [(text[:start], "faint"), (text[start:end], "title"), (text[end:], "faint")]


def glance_graph(names: Iterable[str], width: int) -> tuple[int, int]:
    """Return the first column of the graphs, and their columns."""
    drawn = _room(names, width)[1]
    return width - drawn, drawn


def glance_lines(
    window: RateWindow, places: KnownNodes, nodes: Sequence[str], look: DrawingStyle, sorted_by: str = ""
) -> Iterator[Line]:
    """Yield `look.tall` lines for each of the nodes."""
    name, drawn = _room(places.nodes, look.width)
    count = points(drawn, look.style)
    seen = {node: glance(window, places, node) for node in nodes}
    every = list(places.nodes)
    shown = dict(zip(every, fitted_names([sanitize_line(node) for node in every], name), strict=True))
    # One scale for all graphs, so that they can be compared.
    top = look.scales.top(None, "glance", *(one.graphed.values(_as_it_is)[-count:] for one in seen.values()))
    columns = glance_columns(every, look.width, sorted_by)
    for node, its in seen.items():
        line: Line = list(_node(shown.get(node, node), its, name, columns))
        graph = its.graphed.tall(_as_it_is, drawn, look.tall, top, look.style) if drawn else [""] * look.tall
        for number, row in enumerate(graph):
            if drawn and not its.trouble:
                line = [*line, (" " * (look.width - drawn - width_of(line)), ""), (row, "accent")]
            yield merged(line, look.width) if number == 0 or not its.trouble else []
            line = []


def nodes_in_order(window: RateWindow, places: KnownNodes, sorting: Sorting) -> list[str]:
    """Return the displayed nodes by the figure of a column; in the order of the cluster where none is sorted."""
    if sorting.column == "lost":
        nodes = _by_loss(window, places)
        return nodes[::-1] if sorting.is_ascending else nodes
    if not sorting.is_sorted:
        return list(places.shown)
    seen = {node: glance(window, places, node) for node in places.shown}
    return sorting.in_order(seen, lambda node: seen[node].figure(sorting.column))


def _by_loss(window: RateWindow, places: KnownNodes) -> list[str]:
    """Return the nodes, those that lost most in the time of the graphs first: blocks, then fragments, then datagrams;
    nodes that lost equally much stay in their order."""

    def losses(node: str) -> list[float]:
        kernel = kernel_series(node_series(window, node))
        instances = [instance_series(window, name) for name in places.instances_on(node)]
        return [
            -sum(_sum(one, lambda r: r.lost_per_s) for one in instances),
            -_sum(kernel, lambda r: r.reassembly_failed_per_s),
            -_sum(kernel, lambda r: r.udp_receive_buffer_errors_per_s),
        ]

    return sorted(places.shown, key=losses)


def trouble_figures(window: RateWindow, places: KnownNodes, node: str) -> tuple[list[Span], list[Span]]:
    """Return the figures of a node that should be 0, each after its name: blocks lost; and all others, with softirq."""
    its = glance(window, places, node)
    lost = [_named("lost", its.lost, "fail")] if its.has_instances else [("no instance", "faint")]
    wrong = [_named(word, value, role) for (word, role), value in zip(_WORST, its.worst, strict=True)]
    return lost, [*wrong, (f"softirq {units.share(its.softirq)}", "")]


def lost_series(window: RateWindow, places: KnownNodes, node: str) -> Series[InstanceRates] | None:
    """Return the rates of the instance of a node, for the graph of its lost blocks; None where it has none."""
    names = places.instances_on(node)
    return instance_series(window, names[0]) if names else None


def _named(word: str, value: float | None, role: str) -> Span:
    return f"{word} {_rate(value)}", role if value else ""


def _sum(series: Series[P], read: Callable[[P], float | None]) -> float:
    return sum(value or 0.0 for value in series.values(read))


def _node(node: str, seen: Glance, name: int, columns: Sequence[str]) -> Iterator[Span]:
    yield f" {fitted(node, name)}", ""
    if seen.trouble:
        yield f" {sanitize_line(seen.trouble)}", "unknown"
        return
    roles = {**dict(_WORST), "lost": "fail"}
    for word in columns:
        value = seen.figure(word)
        text = units.bits(value) if word in ("in", "out") else units.share(value) if word in _SHARES else _rate(value)
        if word == "lost" and not seen.has_instances:
            text = units.NONE
        yield f"{text:>{_COLUMNS[word]}}", roles.get(word, "") if value else ""


def glance(window: RateWindow, places: KnownNodes, node: str) -> Glance:
    """Return the figures of a node."""
    samples = node_series(window, node)
    kernel = kernel_series(samples.only_now)
    links = private_links(window, node)
    ports = [interface_series(samples.only_now, link.name, link) for link in links]
    names = tuple(link.name for link in links)
    graphed = samples.of(("bits in", names), lambda sample: _bits_in(sample, names))
    instances = [instance_series(window, instance) for instance in places.instances_on(node)]
    return Glance(
        trouble=samples.trouble or ("" if links else "private interfaces not known"),
        bits_in=_total([port.now(lambda p: p.rates.rx.bits_per_s) for port in ports]),
        bits_out=_total([port.now(lambda p: p.rates.tx.bits_per_s) for port in ports]),
        share=max((share for share in map(_busier, ports) if share is not None), default=None),
        worst=(
            kernel.now(lambda r: r.reassembly_failed_per_s),
            kernel.now(lambda r: r.udp_receive_buffer_errors_per_s),
            _total([port.now(_dropped) for port in ports]),
        ),
        softirq=kernel.now(_softirq),
        lost=_total([instance.now(lambda r: r.lost_per_s) for instance in instances]),
        has_instances=bool(instances),
        graphed=graphed,
    )


def _room(names: Iterable[str], width: int) -> tuple[int, int]:
    """Return the columns for the names and for the graphs."""
    names = list(names)
    left = width - _needed(names) - 1
    return _name_width(names), left if left >= _LEAST_GRAPH else 0


def _needed(names: Iterable[str]) -> int:
    """Return the width of all columns."""
    return 1 + _name_width(names) + sum(_COLUMNS.values())


def _name_width(names: Iterable[str]) -> int:
    return min(max([4, *(len(sanitize_line(name)) for name in names)]), 12)


def _rate(value: float | None) -> str:
    text = "0" if value == 0 else units.rate(value).replace(" ", "")
    return f"{text:>{_RATE}}"


def _total(values: Sequence[float | None]) -> float | None:
    """Return the sum; None as soon as one value is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _busier(port: Series[InterfacePoint]) -> float | None:
    ways = [port.now(lambda p: p.rates.rx.share_percent), port.now(lambda p: p.rates.tx.share_percent)]
    return max((share for share in ways if share is not None), default=None)


def _dropped(point: InterfacePoint) -> float:
    rates = point.rates
    return rates.rx.drops_per_s + rates.tx.drops_per_s + rates.rx.errors_per_s + rates.tx.errors_per_s


def _as_it_is(value: float) -> float:
    return value


def _softirq(rates: KernelRates) -> float | None:
    return rates.softirq_percent


def _bits_in(sample: NodeSample, names: Sequence[str]) -> float | None:
    counts = [sample.interfaces.get(name) for name in names]
    return _total([None if c is None else bits_per_second(c.rx_bytes, sample.seconds) for c in counts])
