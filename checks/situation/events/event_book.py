"""Makes one event of each trouble: joins places and times, and ends what is over."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.finding import Status
from checks.model.wording import NodePair
from checks.rules.live_events import CALM_S, TOGETHER_S, calm_s
from checks.traffic.source_id import SourceId

_KEPT = 2_000
"""Most events that are over and still listed."""
_MOST_PLACES = 1_000
_IN_ORDER_S = 5.0
"""Times of several sources are in order to so many seconds."""

PlaceKey = tuple[str, str, str]


@dataclass(frozen=True)
class Sighting:
    """A sign of trouble that is counted, at one place."""

    kind: EventKind
    place: EventPlace
    """`since` is the start of the first sample with the sign."""
    status: Status
    unit: str
    at: float
    """The end of the last sample, which has the sign, too."""
    seconds: float
    """The length of the last sample."""
    count: int
    """The count of the last sample."""
    counted: int
    """The count from `place.since` on."""
    starts: bool
    """Whether it is enough to start an event, or to extend one to a further place."""


@dataclass
class _Spot:
    """A place of an event that lasts."""

    place: EventPlace
    last_at: float
    last_s: float
    """When it showed the last sign, by the book's clock."""
    calm_at: float | None = None
    """When the samples showed that it is calm."""
    rate: float = 0.0
    seconds: float = 0.0
    """The seconds that the rate is of."""
    is_calm: bool = False


@dataclass
class _Lasting:
    """An event that lasts: its state without the places, and each place by its key."""

    event: ClusterEvent
    group: str
    started_s: float
    calm_s: float | None
    """Seconds without a sign until it is over; None where it lasts until something ends it."""
    spots: dict[PlaceKey, _Spot] = field(default_factory=dict)

    @property
    def now(self) -> ClusterEvent:
        """The event as it is now."""
        places = [
            replace(s.place, until=s.last_at, end_noticed=s.calm_at) if s.is_calm else s.place
            for s in self.spots.values()
        ]
        newest = max(self.spots.values(), key=lambda spot: spot.last_at)
        return replace(
            self.event, places=tuple(sorted(places, key=_in_order)), last_sign=newest.last_at, sample_s=newest.seconds
        )

    @property
    def is_calm(self) -> bool:
        """Whether it lasts nowhere any more."""
        return all(spot.is_calm for spot in self.spots.values())

    def set_clock(self, by_s: float, upto: float) -> None:
        """Move the times until then, so that all are by the clock as it is now."""

        def moved(at: float) -> float:
            return at + by_s if at <= upto else at

        one = self.event
        self.event = replace(
            one, start=moved(one.start), noticed=moved(one.noticed), peak_at=moved(one.peak_at),
            clock_s=one.clock_s + by_s,
        )  # fmt: skip
        for spot in self.spots.values():
            spot.place = replace(spot.place, since=moved(spot.place.since), noticed=moved(spot.place.noticed))
            spot.last_at = moved(spot.last_at)
            spot.calm_at = None if spot.calm_at is None else moved(spot.calm_at)


class EventBook:
    """The events of one watch, and those that changed.

    Its clock `now_s` is the caller's: seconds in which racwire took samples.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self.at = 0.0
        """The time of the item that is taken, or that has passed: what it shows is noticed then."""
        self._clock_s = 0.0
        self._heard: dict[SourceId, tuple[float, float] | None] = {}
        """The first and the last sample of each source without a pause between, by `now_s`; None while it pauses."""
        self._lasting: list[_Lasting] = []
        self._over: deque[ClusterEvent] = deque(maxlen=_KEPT)
        self._changed: dict[int, ClusterEvent] = {}
        self._ended: dict[tuple[EventKind, str], tuple[float, float]] = {}
        """Of the last event of a kind and network: when it ended by `now_s`, and how long it had to be calm."""
        self._count = 0

    @property
    def events(self) -> list[ClusterEvent]:
        """All events in the order of their start, as they are now."""
        return sorted((*self._over, *self.lasting), key=lambda event: event.number)

    @property
    def lasting(self) -> list[ClusterEvent]:
        """The events that last, as they are now."""
        return [one.now for one in self._lasting]

    def changed(self) -> list[ClusterEvent]:
        """Return the events that started, ended, reached a further place, left one or became worse since the last
        call."""
        changed, self._changed = self._changed, {}
        for one in self._lasting:
            if one.event.number in changed:
                changed[one.event.number] = one.now
        return [changed[number] for number in sorted(changed)]

    def hear(self, source: SourceId) -> None:
        """Note a sample of a source."""
        heard = self._heard.get(source)
        self._heard[source] = (heard[0] if heard else self.now_s, self.now_s)

    def lose(self, source: SourceId, *, is_alias: bool = False) -> None:
        """Note a pause of a source: meanwhile nothing is known of what it counts. An alias of a node delivers nothing
        any more, and says nothing of the node."""
        if is_alias:
            self._heard.pop(source, None)
        else:
            self._heard[source] = None

    def set_clock(self, clock_s: float, before: float) -> None:
        """Note that the clock was set after that time, and how far it is set now."""
        for one in self._lasting:
            one.set_clock(clock_s - self._clock_s, before + _IN_ORDER_S)
        self._clock_s = clock_s

    def count(self, sign: Sighting) -> bool:
        """Take a sign of trouble that is counted. Return whether it is one of an event: strays are none. It is over
        when nothing is counted for a while."""
        group, key = sign.place.network, sign.place.key
        one = next((o for o in self._lasting if o.event.kind is sign.kind and o.group == group), None)
        spot = one.spots.get(key) if one else None
        is_new = spot is None
        if one is None or spot is None:
            if not sign.starts:
                return False
            if one is None:
                one = self._start(sign.kind, group, sign.place, sign.status, unit=sign.unit, calm=True)
            spot = self._join(one, sign.place)
            if spot is None:
                return False
        spot.last_at, spot.last_s, spot.is_calm = sign.at, self.now_s, False
        spot.rate, spot.seconds = sign.count / sign.seconds, sign.seconds
        # Other places count at about the same time, not at the same moment.
        recent = [s for s in one.spots.values() if self.now_s - s.last_s < max(s.seconds, sign.seconds)]
        rate = sum(s.rate for s in recent)
        one.event = replace(one.event, count=one.event.count + (sign.counted if is_new else sign.count))
        if rate > one.event.peak:
            one.event = replace(one.event, peak=rate, peak_at=sign.at)
        self._worsen(one, sign.status)
        return True

    def stand(
        self,
        kind: EventKind,
        place: EventPlace,
        status: Status,
        *,
        unit: str = "s",
        peak: float = 0.0,
        former: float | None = None,
        reason: str = "",
        together_s: float = TOGETHER_S,
    ) -> None:
        """Note trouble that lasts at this place until `leave`. Where it lasts already, only the status can change.

        It extends an event of its kind and network that started within `together_s` seconds.
        """
        one = self._standing(kind, place.key)
        if one is None:
            one = next(
                (o for o in self._lasting if self._is_same(o, kind, place.network, (peak, former), together_s)), None
            )
            if one is None:
                one = self._start(kind, place.network, place, status, unit=unit, calm=False)
                one.event = replace(one.event, peak=peak, peak_at=place.since, former=former, reason=reason)
            if (spot := self._join(one, place)) is not None:
                spot.last_at = self.at
        self._worsen(one, status)

    def moment(
        self,
        kind: EventKind,
        place: EventPlace,
        status: Status,
        until: float,
        *,
        count: int = 0,
        unit: str = "s",
        peak: float = 0.0,
        former: float | None = None,
        reason: str = "",
    ) -> None:
        """Note something that was over when the samples showed it.

        It extends the last event of its kind and network where that ended within 10 s and went the same way: of what
        starts or stops together, and of a link that flaps, each is a part."""
        ended_s, _ = self._ended.get((kind, place.network), (-math.inf, 0.0))
        if self.now_s - ended_s <= TOGETHER_S:
            for index in reversed(range(len(self._over))):
                one = self._over[index]
                if one.kind is kind and all(at.network == place.network for at in one.places):
                    if one.clock_s == self._clock_s and _way(one.former, one.peak) == _way(former, peak):
                        self._over[index] = self._changed[one.number] = self._extended(one, place, until, count, peak)
                        self._ended[kind, place.network] = (self.now_s, CALM_S)
                        return
                    break
        self.stand(kind, place, status, unit=unit, peak=peak, former=former, reason=reason)
        if (lasting := self._standing(kind, place.key)) is not None:
            lasting.event = replace(lasting.event, count=count)
        self.leave(kind, place.key, until)

    def _extended(self, one: ClusterEvent, place: EventPlace, until: float, count: int, peak: float) -> ClusterEvent:
        """An event that is over, with what happened at a place right after it."""
        end = max(until, one.end or until)
        here = {at.key: at for at in one.places}
        known = here.get(place.key, replace(place, noticed=self.at))
        here[place.key] = replace(known, until=until, end_noticed=self.at)
        return replace(
            one, places=tuple(sorted(here.values(), key=_in_order)), start=min(one.start, place.since), end=end,
            end_noticed=self.at, last_sign=end, count=one.count + count, peak=peak,
        )  # fmt: skip

    def explain(self, kind: EventKind, key: PlaceKey, reason: str) -> None:
        """Give an event that lasts at this place its reason, where it has none yet."""
        one = self._standing(kind, key)
        if one is not None and not one.event.reason:
            one.event = replace(one.event, reason=reason)

    def leave(self, kind: EventKind, key: PlaceKey, at: float) -> None:
        """Note that trouble has left this place."""
        one = self._standing(kind, key)
        if one is not None:
            spot = one.spots[key]
            spot.is_calm, spot.last_at, spot.last_s, spot.calm_at = True, at, self.now_s, self.at
            self._changed[one.event.number] = one.now
            self._end_if_calm(one)

    def stands_at(self, kind: EventKind) -> list[EventPlace]:
        """Return the places where trouble of this kind stands."""
        found = (o for o in self._lasting if o.event.kind is kind and o.calm_s is None)
        return [spot.place for one in found for spot in one.spots.values() if not spot.is_calm]

    def add_pairs(self, pairs: Collection[NodePair]) -> None:
        """Add the directions in which blocks were lost to the event of lost blocks that lasts, if there is one."""
        for one in self._lasting:
            if one.event.kind is EventKind.LOST_BLOCKS:
                nodes, known = one.now.nodes, one.event.pairs
                new = [pair for pair in pairs if pair[1] in nodes and pair not in known]
                one.event = replace(one.event, pairs=(*known, *new)) if new else one.event

    def age(self) -> None:
        """End what was not counted for long enough in samples: a source that delivers none ends nothing."""
        for one in [o for o in self._lasting if o.calm_s is not None]:
            for spot in one.spots.values():
                is_calm = self._quiet_s(spot) >= (one.calm_s or 0.0)
                if is_calm and not spot.is_calm:
                    spot.calm_at = self.at
                spot.is_calm = is_calm
            self._end_if_calm(one)

    def _quiet_s(self, spot: _Spot) -> float:
        """Return for how many seconds samples of a place have had no sign."""
        place = spot.place
        source = SourceId.instance(place.instance) if place.instance else SourceId.node(place.node)
        if source not in self._heard:
            return self.now_s - spot.last_s
        heard = self._heard[source]
        return heard[1] - max(heard[0], spot.last_s) if heard else 0.0

    def _standing(self, kind: EventKind, key: PlaceKey) -> _Lasting | None:
        found = (o for o in self._lasting if o.event.kind is kind and o.calm_s is None)
        return next((o for o in found if key in o.spots and not o.spots[key].is_calm), None)

    def _is_same(
        self, one: _Lasting, kind: EventKind, group: str, values: tuple[float, float | None], together_s: float
    ) -> bool:
        """Whether trouble that starts now belongs to this event: of its kind and network, and of the same time."""
        what = (one.event.kind, one.group, one.calm_s, (one.event.peak, one.event.former))
        return what == (kind, group, None, values) and self.now_s - one.started_s <= together_s

    def _start(
        self, kind: EventKind, group: str, place: EventPlace, status: Status, *, unit: str, calm: bool
    ) -> _Lasting:
        self._count += 1
        ended_s, previous_s = self._ended.get((kind, group), (0.0, None))
        event = ClusterEvent(
            self._count, kind, status, (), place.since, noticed=self.at, clock_s=self._clock_s, unit=unit,
            peak_at=place.since,
        )  # fmt: skip
        one = _Lasting(event, group, self.now_s, calm_s(previous_s, self.now_s - ended_s) if calm else None)
        self._lasting.append(one)
        return one

    def _join(self, one: _Lasting, place: EventPlace) -> _Spot | None:
        """Add a place to an event; None where it has too many."""
        if len(one.spots) >= _MOST_PLACES:
            return None
        before = one.spots.get(place.key)
        here = before.place if before else replace(place, noticed=self.at)
        spot = one.spots[place.key] = _Spot(here, place.since, self.now_s)
        one.event = replace(one.event, start=min(one.event.start, place.since))
        self._changed[one.event.number] = one.event
        return spot

    def _worsen(self, one: _Lasting, status: Status) -> None:
        if status.gravity < one.event.status.gravity:
            one.event = replace(one.event, status=status)
            self._changed[one.event.number] = one.event

    def _end_if_calm(self, one: _Lasting) -> None:
        if one.is_calm:
            self._lasting.remove(one)
            event = replace(one.now, end=max(spot.last_at for spot in one.spots.values()), end_noticed=self.at)
            self._over.append(event)
            self._changed[event.number] = event
            self._ended[event.kind, one.group] = (self.now_s, one.calm_s or CALM_S)


def _way(former: float | None, value: float) -> int:
    """Whether a value rose or fell."""
    return 0 if former is None else (value > former) - (value < former)


def _in_order(place: EventPlace) -> tuple[object, ...]:
    """The order of places: rac2 before rac10."""
    return len(place.node), place.node, len(place.instance), place.instance, place.interface
