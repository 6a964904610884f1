"""The timeline of a drill: everything that was seen, by one clock, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from checks.measure.drill.cluster_events import BlockWatch, alert_events
from checks.measure.drill.drill_subject import DrillSubject
from checks.measure.drill.node_watch import NodeWatch
from checks.model.drill_result import DrillEvent, DrillOf, InterfaceTimers, PathSilence
from checks.model.facts import NodeLogs, Unknown
from checks.model.measurement import MeasuredPath
from checks.rules.drill_causes import TimelineKind, cause_of
from checks.rules.drill_verdicts import decisive, was_silent


class DrillTimeline:
    """Collects the events of a drill."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._events: list[DrillEvent] = []
        self._timers: tuple[InterfaceTimers, ...] = ()
        self._blocks = BlockWatch()

    def see(self, event: object) -> None:
        """Take a live sample."""
        self._events += self._blocks.see(event)

    def take(self, watch: NodeWatch, logs: Mapping[str, NodeLogs], begin: float, end: float) -> None:
        """Take what the nodes showed between two moments, and what their alert logs say."""
        self._timers = tuple(watch.timers)
        self._events += watch.events
        for node, found in logs.items():
            self._events += alert_events(node, found, watch.clocks_s.get(node, 0.0), begin, end)
        self.notes += [f"{node}: {reason}" for node, reason in sorted(watch.unread.items())]
        if not self._blocks.has_instances:
            self.notes.append("No database was connected, so the timeline has no blocks.")

    def result(
        self,
        subject: DrillSubject,
        paths: Sequence[MeasuredPath],
        silences: Sequence[PathSilence],
        misscount_s: float | Unknown,
    ) -> DrillOf:
        """Return the result, with a cause for each silence."""
        events = [*self._events, *(e for one in silences for e in _ends_of(one, paths[one.path]))]
        events.sort(key=lambda event: event.at)
        judged = tuple(
            one if subject.node == paths[one.path].target_node else self._with_cause(one, paths[one.path])
            for one in silences
        )
        began_at = _beginning(subject, paths, judged, events)
        worst = decisive(judged)
        return DrillOf(
            subject=subject.name,
            transition=subject.transition,
            misscount_s=misscount_s,
            silences=judged,
            events=tuple(events),
            cause="" if worst is None else worst.cause,
            css_noticed_s=_first(events, (TimelineKind.CSS_NOTICED, TimelineKind.EVICTED), began_at),
            reconfigured_s=_first(events, (TimelineKind.RECONFIGURED,), began_at),
            first_block_s=_first(events, (TimelineKind.FIRST_BLOCK,), began_at),
            began_at=began_at,
            timers=self._timers,
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _with_cause(self, silence: PathSilence, path: MeasuredPath) -> PathSilence:
        if not was_silent(silence):
            return silence
        found = cause_of(silence, path, self._events, self._timers)
        timer = "" if found.timer is None else found.timer.value
        return replace(silence, timer=timer, standing=found.standing.value, cause=found.sentence, added_s=found.added_s)


def _ends_of(silence: PathSilence, path: MeasuredPath) -> Iterable[DrillEvent]:
    """Yield the beginning and the end of a silence as events."""
    if silence.began_at is None or not was_silent(silence):
        return
    name = f"{path.target_node} on {path.network} ({silence.protocol.upper()})"
    node, address = path.source_node, path.target
    yield DrillEvent(silence.began_at, node, f"no answer of {name}", TimelineKind.SILENT, path.interface, address)
    if silence.is_over:
        end = silence.began_at + silence.seconds
        yield DrillEvent(end, node, f"first answer of {name}", TimelineKind.ANSWERED, path.interface, address)


def _beginning(
    subject: DrillSubject, paths: Sequence[MeasuredPath], silences: Sequence[PathSilence], events: Sequence[DrillEvent]
) -> float | None:
    """Return the moment from which times count: the first silence; of a node, also the first sign that it goes."""
    moments = [
        one.began_at
        for one in silences
        if one.began_at is not None
        and was_silent(one)
        and (not subject.node or paths[one.path].target_node == subject.node)
    ]
    if subject.node:
        signs = (TimelineKind.ADDRESS_GONE, TimelineKind.LINK_LOST, TimelineKind.NODE_UNSEEN)
        moments += [event.at for event in events if event.node == subject.node and event.kind in signs]
        moments += [event.at for event in events if event.kind in (TimelineKind.CSS_NOTICED, TimelineKind.EVICTED)]
    return min(moments, default=None)


def _first(events: Iterable[DrillEvent], kinds: Sequence[TimelineKind], began_at: float | None) -> float | None:
    """Return the seconds from the beginning to the first event of these kinds; None without one."""
    if began_at is None:
        return None
    return next((event.at - began_at for event in events if event.kind in kinds and event.at >= began_at), None)
