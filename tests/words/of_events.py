"""Which events a cluster has, and the situation at moments, as data without words: in generated runs, and in recordings
of racwire 0.2.0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent
from checks.situation.at_moment import Inputs, situation
from checks.situation.events.known_events import event_readings
from checks.situation.events.watching import EventWatch, events_in
from checks.traffic.instances import UpInstances
from checks.traffic.peer_stream import SameNodeError
from checks.traffic.recording import Recording
from checks.traffic.samples import Event, Gap, GapCause, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from tests.unit.events_support import BAD, Change, facts, is_bad, lost_at, run, with_counts, without

_GOLDEN = Path(__file__).parents[1] / "golden" / "v0_2_0"
_RAC2, _PROD2 = SourceId.node("rac2"), SourceId.instance("prod2")
_SAMPLES = 40
_RECORDINGS = ("before.rec", "loss.rec", "reboot.rec")


def generated(change: Change) -> Callable[[], Iterator[Event]]:
    return lambda: run(130, change)


def _hangs(at: float, item: Event) -> Event | None:
    """An instance that hangs, and the others whose queries wait for it."""
    if not isinstance(item, InstanceSample) or not is_bad(at):
        return item
    if at < BAD.start + 14:
        return None
    cause = None if item.number == 2 else _PROD2
    return Gap(item.source, item.at, "prod2 did not answer in time.", cause) if at == BAD.start + 14 else None


def _at_once(at: float, item: Event, source: SourceId, gap: Callable[[Event], Gap]) -> Event | None:
    if item.source != source or not is_bad(at):
        return item
    return gap(item) if at == BAD.start else None


def _is_down(at: float, item: Event) -> Event | None:
    up = UpInstances()
    up._listed = {1, 3}
    reason, cause = up.why_missing(2, "prod2")
    return _at_once(at, item, _PROD2, lambda of: Gap(of.source, of.at, reason, cause=cause))


def _is_an_alias(at: float, item: Event) -> Event | None:
    reason, rac1 = str(SameNodeError("rac3", "rac1")), SourceId.node("rac1")
    return _at_once(at, item, SourceId.node("rac3"), lambda of: Gap(of.source, of.at, reason, rac1, GapCause.ALIAS))


def _is_unread(at: float, item: Event) -> Event | None:
    reason = "rac2: The node could not be read: Permission denied."
    return _at_once(at, item, _RAC2, lambda of: Gap(of.source, of.at, reason))


def _drops(at: float, item: Event) -> Event:
    is_of_it = isinstance(item, NodeSample) and item.node == "rac2"
    return with_counts(item, RcvbufErrors=900, eth2={"rx_dropped": 700}) if is_bad(at) and is_of_it else item


def recorded(file: str) -> Callable[[], Iterator[Event]]:
    def items() -> Iterator[Event]:
        with closing(Recording.open(_GOLDEN / file)) as recording:
            yield from recording.events()

    return items


RUNS: dict[str, Callable[[], Iterator[Event]]] = {
    "lost blocks": generated(lost_at(1, 3)),
    "drops": generated(_drops),
    "silent nodes": generated(without("node rac2", "node rac3")),
    "an instance that hangs": generated(_hangs),
    "an instance that is down": generated(_is_down),
    "a node with two names": generated(_is_an_alias),
    "a node that is not read": generated(_is_unread),
    **{file: recorded(file) for file in _RECORDINGS},
}


def of_run(name: str) -> list[object]:
    """Return each event as it changed, without its reason."""
    changed = [_of(event) for event in events_in(RUNS[name](), facts())]
    return [*changed, *_situations(RUNS[name]())]


def _situations(items: Iterator[Event]) -> Iterator[object]:
    """Yield the situation after every so many samples, as it was known then."""
    watch = EventWatch(facts())
    for number, item in enumerate(items):
        watch.see(item)
        if number % _SAMPLES == 0:
            sampled = [*watch.readings(item.at), *event_readings(watch.events, item.at)]
            now = situation(Inputs(now=item.at, events=watch.known(item.at), sampled=sampled, clock_s=watch.clock_s))
            yield [(_of(one.event), one.until, one.is_open, one.as_of) for one in now.episodes], now.conditions


def _of(event: ClusterEvent) -> object:
    return replace(event, reason=""), bool(event.reason), event.is_silence
