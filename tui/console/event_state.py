"""The events in the console, as the samples show them, and which of them were dismissed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checks.model.facts import Cluster
from checks.traffic.samples import Sample

if TYPE_CHECKING:
    from checks.model.cluster_event import ClusterEvent
    from checks.situation.condition_readings import ConditionReading
    from checks.situation.events.watching import EventWatch
    from checks.traffic.samples import FeedEvent
    from checks.traffic.source_id import SourceId


class EventState:
    """The events since the console started to sample, or those of a recording."""

    def __init__(self) -> None:
        self._watch: EventWatch | None = None
        """Made with the first item: before the first screen, its modules would delay that."""
        self.version = 0
        """Counts the changes of the events."""
        self._known: Sequence[ClusterEvent] = ()
        """All events at the last change, in the order of their start."""
        self.is_of_recording = False
        """Whether the events are those of a recording, and all of them are known."""
        self._dismissed: set[int] = set()
        self.since: float | None = None
        """When the first sample came, in seconds since 1970."""
        self.waits = ""
        """Why checks that concern an event do not run by themselves now, a sentence; empty where none waits."""
        self.end = 0.0
        """The end of a recording, in seconds since 1970."""
        self.trouble = ""
        """Why the events of a recording are not known."""

    # --- what the samples show ----------------------------------------------------------------------------------------

    def follow(self, cluster: Cluster) -> None:
        """Use what is known of the cluster; a recording has its own facts."""
        if not self.is_of_recording:
            self._watching().follow(cluster)

    def see(self, items: Sequence[FeedEvent]) -> Sequence[ClusterEvent]:
        """Take items of the feed, and return the events that they changed."""
        watch = self._watching()
        if self.since is None:
            self.since = next((item.at for item in items if isinstance(item, Sample)), None)
        return self._changed([event for item in items for event in watch.see(item)])

    def pass_time(self, now: float) -> Sequence[ClusterEvent]:
        """Return the events that changed because nothing came until now, in seconds since 1970."""
        return self._changed(self._watch.pass_time(now)) if self._watch else ()

    def _watching(self) -> EventWatch:
        if self._watch is None:
            from checks.situation.events.watching import EventWatch

            self._watch = EventWatch()
        return self._watch

    def _changed(self, changed: Sequence[ClusterEvent]) -> Sequence[ClusterEvent]:
        if changed:
            self._known = self._watching().events
            self.version += 1
        return changed

    def load(self, watch: EventWatch, end: float, trouble: str) -> None:
        """Take the watch that has seen a recording, which ends at that time; `trouble` says why it lacks the later
        events."""
        self._watch, self._known, self.is_of_recording = watch, watch.events, True
        self.end, self.trouble = end, trouble
        self.version += 1

    # --- at a moment ------------------------------------------------------------------------------------------------

    def known_at(self, now: float) -> Sequence[ClusterEvent]:
        """Return the events as they were known at that moment, in the order of their start."""
        return self._watch.known(now) if self._watch else ()

    def readings_at(self, now: float) -> Sequence[ConditionReading]:
        """Return what samples and events showed of conditions until that moment."""
        if self._watch is None:
            return ()
        from checks.situation.events.known_events import event_readings

        events, clock_s = self._watch.events, self._watch.clock_at(now)
        return (*self._watch.readings(now), *event_readings(events, now, clock_s))

    @property
    def clock_s(self) -> float:
        """How far the clock of racwire's node has been set since the first sample, in seconds."""
        return self._watch.clock_s if self._watch else 0.0

    def clock_at(self, now: float) -> float:
        """Return how far the clock had been set at that moment; for the playhead of a recording."""
        return self._watch.clock_at(now) if self._watch else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was sampled yet."""
        return self._watch is None or not (self._watch.events or self._watch.sampled)

    # --- what the operator did ----------------------------------------------------------------------------------------

    def dismiss(self, event: ClusterEvent) -> None:
        """Remove an event from the list."""
        self._dismissed.add(event.number)
        self.version += 1

    def is_listed(self, event: ClusterEvent) -> bool:
        """Return whether an event was not dismissed."""
        return event.number not in self._dismissed

    # --- what the screens show ----------------------------------------------------------------------------------------

    @property
    def lasting(self) -> Sequence[ClusterEvent]:
        """The events that last."""
        return [event for event in self._known if not event.is_over]

    @property
    def sampled(self) -> Sequence[SourceId]:
        """The sources that delivered samples."""
        return self._watch.sampled if self._watch else ()

    @property
    def never_seen(self) -> dict[SourceId, str]:
        """The sources that delivered no sample so far, with the reasons."""
        return self._watch.never_seen if self._watch else {}

    @property
    def marked(self) -> Sequence[ClusterEvent]:
        """The events at their last change, in the order of their start, without those that were dismissed."""
        return [event for event in self._known if self.is_listed(event)]
