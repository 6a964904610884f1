"""What the graphs and figures of the Traffic screen are drawn from: the events of a stretch of time, by source."""

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
from checks.traffic.timeline import Timeline, Track
from tui.widgets.graph import Style, graph

LOOK_BACK_S = 90.0
"""How far back the newest word of a source is looked for, however short the graphs are: a source that could not be
reached is tried again at least once a minute."""

LOOK_AHEAD_S = 90.0
"""How far on from a moment of the past a sample is looked for that tells of that moment too: one covers a minute or
a little more."""

NODE, INSTANCE, DATABASE = "node ", "instance ", "database"

P = TypeVar("P")
Q = TypeVar("Q")


class Memo:
    """What was worked out for the last drawing. With each new sample all others go on by one place: only what is new is
    worked out, and what is no longer drawn is forgotten."""

    def __init__(self) -> None:
        self._new: dict[Hashable, tuple[Sequence[Any], Sequence[Any]]] = {}
        self._old: dict[Hashable, tuple[Sequence[Any], Sequence[Any]]] = {}

    def __len__(self) -> int:
        """How many series it remembers."""
        return len({*self._new, *self._old})

    def turn(self) -> None:
        """Another drawing begins."""
        self._old, self._new = self._new, {}

    def along(self, key: Hashable, items: Sequence[P], make: Callable[[P], Q]) -> Sequence[Q]:
        """What `make` gives for each item; `key` stands for what `make` is, and of what the items are."""
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
    """The time that is drawn: `count` points `step_s` apart, the last one at `end`."""

    end: float
    step_s: float
    count: int
    interval_s: float
    """How often a source is sampled now: what is much older than that is missing, where no more of it came."""

    @property
    def begin(self) -> float:
        """Events after that time belong to it."""
        return self.end - max(self.step_s * self.count, LOOK_BACK_S, 4 * self.interval_s)


@dataclass(frozen=True)
class RateWindow:
    """What a track holds of a stretch of time."""

    stretch: GraphSpan
    events: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    links: Mapping[str, Links] = field(default_factory=dict)
    """By node, as they were at the end of the stretch."""
    next: Mapping[str, Event] = field(default_factory=dict)
    """Of each source what came first after the stretch: it may be a sample that began in it."""
    memo: Memo = field(default_factory=Memo)


def read(track: Track, stretch: GraphSpan, sources: Iterable[str], memo: Memo) -> RateWindow:
    """The events of those sources. Reads a file where the track is one."""
    memo.turn()
    events: dict[str, Sequence[Event]] = {}
    following: dict[str, Event] = {}
    for source in sources:
        found = track.window(source, stretch.begin, stretch.end + LOOK_AHEAD_S)
        until = bisect_right(found, stretch.end, key=_end_of)
        events[source] = found[:until]
        if until < len(found):
            following[source] = found[until]
    nodes = [source.removeprefix(NODE) for source in events if source.startswith(NODE)]
    links = {node: known for node in nodes if (known := track.links(node, stretch.end))}
    return RateWindow(stretch, events, links, following, memo)


def frozen(track: Track) -> Timeline:
    """A copy of what a track in memory holds now, which stays while the track goes on."""
    copy = Timeline()
    _, end = track.span() or (0.0, 0.0)
    for source in track.sources():
        copy.add(track.window(source, float("-inf"), end))
        if source.startswith(NODE) and (links := track.links(source.removeprefix(NODE), end)):
            copy.add([links])
    return copy


@dataclass(frozen=True)
class Series(Generic[P]):
    """One source's points: by slot of the graph, and the newest one."""

    slots: Sequence[Sequence[P]]
    """Each slot has the samples that ended in it, or the one that covers it; an empty one is a gap."""
    newest: P | None
    """What is so now; None where that cannot be told."""
    trouble: str = ""
    """Why it cannot."""
    key: Hashable = ""
    """What it is of, as no other one that is drawn."""
    memo: Memo = field(default_factory=Memo)

    def values(self, read: Callable[[P], float | None]) -> Sequence[float | None]:
        """One figure as a graph has it: where several samples ended in one slot, the highest."""
        return self.memo.along(
            (self.key, read),
            self.slots,
            lambda slot: read(slot[0]) if len(slot) == 1 else highest(map(read, slot)),
        )

    def drawn(self, read: Callable[[P], float | None], width: int, top: float, style: Style) -> str:
        """The graph of one figure."""
        values = self.values(read)
        if style == "braille":  # two values share a sign: with each new one all signs are others
            return graph(values, width, top, style)
        signs = self.memo.along((self.key, read, top, style), values, lambda value: graph((value,), 1, top, style))
        return "".join(signs[-width:] if width else ()).rjust(width)

    @property
    def only_now(self) -> Series[P]:
        """The newest point without those before, for figures without a graph."""
        return Series((), self.newest, self.trouble)

    def now(self, read: Callable[[P], float | None]) -> float | None:
        """One figure as it is now."""
        return None if self.newest is None else read(self.newest)

    def of(self, key: Hashable, make: Callable[[P], Q | None]) -> Series[Q]:
        """The series of something that each point holds; a point that does not hold it is a gap."""

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
    """The samples of a node."""
    source = NODE + node
    return series(window, source, window.events.get(source, ()), NodeSample, window.next.get(source))


def instance_series(window: RateWindow, instance: str) -> Series[InstanceRates]:
    """The rates of an instance. What is wrong with the whole database is wrong with it too."""
    sources = (INSTANCE + instance, DATABASE)
    events = sorted((event for source in sources for event in window.events.get(source, ())), key=_end_of)
    following = min((window.next[source] for source in sources if source in window.next), key=_end_of, default=None)
    samples = series(window, INSTANCE + instance, events, InstanceSample, following)
    return samples.of("rates", instance_rates)


def kernel_series(samples: Series[NodeSample]) -> Series[KernelRates]:
    """The rates of a node as a whole."""
    return samples.of("kernel", kernel_rates)


def interface_series(samples: Series[NodeSample], name: str, link: Link | None) -> Series[InterfacePoint]:
    """The rates of one interface."""

    def point(sample: NodeSample) -> InterfacePoint | None:
        counts = sample.interfaces.get(name)
        if counts is None or (rates := interface_rates(counts, sample.seconds, link)) is None:
            return None
        return InterfacePoint(counts, sample.seconds, rates)

    return samples.of((name, link.speed_mbps if link else None), point)


def series(
    window: RateWindow, source: str, events: Sequence[Event], kind: type[P], following: Event | None = None
) -> Series[P]:
    """The samples of that kind among the events of one source; `following` is what came next of it, after the stretch.

    A sample tells of all the time that it covers, which may be many slots, and may go on beyond the stretch: how often
    a source is sampled can have been changed meanwhile. Where it covers more than one slot, each shows its mean.
    """
    stretch = window.stretch
    count, step_s = stretch.count, stretch.step_s
    slots: list[tuple[P, ...]] = [()] * count
    goes_beyond = isinstance(following, Sample) and 2 * overlap_s(following, stretch.end - step_s, stretch.end) > step_s
    if following is not None and goes_beyond:
        events = [*events, following]
    last = events[-1] if events else None
    # Each source ends its samples a little off the others: its own newest one stands at the right edge.
    is_near = last is not None and -0.5 * step_s <= stretch.end - last.at < 1.5 * step_s
    end = last.at if last is not None and is_near else stretch.end
    for event in events:
        if isinstance(event, kind):
            place = count - 1 - round((end - event.at) / step_s)
            for slot in range(_first_slot(event, end, step_s, count), min(place, count)):
                slots[slot] = slots[slot] or (event,)
            if 0 <= place < count:
                slots[place] += (event,)
    trouble = _trouble(last, stretch, following)
    return Series(slots, last if isinstance(last, kind) and not trouble else None, trouble, source, window.memo)


def _first_slot(event: Event, end: float, step_s: float, count: int) -> int:
    """The first slot of which the sample covers the greater part; beyond the last one where there is none."""
    back = (end - event.at + event.seconds) / step_s if isinstance(event, Sample) else 0.0
    if back >= count:
        return 0
    return count - round(back) if back > 0 else count


def _trouble(last: Event | None, stretch: GraphSpan, following: Event | None) -> str:
    """Why nothing can be told now. Time that no sample covers is missing; while more may come, only once that is
    late."""
    if last is None:
        return "no sample"
    if isinstance(last, Gap):
        return last.reason
    length = max(stretch.interval_s, last.seconds) if isinstance(last, Sample) else stretch.interval_s
    until, patience = stretch.end, 1 + 2.5 * length
    if following is not None:
        patience = 1.0
    if isinstance(following, Sample):
        until = min(until, following.at - following.seconds)
    uncovered = until - last.at
    return f"no sample for {stretch.end - last.at:.0f} s" if uncovered > patience else ""


def _end_of(event: Event) -> float:
    return event.at
