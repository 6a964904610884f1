"""Sources that stop answering and come back, times in which racwire took no samples, and clocks that jump."""

from __future__ import annotations

import math
from dataclasses import dataclass

from msgspec.structs import replace

from checks.model.cluster_event import EventKind, EventPlace
from checks.model.finding import Status
from checks.rules.live_events import (
    TOGETHER_S,
    allowed_delay_s,
    clock_jumped,
    clock_status,
    is_silent,
    restart_status,
    silence_status,
    stood_still,
)
from checks.situation.events.event_book import EventBook
from checks.traffic.samples import Gap, GapCause, InstanceSample, NodeSample
from checks.traffic.source_id import BY_RACWIRE, DATABASE, SourceId, SourceKind

_FADING = 0.99
"""How much of the longest delay of a source counts after one more sample."""
_CHANGES = 1_000
"""Most changes that are kept: a recording can contain any times."""


class ClockChanges:
    """The changes of the clock that samples showed, in the order in which they came."""

    def __init__(self) -> None:
        self._changes: list[tuple[float, float]] = [(-math.inf, 0.0)]
        """From which time on, by the new clock, it was set by how many seconds altogether."""

    @property
    def clock_s(self) -> float:
        """How far it is set now, in seconds."""
        return self._changes[-1][1]

    def add(self, at: float, by_s: float) -> None:
        """Note that the clock was set by so many seconds: `at`, by the new clock, is the first time that shows it."""
        if not math.isfinite(self.clock_s + by_s):
            return  # no time of any racwire
        self._changes.append((at, self.clock_s + by_s))
        if len(self._changes) > _CHANGES:
            del self._changes[1]

    def at(self, now: float) -> float:
        """Return how far the clock was set at that time."""
        return self._changes[self._index(now)][1]

    def steady(self, now: float) -> float:
        """Return that time by a clock that nothing sets. A time that the clock left out, since it was set ahead, is the
        last moment before that."""
        index = self._index(now)
        steady = now - self._changes[index][1]
        if index + 1 == len(self._changes):
            return steady
        at, clock_s = self._changes[index + 1]
        return min(steady, math.nextafter(at - clock_s, -math.inf))

    def _index(self, now: float) -> int:
        return next(i for i in reversed(range(len(self._changes))) if i == 0 or self._changes[i][0] <= now)


@dataclass
class _Source:
    """A node or an instance that delivered samples."""

    place: EventPlace
    interval_s: float
    last_at: float
    last_s: float
    """When the last sample came, by the book's clock."""
    round: int
    """The number of samples of racwire's own node until then."""
    delay_s: float = 0.0
    """How late its samples are."""
    reason: str = ""
    """The reason of the gap after the last sample."""
    caused_by: SourceId | None = None
    """The other source that is the cause of that gap; None where it is this one."""
    stands: EventKind | None = None
    """The event that lasts here."""


class Answers:
    """Watches who answers."""

    def __init__(self, book: EventBook) -> None:
        self._book = book
        self._sources: dict[SourceId, _Source] = {}
        self._never: dict[SourceId, str] = {}
        self._down: set[SourceId] = set()
        """The instances among those that were down when racwire started to sample."""
        self._round = 0
        self.local = ""
        """The node that racwire runs on: it is the one whose samples tell the time."""
        self.usual_s = 1.0
        """Seconds between two samples."""
        self.clock = ClockChanges()
        self._local_at: float | None = None
        self._long: tuple[float, float] | None = None
        """Start and end of the last sample, where it was much longer than those before."""

    @property
    def sampled(self) -> list[SourceId]:
        """The sources that delivered samples."""
        return list(self._sources)

    @property
    def never(self) -> dict[SourceId, str]:
        """The sources that delivered nothing so far, with the reasons."""
        return dict(self._never)

    @property
    def is_database_answering(self) -> bool:
        """Whether nothing says that the query of all instances returns nothing: the connected instance may answer
        alone."""
        sources = self._sources.values()
        return not any(s.caused_by == DATABASE or s.stands is EventKind.DATABASE_SILENT for s in sources)

    def rename(self, local: str) -> None:
        """Use the name of racwire's own node. Its samples bear that name from now on."""
        if local != self.local:
            self._sources.pop(SourceId.node(self.local), None)
            self.local = local

    def see(self, sample: NodeSample | InstanceSample) -> None:
        """Take a sample, whatever it counts."""
        is_local = sample.source == SourceId.node(self.local)
        self._round += is_local
        source, now_s = self._sources.get(sample.source), self._book.now_s
        self._never.pop(sample.source, None)
        joined_at = sample.at - sample.seconds  # its first reading: the one before did not have it
        if isinstance(sample, InstanceSample):
            self._never.pop(DATABASE, None)
        if source is None:
            source = _Source(_place(sample), sample.seconds, sample.at, now_s, self._round)
            self._sources[sample.source] = source
        waited_s = now_s - source.last_s
        if not is_local:  # it may have been silent and come back before anybody looked
            self._look(source)
        if source.stands is EventKind.INSTANCE_DOWN or sample.source in self._down:
            self._down.discard(sample.source)
            self._reconfigure(replace(_place(sample), since=joined_at - self.usual_s), joined_at, joins=True)
        if source.stands is not None:
            self._end(source, sample.at)
            self._book.lose(sample.source)
        elif waited_s and source.caused_by != BY_RACWIRE:
            source.delay_s = max(_FADING * source.delay_s, min(waited_s, 4 * sample.seconds) - sample.seconds, 0.0)
        source.place, source.interval_s = _place(sample), sample.seconds
        source.last_at, source.last_s = sample.at, now_s
        source.round, source.reason, source.caused_by = self._round, "", None
        self._book.hear(sample.source)
        if isinstance(sample, NodeSample) and is_local:
            self._see_clock(sample)
            self.look()

    def see_gap(self, gap: Gap) -> None:
        """Take the reason why a source has no samples from now on."""
        if gap.source == SourceId.node(self.local):
            self._local_at = None
        source = self._sources.get(gap.source)
        self._book.lose(gap.source, is_alias=gap.cause is GapCause.ALIAS)
        if source is None:
            if gap.source.kind not in (SourceKind.PAIRS, SourceKind.LATENCY) and gap.cause is not GapCause.ALIAS:
                self._never[gap.source] = gap.reason
                if gap.cause is GapCause.INSTANCE_DOWN:
                    self._down.add(gap.source)
            return
        if gap.cause is GapCause.ALIAS:
            del self._sources[gap.source]
            self._end(source, gap.at)
            return
        if gap.cause is GapCause.RESTARTED:
            self._restart(source, gap)
            return
        source.reason, source.caused_by = gap.reason, gap.caused_by
        if source.stands is EventKind.DATABASE_SILENT and gap.caused_by not in (DATABASE, BY_RACWIRE):
            self._end(source, gap.at)  # which instance delays the query is known now
        if source.stands is None and gap.cause is GapCause.INSTANCE_DOWN:
            self._stand(source, EventKind.INSTANCE_DOWN)
            self._reconfigure(replace(source.place, since=source.last_at), gap.at, joins=False)
        elif source.stands is not None:
            key = EventPlace(gap.at).key if source.stands is EventKind.DATABASE_SILENT else source.place.key
            self._book.explain(source.stands, key, gap.reason)
        self._look(source)

    def _restart(self, source: _Source, gap: Gap) -> None:
        """Take the proof that a node or an instance was restarted since its last sample: it is up again."""
        place, was_down = source.place, source.stands is EventKind.INSTANCE_DOWN
        self._end(source, gap.at)
        if was_down:
            self._reconfigure(replace(place, since=gap.at - self.usual_s), gap.at, joins=True)
        else:
            # Between its last sample and this reading; a node also knows since when it is up.
            since = source.last_at if gap.up_s is None else max(source.last_at, gap.at - gap.up_s)
            since = min(since, gap.at)
            kind = EventKind.INSTANCE_RESTART if place.instance else EventKind.NODE_RESTART
            at = EventPlace(since, place.node, instance=place.instance)
            self._book.moment(kind, at, restart_status(), gap.at, reason=gap.reason)
            if place.instance:
                self._reconfigure(at, gap.at, joins=None)
        source.last_at, source.last_s, source.round = gap.at, self._book.now_s, self._round
        source.reason, source.caused_by = "", None

    def _reconfigure(self, place: EventPlace, until: float, *, joins: bool | None) -> None:
        """Note that the instances reconfigured, since one left or joined; None where it did both."""
        place = EventPlace(place.since, place.node, instance=place.instance)
        others = sum(
            bool(s.place.instance) and s.stands is not EventKind.INSTANCE_DOWN and s.place.instance != place.instance
            for s in self._sources.values()
        )
        before, after = others + (joins is not True), others + (joins is not False)
        self._book.moment(
            EventKind.RECONFIGURATION, place, Status.INFO, until, unit="instances", peak=after, former=before
        )

    def look(self) -> None:
        """Find the sources that have not delivered for too long."""
        for name, source in self._sources.items():
            if name != SourceId.node(self.local):
                self._look(source)

    def _look(self, source: _Source) -> None:
        by = source.caused_by
        if source.stands is not None or (by and by.kind in (SourceKind.INSTANCE, SourceKind.RACWIRE)):
            return
        is_instance, waited_s = bool(source.place.instance), self._book.now_s - source.last_s
        allowed_s = allowed_delay_s(source.delay_s, is_instance and not source.reason)
        interval_s = max(source.interval_s, self.usual_s)  # the sample after a late one is shorter
        if is_silent(waited_s - allowed_s, interval_s, self._round - source.round):
            of_instance = EventKind.INSTANCE_SILENT if self._is_cause(source) else EventKind.DATABASE_SILENT
            self._stand(source, of_instance if is_instance else EventKind.NODE_SILENT)

    def _is_cause(self, source: _Source) -> bool:
        """Whether an instance itself is silent: its gap says so, or others deliver samples of the same query."""
        if source.reason:
            return not source.caused_by
        others = (s for s in self._sources.values() if s.place.instance and s is not source)
        return any(other.round > source.round for other in others)

    def _end(self, source: _Source, at: float) -> None:
        """End what lasts at a source; the silence of the database ends with the last instance that it concerns."""
        kind, source.stands = source.stands, None
        if kind is EventKind.DATABASE_SILENT:
            if not any(other.stands is kind for other in self._sources.values()):
                self._book.leave(kind, EventPlace(at).key, at)
        elif kind is not None:
            self._book.leave(kind, source.place.key, at)

    def _stand(self, source: _Source, kind: EventKind) -> None:
        place = source.place
        source.stands = kind
        since = EventPlace(source.last_at, place.node, instance=place.instance)
        if kind is EventKind.DATABASE_SILENT:
            since = EventPlace(source.last_at)
        # While one instance hangs, queries of all instances fail now and then.
        together_s = math.inf if kind is EventKind.INSTANCE_SILENT else TOGETHER_S
        reason = "" if kind is EventKind.INSTANCE_DOWN else source.reason  # which says just that
        self._book.stand(
            kind, since, silence_status(is_down=kind is EventKind.INSTANCE_DOWN), reason=reason, together_s=together_s
        )

    def _see_clock(self, sample: NodeSample) -> None:
        """Compare the clock of racwire's own node with the time that its counters cover, which no clock changes."""
        before, self._local_at = self._local_at, sample.at
        long, self._long = self._long, None
        if long and not stood_still(long[1] - long[0], sample.seconds):
            long = None  # the interval is longer now
        if long:
            place = EventPlace(long[0], sample.node)
            self._moment(EventKind.NO_SAMPLES, place, silence_status(), long[1], long[1] - long[0])
        if before is not None and clock_jumped(by_s := sample.at - before - sample.seconds):
            self.clock.add(sample.at, by_s)
            self._book.set_clock(self.clock.clock_s, before)
            for source in self._sources.values():
                source.last_at += by_s if source.last_at <= before else 0.0
            self._moment(EventKind.CLOCK_JUMP, EventPlace(before, sample.node), clock_status(), sample.at, by_s)
        elif before is not None and self._round > 1 and stood_still(sample.seconds, self.usual_s):
            self._long = before, sample.at
            return
        self.usual_s = sample.seconds

    def _moment(self, kind: EventKind, place: EventPlace, status: Status, until: float, peak: float) -> None:
        self._book.stand(kind, place, status, peak=peak)
        self._book.leave(kind, place.key, until)


def _place(sample: NodeSample | InstanceSample) -> EventPlace:
    if isinstance(sample, InstanceSample):
        return EventPlace(sample.at, sample.host, instance=sample.instance)
    return EventPlace(sample.at, sample.node)
