"""The data of the graphs and figures of the Traffic screen: the events of a span of time, by source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from checks.traffic.rates import (
    InstanceRates,
    InterfaceRates,
    KernelRates,
    highest,
    instance_rates,
    interface_rates,
    kernel_rates,
)
from checks.traffic.samples import (
    Event,
    Gap,
    InstanceSample,
    InterfaceCounts,
    Link,
    Links,
    NodeSample,
    Sample,
    overlap_s,
)
from checks.traffic.source_id import DATABASE, SourceId, SourceKind
from checks.traffic.timeline import Track
from tui.widgets.graph import Style, column, graph, tall_graph

LOOK_BACK_S = 90.0
"""Seconds to search back for the newest event of a source, however short the graphs are: racwire retries an unreachable
source at least once a minute."""

LOOK_AHEAD_S = 90.0
"""Seconds to search ahead of an earlier moment for a sample that covers that moment too: a sample covers a minute or a
little more."""

P = TypeVar("P")
Q = TypeVar("Q")


class Memo:
    """A cache of series for the next drawing. With each new sample all others move by one place: only the new one is
    computed, and series that are not drawn any more are dropped."""

    def __init__(self) -> None:
        self._new: dict[Hashable, tuple[Sequence[Any], Sequence[Any]]] = {}
        self._old: dict[Hashable, tuple[Sequence[Any], Sequence[Any]]] = {}

    def __len__(self) -> int:
        """Return the number of cached series."""
        return len({*self._new, *self._old})

    def turn(self) -> None:
        """Start another drawing."""
        self._old, self._new = self._new, {}

    def along(self, key: Hashable, items: Sequence[P], make: Callable[[P], Q]) -> Sequence[Q]:
        """Return make(item) for each item, from the cache where possible; `key` identifies `make` and the items."""
        known = self._new.get(key) or self._old.get(key)
        if known is None:
            made: Sequence[Q] = [make(item) for item in items]
        elif known[0] == items:
            made = known[1]
        elif items and known[0][1:] == items[:-1]:
            made = [*known[1][1:], make(items[-1])]
        else:
            made = [make(item) for item in items]
        self._new[key] = items, made
        return made


@dataclass(frozen=True)
class GraphSpan:
    """The time span of a graph: `count` points `step_s` seconds apart, the last one at `end`."""

    end: float
    step_s: float
    count: int
    interval_s: float
    """Seconds between two samples of a source: without a newer sample, a much older one counts as missing."""
    instances_interval_s: float = 0.0
    """The same for instances, where they are sampled less often."""

    def interval_of(self, source: SourceId) -> float:
        """Return the seconds between two samples of that source."""
        return max(self.interval_s, self.instances_interval_s if source.kind is SourceKind.INSTANCE else 0.0)

    @property
    def begin(self) -> float:
        """The start of the span: later events belong to it."""
        longest_s = max(self.interval_s, self.instances_interval_s)
        return self.end - max(self.step_s * self.count, LOOK_BACK_S, 4 * longest_s)


@dataclass(frozen=True)
class RateWindow:
    """The events of a track in a span of time."""

    stretch: GraphSpan
    events: Mapping[SourceId, Sequence[Event]] = field(default_factory=dict)
    links: Mapping[str, Links] = field(default_factory=dict)
    """The interfaces by node, at the end of the span."""
    next: Mapping[SourceId, Event] = field(default_factory=dict)
    """By source the first event after the span: it may be a sample that started within the span."""
    memo: Memo = field(default_factory=Memo)
    _once: dict[Hashable, Any] = field(default_factory=dict, compare=False)

    def once(self, key: Hashable, make: Callable[[], Q]) -> Q:
        """Return what `make` makes; made once for this window."""
        if key not in self._once:
            self._once[key] = make()
        made: Q = self._once[key]
        return made


def read(track: Track, stretch: GraphSpan, sources: Iterable[SourceId], memo: Memo) -> RateWindow:
    """Return the events of those sources. Reads a file where the track is a recording.

    Raises RecordingError where the file cannot be read."""
    memo.turn()
    events: dict[SourceId, Sequence[Event]] = {}
    following: dict[SourceId, Event] = {}
    for source in sources:
        found = track.window(source, stretch.begin, stretch.end + LOOK_AHEAD_S)
        until = bisect_right(found, stretch.end, key=_end_of)
        events[source] = found[:until]
        if until < len(found):
            following[source] = found[until]
    nodes = [source.name for source in events if source.kind is SourceKind.NODE]
    links = {node: known for node in nodes if (known := track.links(node, stretch.end))}
    return RateWindow(stretch, events, links, following, memo)


@dataclass(frozen=True)
class Series(Generic[P]):
    """The points of a source, by slot of the graph, and the newest point."""

    slots: Sequence[Sequence[P]]
    """Each slot has the samples that ended in it, or the sample that covers it; an empty slot is a gap."""
    newest: P | None
    """The present point; None where it is not known."""
    trouble: str = ""
    """Why the present point is not known."""
    key: Hashable = ""
    """Identifies the series among all that are drawn."""
    memo: Memo = field(default_factory=Memo)

    def values(self, read: Callable[[P], float | None]) -> Sequence[float | None]:
        """Return one figure per slot: the highest where several samples ended in one slot."""
        return self.memo.along(
            (self.key, read),
            self.slots,
            lambda slot: read(slot[0]) if len(slot) == 1 else highest(map(read, slot)),
        )

    def drawn(self, read: Callable[[P], float | None], width: int, top: float, style: Style) -> str:
        """Return the graph of one figure in one line."""
        return self.tall(read, width, 1, top, style)[0]

    def tall(
        self, read: Callable[[P], float | None], width: int, height: int, top: float, style: Style
    ) -> Sequence[str]:
        """Return the graph of one figure in `height` lines, the highest line first."""
        values = self.values(read)
        if style == "braille":  # two values share a character: each new value changes all characters
            return tall_graph(values, width, height, top, style)
        if height == 1:
            signs = self.memo.along((self.key, read, top, style), values, lambda value: graph((value,), 1, top, style))
            return ["".join(signs[-width:] if width else ()).rjust(width)]
        columns = self.memo.along(
            (self.key, read, top, style, height), values, lambda value: column(value, height, top, style)
        )
        shown = columns[-width:] if width else ()
        return ["".join(line).rjust(width) for line in zip(*shown, strict=True)] or [" " * width] * height

    @property
    def only_now(self) -> Series[P]:
        """The newest point alone, for figures without a graph."""
        return Series((), self.newest, self.trouble)

    def now(self, read: Callable[[P], float | None]) -> float | None:
        """Return the present value of one figure."""
        return None if self.newest is None else read(self.newest)

    def of(self, key: Hashable, make: Callable[[P], Q | None]) -> Series[Q]:
        """Return the series of make(point) for each point; None from `make` is a gap."""

        def made_of(slot: Sequence[P]) -> tuple[Q, ...]:
            return tuple([made for point in slot if (made := make(point)) is not None])

        slots = self.memo.along((self.key, key), self.slots, made_of)
        newest = None
        if self.newest is not None:
            is_last = bool(slots) and len(slots[-1]) == len(self.slots[-1]) > 0 and self.slots[-1][-1] is self.newest
            newest = slots[-1][-1] if is_last else make(self.newest)
        return Series(slots, newest, self.trouble, (self.key, key), self.memo)


@dataclass(frozen=True)
class InterfacePoint:
    """One interface in one sample."""

    counts: InterfaceCounts
    seconds: float
    rates: InterfaceRates


def node_series(window: RateWindow, node: str) -> Series[NodeSample]:
    """Return the samples of a node."""
    source = SourceId.node(node)
    events = window.events.get(source, ())
    return window.once(source, lambda: series(window, source, events, NodeSample, window.next.get(source)))


def instance_series(window: RateWindow, instance: str) -> Series[InstanceRates]:
    """Return the rates of an instance. A gap of the whole database is a gap of the instance too."""
    source = SourceId.instance(instance)
    return window.once(source, lambda: _instance_series(window, source))


def _instance_series(window: RateWindow, instance: SourceId) -> Series[InstanceRates]:
    sources = (instance, DATABASE)
    events = sorted((event for source in sources for event in window.events.get(source, ())), key=_end_of)
    following = min((window.next[source] for source in sources if source in window.next), key=_end_of, default=None)
    samples = series(window, instance, events, InstanceSample, following)
    return samples.of("rates", instance_rates)


def kernel_series(samples: Series[NodeSample]) -> Series[KernelRates]:
    """Return the rates of the kernel of a node."""
    return samples.of("kernel", kernel_rates)


def interface_series(samples: Series[NodeSample], name: str, link: Link | None) -> Series[InterfacePoint]:
    """Return the rates of one interface."""

    def point(sample: NodeSample) -> InterfacePoint | None:
        counts = sample.interfaces.get(name)
        if counts is None or (rates := interface_rates(counts, sample.seconds, link)) is None:
            return None
        return InterfacePoint(counts, sample.seconds, rates)

    return samples.of((name, link.speed_mbps if link else None), point)


def series(
    window: RateWindow, source: SourceId, events: Sequence[Event], kind: type[P], following: Event | None = None
) -> Series[P]:
    """Return the samples of a kind among the events of one source; `following` is its next event, after the span.

    A sample stands for all the time that it covers. That may be many slots, and may extend beyond the span, because the
    sampling interval can change. Where a sample covers several slots, each slot has its mean. The newest sample also
    stands for the time until the next one is due.
    """
    stretch = window.stretch
    count, step_s = stretch.count, stretch.step_s
    slots: list[tuple[P, ...]] = [()] * count
    goes_beyond = isinstance(following, Sample) and 2 * overlap_s(following, stretch.end - step_s, stretch.end) > step_s
    if following is not None and goes_beyond:
        events = [*events, following]
    last = events[-1] if events else None
    # The samples of different sources end at slightly different times: the newest of each is at the right edge.
    is_near = last is not None and -0.5 * step_s <= stretch.end - last.at < 1.5 * step_s
    end = last.at if last is not None and is_near else stretch.end
    for event in events:
        if not isinstance(event, kind):
            continue
        since_s = end - event.at
        place = count - 1 - round(since_s / step_s)
        if place < 0:
            continue
        if isinstance(event, Sample):
            for slot in range(_first_slot(since_s + event.seconds, step_s, count), min(place, count)):
                slots[slot] = slots[slot] or (event,)
        if place < count:
            slots[place] += (event,)
    behind_s = end - last.at if last is not None else 0.0
    if following is None and isinstance(last, kind) and behind_s <= stretch.interval_of(source) + step_s:
        # The next sample is not due yet: an empty end of the graph would look like an outage.
        for slot in range(max(count - round(behind_s / step_s), 0), count):
            slots[slot] = (last,)
    trouble = _trouble(last, stretch, following, stretch.interval_of(source))
    return Series(slots, last if isinstance(last, kind) and not trouble else None, trouble, source, window.memo)


def _first_slot(begin_s: float, step_s: float, count: int) -> int:
    """Return the first slot that a sample covers by more than half whose start is so many seconds before the end;
    beyond the last slot where there is none."""
    back = begin_s / step_s
    if back >= count:
        return 0
    return count - round(back) if back > 0 else count


def _trouble(last: Event | None, stretch: GraphSpan, following: Event | None, interval_s: float) -> str:
    """Return why the present value is not known; empty where it is. Time without a sample counts as missing; while a
    sample may still come, only once that sample is late."""
    if last is None:
        return "no sample"
    if isinstance(last, Gap):
        return last.reason
    length = max(interval_s, last.seconds) if isinstance(last, Sample) else interval_s
    until, patience = stretch.end, 1 + 2.5 * length
    if following is not None:
        patience = 1.0
    if isinstance(following, Sample):
        until = min(until, following.at - following.seconds)
    uncovered = until - last.at
    return f"no sample for {stretch.end - last.at:.0f} s" if uncovered > patience else ""


def _end_of(event: Event) -> float:
    return event.at
