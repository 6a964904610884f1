"""The frames of a node's private NICs by size, from the last checks: a line among the blocks, a histogram alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster, CounterChanges
from checks.model.wording import span
from checks.report.frame_section import frame_sentence
from checks.rules.frame_sizes import FrameSizes, frame_sizes
from checks.rules.frame_users import node_frames
from checks.rules.size_classes import SizeClass
from tui.screens.traffic.rows import Columns, DrawingStyle, merged
from tui.text.line import Line, Span, fitted, hanging, sanitize_line
from tui.widgets import units as units

TITLE = "frames"
_WAYS = ("rx", "tx")
_NAMES = {"rx": "in", "tx": "out"}
_LABEL, _MOST_BAR, _LEAST_BAR = 11, 40, 5


@dataclass(frozen=True)
class SizesBlock:
    """The frames by size of the private NICs of one node, in the interval of the last checks."""

    sizes: tuple[FrameSizes, ...]
    ended_at: str
    """The time of day at the end of the interval."""
    notes: tuple[str, ...] = ()
    """What the frames of the node are, each way, and which of them are blocks."""
    title: str = TITLE

    @property
    def about(self) -> str:
        """The heading of the block alone."""
        time = span(max(found.nic.seconds for found in self.sizes))
        return f"frames by size, in {time} until {self.ended_at}, counted by the NICs"

    @property
    def only_now(self) -> SizesBlock:
        """The block: it has no graph."""
        return self

    def lines(self, columns: Columns, look: DrawingStyle) -> Iterator[Line]:
        """Yield one line with the size that most frames of each NIC have, each way."""
        parts = []
        for nic, found in self._nics():
            most = [f"{_NAMES[each.way]} {_most(each)}" for each in found]
            parts.append(f"{sanitize_line(nic)} {', '.join(most)}")
        line: Line = [(" " + fitted(self.title, columns.name) + " ", ""), ("  ".join(parts), "")]
        yield merged(line, look.width)

    def alone(self, look: DrawingStyle) -> Iterator[Line]:
        """Yield a row for each size of each NIC that has frames of that size."""
        name = max(len(sanitize_line(nic)) for nic, _ in self._nics())
        bar = (look.width - name - _LABEL - 2 * units.SHARE - 8) // 2
        bar = min(bar, _MOST_BAR) if bar >= _LEAST_BAR else 0
        yield [(fitted(f" {self.about}", look.width), "title")]
        heads = "".join(f"  {_NAMES[way]:>{units.SHARE}} {'':<{bar}}" for way in _WAYS)
        yield [(fitted(f" {'':<{name}} {'bytes':>{_LABEL}}{heads}", look.width), "faint")]
        for nic, found in self._nics():
            for number, (label, classes) in enumerate(_rows(found)):
                line: list[Span] = [
                    (f" {fitted(sanitize_line(nic) if not number else '', name)} {label:>{_LABEL}}", "")
                ]
                for way in _WAYS:
                    line += _cell(*classes[way], bar, look) if way in classes else _not_counted(bar)
                yield merged(line, look.width)
        for text in self.notes:
            yield from hanging([(" ", "")], text, look.width)

    def _nics(self) -> list[tuple[str, list[FrameSizes]]]:
        names = dict.fromkeys(found.nic.name for found in self.sizes)
        return [(name, [found for found in self.sizes if found.nic.name == name]) for name in names]


class KnownSizes:
    """The blocks of the nodes of one cluster, each made once: the screen is drawn several times a second."""

    def __init__(self) -> None:
        self._cluster: Cluster | None = None
        self._blocks: dict[str, SizesBlock | None] = {}

    def block(self, cluster: Cluster | None, node: str) -> SizesBlock | None:
        """Return the block of a node; None where the last checks know no frames by size."""
        if cluster is not self._cluster:
            self._cluster, self._blocks = cluster, {}
        if node not in self._blocks:
            self._blocks[node] = sizes_block(cluster, node)
        return self._blocks[node]


def sizes_block(cluster: Cluster | None, node: str) -> SizesBlock | None:
    """Return the block of a node; None where the last checks know no frames by size."""
    if cluster is None or not isinstance(cluster.counters, CounterChanges):
        return None
    sizes = frame_sizes(cluster)
    known = tuple(found for found in sizes.known if found.nic.node == node)
    notes = tuple(frame_sentence(own) for own in node_frames(cluster, sizes) if own.node == node and own.frames)
    return SizesBlock(known, sanitize_line(cluster.counters.ended_at)[11:19], notes) if known else None


def _most(found: FrameSizes) -> str:
    most = max(found.classes, key=lambda size: size.frames)
    return f"{units.share(found.percent(most)).strip()} {most.label}" if most.frames else "no frame"


def _rows(found: Sequence[FrameSizes]) -> list[tuple[str, dict[str, tuple[FrameSizes, SizeClass]]]]:
    """The sizes with frames, from small to large, each with its class in each direction that is counted."""
    ends = {size.label: size.high or size.low for each in found for size in each.classes if size.frames}
    ways = {each.way: {size.label: (each, size) for size in each.classes} for each in found}
    return [
        (label, {way: classes[label] for way, classes in ways.items() if label in classes})
        for label in sorted(ends, key=lambda name: ends[name])
    ]


def _not_counted(bar: int) -> list[Span]:
    return [(f"  {units.UNKNOWN:>{units.SHARE}} {'':<{bar}}", "")]


def _cell(found: FrameSizes, size: SizeClass, bar: int, look: DrawingStyle) -> list[Span]:
    percent = found.percent(size)
    sign = "#" if look.style == "ascii" else "█"
    drawn = sign * max(round(percent * bar / 100), 1 if size.frames and bar else 0)
    shown = units.share(percent) if size.frames else units.NONE
    return [(f"  {shown:>{units.SHARE}} ", ""), (f"{drawn:<{bar}}", "accent")]
