"""The state of the events in the console: what happened, what a run has examined since, and what is dismissed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checks.model.facts import Cluster
from checks.model.finding import PROBLEMS, Status
from checks.model.report import Report
from checks.report.causes import cause_entries
from checks.traffic.samples import Sample

if TYPE_CHECKING:
    from checks.model.cluster_event import ClusterEvent
    from checks.situation.events.watching import EventWatch
    from checks.traffic.samples import FeedEvent
    from checks.traffic.source_id import SourceId

DATABASE = ""
"""The key of the database among the names of nodes."""


class EventState:
    """The events since the console started to sample, or those of a recording."""

    def __init__(self) -> None:
        self._watch: EventWatch | None = None
        """Made with the first item: before the first screen, its modules would delay that."""
        self._known: Sequence[ClusterEvent] = ()
        """All events at the last change, in the order of their start."""
        self.is_of_recording = False
        """Whether the events are those of a recording, and all of them are known."""
        self._examined: set[int] = set()
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
        return changed

    def load(self, watch: EventWatch, end: float, trouble: str) -> None:
        """Take the watch that has seen a recording, which ends at that time; `trouble` says why it lacks the later
        events."""
        self._watch, self._known, self.is_of_recording = watch, watch.events, True
        self.end, self.trouble = end, trouble

    # --- what the operator did ----------------------------------------------------------------------------------------

    def examined(self, started: float, checks: Sequence[str]) -> None:
        """Note a finished run that started then, of these checks, or of all where none is named."""
        from checks.run.check_discovery import discover
        from checks.situation.examining import checks_about

        for event in self._known:
            if event.start < started and (not checks or {*checks_about(event.kind, discover())} <= {*checks}):
                self._examined.add(event.number)

    def dismiss(self, event: ClusterEvent) -> None:
        """Remove an event from the list."""
        self._dismissed.add(event.number)

    def is_examined(self, event: ClusterEvent) -> bool:
        """Return whether checks have run since the event started that examine such an event."""
        return event.number in self._examined

    # --- what the screens show ----------------------------------------------------------------------------------------

    @property
    def listed(self) -> list[ClusterEvent]:
        """The events as they are now, the newest first, without those that were dismissed."""
        events = self._watch.events if self._watch else []
        return [event for event in reversed(events) if event.number not in self._dismissed]

    @property
    def lasting(self) -> Sequence[ClusterEvent]:
        """The events that last."""
        return [event for event in self._known if not event.is_over]

    @property
    def count(self) -> int:
        """The number of listed events."""
        return sum(event.number not in self._dismissed for event in self._known)

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
        return [event for event in self._known if event.number not in self._dismissed]

    @property
    def newest(self) -> ClusterEvent | None:
        """The event for the line on every screen: the newest problem that no checks have examined, or else the newest
        event that lasts. That of a recording is its first one of the worst status, since the checks of a recording do
        not examine what its samples show."""
        if self.is_of_recording:
            problems = [event for event in self.marked if event.status in PROBLEMS]
            return min(problems, key=lambda event: (event.status.gravity, event.start), default=None)
        events = [event for event in self.marked if not event.is_over or self.needs_run(event)]
        return max(events, key=lambda event: (self.needs_run(event), event.number), default=None)

    def needs_run(self, event: ClusterEvent) -> bool:
        """Return whether a run of the checks is the next step about an event."""
        return event.status in PROBLEMS and not self.is_examined(event)

    def is_explained(self, event: ClusterEvent, report: Report | None) -> bool:
        """Return whether checks have run since the event started, and the report has its cause."""
        if report is None or not self.is_examined(event):
            return False
        from checks.situation.conditions import shown_bad

        findings = (finding for entry in cause_entries(report) for finding in entry.all_findings)
        return any(shown_bad(finding) & {*event.conditions} for finding in findings)

    def live_marks(self, report: Report | None) -> dict[str, Status]:
        """Return the nodes with trouble at present, or at any time of a recording, each with the worst status. Where
        the report has a cause of the trouble, its nodes stand for the nodes that noticed it; a silent node is marked in
        any case."""
        marks: dict[str, Status] = {}
        for event in self._known:
            if event.status not in PROBLEMS or (event.is_over and not self.is_of_recording):
                continue
            if not event.is_silence and self.is_explained(event, report):
                continue
            nodes = event.nodes if self.is_of_recording else event.open_nodes
            for node in nodes or (DATABASE,):
                worst = min(marks.get(node, event.status), event.status, key=lambda status: status.gravity)
                marks[node] = worst
        return marks
