"""Watches a cluster: takes what a feed or a recording delivers, and returns the events that changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent
from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Cluster, Database
from checks.situation.condition_readings import ConditionReading
from checks.situation.events.answers import Answers
from checks.situation.events.counted_troubles import CountedTroubles
from checks.situation.events.event_book import EventBook
from checks.situation.events.known_events import as_known, extents
from checks.situation.events.private_links import LinkChanges, PrivatePlaces
from checks.situation.events.sampled_conditions import SampledConditions
from checks.traffic.samples import (
    FeedEvent,
    Gap,
    GapCause,
    InstanceSample,
    InstancesPace,
    LatencySample,
    Links,
    NodeSample,
    PairsSample,
)
from checks.traffic.source_id import DATABASE, SourceId

_CLOCK_BACK_S = 5.0
"""Samples of several sources are not in order of time to the second; a time further back is another clock."""
_STEPS = 3.0
"""Most intervals that the book's clock runs between two items: a time without samples ends no event."""


class EventWatch:
    """The events of a cluster, from one source of samples. It does no I/O, and the same items make the same events."""

    def __init__(self, cluster: Cluster | None = None) -> None:
        """`cluster`: what is known at the start, as in the header of a recording."""
        self._book = EventBook()
        self._places = PrivatePlaces()
        self._links = LinkChanges(self._book, self._places)
        self._conditions = SampledConditions()
        self._counted = CountedTroubles(self._book, self._places, self._conditions)
        self._answers = Answers(self._book)
        self._at: float | None = None
        self._waited_s = 0.0
        """The part of the book's clock that ran since the last item."""
        if cluster is not None:
            self.follow(cluster)

    @property
    def events(self) -> list[ClusterEvent]:
        """All events in the order of their start, as they are now; of those that are over, the newest 2,000."""
        return self._book.events

    @property
    def lasting(self) -> list[ClusterEvent]:
        """The events that last."""
        return self._book.lasting

    @property
    def interval_s(self) -> float:
        """Seconds between two samples of racwire's own node."""
        return self._answers.usual_s

    @property
    def clock_s(self) -> float:
        """How far the clock of racwire's own node was set since the first sample, in seconds, as far as samples show
        it. Other times compare after this has been taken from them."""
        return self._answers.clock.clock_s

    def clock_at(self, now: float) -> float:
        """Return how far the clock was set at that time."""
        return self._answers.clock.at(now)

    def known(self, now: float) -> list[ClusterEvent]:
        """Return the events as they were known at that time, in the order of their start, by the clock of that time."""
        clock_s, steady = self._answers.clock.at(now), self._answers.clock.steady(now)
        return [self._with_sign(event, steady) for event in as_known(self._book.events, steady + clock_s, clock_s)]

    def readings(self, now: float) -> list[ConditionReading]:
        """Return what the samples read of each condition, as known at that time, by the clock of that time: the newest
        of a state, signs of trouble, and times in which nothing was counted."""
        clock_s, steady = self._answers.clock.at(now), self._answers.clock.steady(now)
        known = as_known(self._book.events, steady)
        return [seen.moved(clock_s) for seen in self._conditions.readings(steady, extents(known))]

    def _with_sign(self, event: ClusterEvent, steady: float) -> ClusterEvent:
        """Return a counted event that lasts with its last sign at that time."""
        if event.is_over:
            return event
        signs = (self._conditions.last_sign(condition, steady) for condition in event.conditions)
        known = [sign for sign in signs if sign is not None]
        return replace(event, last_sign=max(known) + event.clock_s) if known else event

    @property
    def sampled(self) -> list[SourceId]:
        """The sources that delivered samples."""
        return self._answers.sampled

    @property
    def never_seen(self) -> dict[SourceId, str]:
        """The sources that delivered no sample so far, with the reasons."""
        return self._answers.never

    def follow(self, cluster: Cluster) -> None:
        """Use what is known of the cluster: its private networks, its thresholds, its database."""
        self._places.follow(cluster)
        self._counted.limits = cluster.thresholds
        if isinstance(cluster.database, Database):
            self._counted.database = cluster.database
        if cluster.local_node:
            self._answers.rename(cluster.local_node)

    def see(self, item: FeedEvent | Cluster) -> list[ClusterEvent]:
        """Take an item, and return the events that it changed: that started, ended, reached a further place, left one,
        or became worse."""
        if isinstance(item, Cluster):
            self.follow(item)
        elif not isinstance(item, InstancesPace) and math.isfinite(item.at):
            self._book.at = item.at
            self._advance(item.at)
            self._take(item)
            self._book.age()
        return self._book.changed()

    def pass_time(self, now: float) -> list[ClusterEvent]:
        """Return the events that changed because nothing came until now, in seconds since 1970. Call it between
        items, so that a source that stops answering is an event in time."""
        if self._at is not None:
            waited_s = min(max(now - self._at, 0.0), _STEPS * self._answers.usual_s)
            if waited_s > self._waited_s:
                self._book.now_s += waited_s - self._waited_s
                self._waited_s, self._book.at = waited_s, now
                self._answers.look()
        return self._book.changed()

    def _take(self, item: NodeSample | InstanceSample | PairsSample | LatencySample | Links | Gap) -> None:
        match item:
            case NodeSample() | InstanceSample() if not 0 < item.seconds < math.inf:
                pass  # no sample of any racwire
            case NodeSample():
                if not self._answers.local:
                    self._answers.rename(item.node)  # a feed begins with its own node
                self._answers.see(item)
                is_own = item.node == self._answers.local
                self._conditions.open(item.source, item.at, item.seconds, self.clock_s, is_own=is_own)
                self._conditions.read(Condition(ConditionKind.NODE, item.node), is_bad=False)
                self._links.sampled(item.node, item.at)
                self._read_links(item.node)
                self._counted.see_node(item)
            case InstanceSample():
                self._answers.see(item)
                if self._answers.is_database_answering:
                    self._conditions.open(DATABASE, item.at, item.seconds, self.clock_s)
                    self._conditions.read(Condition(ConditionKind.DATABASE), is_bad=False)
                self._conditions.open(item.source, item.at, item.seconds, self.clock_s)
                self._conditions.read(Condition(ConditionKind.INSTANCE, item.host, item.instance), is_bad=False)
                self._counted.see_instance(item)
            case PairsSample():
                self._counted.see_pairs(item)
            case Links():
                self._places.know(item)
                self._links.see(item)
                self._conditions.open_moment(item.source, item.at, self.clock_s)
                self._read_links(item.node)
            case Gap():
                self._answers.see_gap(item)
                if item.cause is GapCause.RESTARTED:
                    self._links.restarted(item.source.name)
                self._counted.forget(item.source)
                self._conditions.gap(item.source, is_own=item.source == SourceId.node(self._answers.local))
            case LatencySample():
                pass

    def _read_links(self, node: str) -> None:
        """Read the private interfaces of a node. They come only when one changed: each sample renews them."""
        for name in self._places.of(node):
            if (link := self._places.link(node, name)) is not None:
                self._conditions.read(Condition(ConditionKind.LINK, node, name), is_bad=not link.is_up)

    def _advance(self, at: float) -> None:
        """Run the book's clock up to an item. It neither jumps nor goes back with the clock of the node."""
        if self._at is None:
            self._at = at
        elif at > self._at:
            step_s = min(at - self._at, _STEPS * self._answers.usual_s)
            self._book.now_s += max(step_s - self._waited_s, 0.0)
            self._at, self._waited_s = at, 0.0
        elif at < self._at - _CLOCK_BACK_S:
            self._at, self._waited_s = at, 0.0


def events_in(items: Iterable[FeedEvent | Cluster], cluster: Cluster | None = None) -> Iterator[ClusterEvent]:
    """Yield the events of a recording as they change; `cluster` is that of its header."""
    watch = EventWatch(cluster)
    for item in items:
        yield from watch.see(item)
