"""What the console does about events by itself: it reads again what came back, and runs the checks that concern an
event where the settings want that."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from checks.model.condition import Condition, ConditionKind
from checks.model.facts import AddressProbes, Cluster, Flows, HaipPaths
from checks.model.report import Report
from checks.model.settings import ConsoleSettings
from checks.model.wording import listed

if TYPE_CHECKING:
    from checks.model.cluster_event import ClusterEvent, EventKind
    from checks.model.situation import Situation
    from checks.traffic.samples import FeedEvent

_SENDING = frozenset({"paths", "flows", "haip_paths", "owners"})
"""The groups of facts for which racwire sends packets on the private networks."""

_JITTER_S = 4.0
"""The most seconds until a check starts by itself: all consoles of a cluster see an event at the same moment."""


def _jitter() -> float:
    return random.uniform(0, _JITTER_S)  # noqa: S311 - no secret


_RUNS = ": racwire runs the checks again that concern it."


class EventResponse:
    """Decides which checks run without a key, and when. It does no I/O: the caller gives the time and runs them."""

    def __init__(self, settings: ConsoleSettings, jitter: Callable[[], float] = _jitter) -> None:
        """`jitter` returns the seconds from an event until the checks that concern it are due."""
        self._jitter = jitter
        self._due_s: float | None = None
        """When the checks that are wanted may start; None while none is."""
        self._runs_checks = settings.on_event == "check"
        self._per_hour = settings.probes_per_hour
        self._kinds: dict[EventKind, None] = {}
        """The kinds of events that checks are to examine."""
        self._returned: dict[Condition, None] = {}
        """What is well again, and is to be read again."""
        self._is_urgent = False
        """Whether a node or an instance is among it, which need not wait for the last run."""
        self._read_at: dict[str, float] = {}
        """The nodes and instances that were read again because they answer, and when."""
        self._in_vain: set[str] = set()
        """The nodes that were read again because they answer: a run that cannot read one is not repeated for it until
        it was silent."""
        self._announced: set[tuple[int, tuple[str, str, str]]] = set()
        """The events and places that were announced as back."""
        self._ran_s: float | None = None
        self._sent: list[tuple[float, int]] = []
        """When runs sent probes, and how many."""
        self._of_full_run = 0
        self.waits = ""
        """Why a check does not run by itself now, a sentence; empty where none waits."""

    # --- what happened ------------------------------------------------------------------------------------------------

    def ran(self, cluster: Cluster, now_s: float) -> None:
        """Note the facts of a finished run: the packets that it sent count, also where the operator started it. Times
        are seconds of a clock that nothing sets."""
        sent = probes_sent(cluster)
        self._of_full_run = max(sent, self._of_full_run)
        self._sent = [*((at, number) for at, number in self._sent if now_s - at < 3600), (now_s, sent)]

    def see_changes(self, changed: Iterable[ClusterEvent], lasting: Iterable[ClusterEvent], now_s: float) -> str:
        """Take events that changed, with those that last. Return what came back, a sentence to announce; empty where
        nothing did."""
        from checks.model.cluster_event import EventKind
        from checks.report.event_text import came_back

        # The silence of the database also ends when racwire knows which instance delays the answers.
        hangs = any(event.kind is EventKind.INSTANCE_SILENT for event in lasting)
        announced, end = [], "."
        for event in changed:
            if self._runs_checks and not event.is_over and event.is_problem and not event.is_silence:
                self._kinds[event.kind] = None
            if not event.is_silence and event.kind not in (EventKind.LINK_DOWN, EventKind.LINK_FLAP):
                continue
            if event.kind is EventKind.DATABASE_SILENT and hangs:
                continue
            for place in event.places:
                condition = place.condition(event.kind)
                if condition is None or (place.until is None and not event.is_over):
                    continue
                if (event.number, place.key) in self._announced:
                    continue
                self._announced.add((event.number, place.key))
                announced.append(came_back(event, place))
                if not event.is_silence:
                    # A cable that flaps must send no more than before: it waits for its turn as any event does.
                    if self._runs_checks:
                        self._returned[condition] = None
                elif self._is_due(place.instance or place.node, now_s):
                    end = _RUNS
                    self._is_urgent = True
                    self._returned[condition] = None
        return f"{listed(announced)}{end}" if announced else ""

    def see_samples(self, items: Iterable[FeedEvent], report: Report | None, now_s: float) -> str:
        """Take samples. Return a sentence about nodes that the last run could not read and that answer now; empty where
        there are none."""
        unread = {node.name for node in report.cluster.unread_nodes() if not node.is_pending} if report else set()
        if not unread and not self._in_vain:
            return ""
        from checks.traffic.samples import Gap, NodeSample
        from checks.traffic.source_id import SourceKind

        answering = []
        for item in items:
            if isinstance(item, Gap):
                if item.source.kind is SourceKind.NODE:
                    self._in_vain.discard(item.source.name)
            elif not isinstance(item, NodeSample) or item.node not in unread - self._in_vain:
                continue
            elif self._is_due(item.node, now_s):
                self._in_vain.add(item.node)
                answering.append(item.node)
                self._is_urgent = True
                self._returned[Condition(ConditionKind.NODE, item.node)] = None
        verb = "answers" if len(answering) == 1 else "answer"
        return f"{listed(answering)} {verb} now{_RUNS}" if answering else ""

    def _is_due(self, name: str, now_s: float) -> bool:
        """Whether what came back is to be read again, and note that it is."""
        from checks.rules.live_events import may_run

        last = self._read_at.get(name)
        if not may_run(None if last is None else now_s - last):
            return False
        self._read_at[name] = now_s
        return True

    # --- what to run --------------------------------------------------------------------------------------------------

    def due(self, report: Report | None, situation: Callable[[], Situation], now_s: float) -> tuple[str, ...]:
        """Return the checks to run now, while no run is in progress; empty where there are none. The caller runs
        them."""
        if not (self._kinds or self._returned) or report is None:
            return ()
        if self._due_s is None:
            self._due_s = now_s + self._jitter()
        if now_s < self._due_s:
            return ()
        from checks.rules.live_events import has_probes_left, may_run
        from checks.run.check_discovery import discover
        from checks.situation.examining import checks_about
        from checks.situation.rerun_choice import checks_to_run

        if not self._is_urgent and not may_run(None if self._ran_s is None else now_s - self._ran_s):
            self.waits = "The checks that concern it run by themselves at most every 5 minutes; r runs them now."
            return ()
        known = {check.id: check for check in discover().every}
        wanted = [name for kind in self._kinds for name in checks_about(kind, known.values())]
        names = list(dict.fromkeys((*wanted, *checks_to_run(report, situation(), (*self._returned,), known))))
        sent = [(now_s - at, number) for at, number in self._sent]
        self.waits = ""
        if not has_probes_left(sent, self._of_full_run, self._per_hour):
            silent = [name for name in names if not _SENDING & {*known[name].needs, *known[name].uses}]
            if len(silent) < len(names):
                self.waits = (
                    f"Only the checks that send nothing ran by themselves: the budget of {self._per_hour:,} probes an "
                    "hour is used up. r runs all."
                )
            names = silent
        self._kinds.clear()
        self._returned.clear()
        self._is_urgent = False
        self._due_s = None
        self._ran_s = now_s
        return tuple(names)


def probes_sent(cluster: Cluster) -> int:
    """Return the packets that a run sent on the private networks."""
    sent = sum(path.packets_sent for path in cluster.paths) if isinstance(cluster.paths, tuple) else 0
    if isinstance(cluster.flows, Flows):
        sent += sum(probe.datagrams for probe in cluster.flows.probes)
    if isinstance(cluster.haip_paths, HaipPaths):
        sent += sum(path.small_sent + path.full_sent for path in cluster.haip_paths.paths)
    if isinstance(cluster.owners, AddressProbes) and isinstance(cluster.owners.probes, tuple):
        sent += sum(probe.sent for probe in cluster.owners.probes)
    return sent
