"""What the facts of a run are as of on the Database screen, what has changed since, and what does not answer now."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from checks.model.cluster_event import EventKind
from checks.model.condition import ConditionKind
from checks.model.report import Report
from checks.model.situation import Outdated, Situation
from checks.report.event_text import headline
from checks.report.standing_text import Clock, changed_text, episode_text
from checks.situation.condition_readings import seconds_of
from checks.situation.edges import edges_of
from tui.text.finding_lines import role_of
from tui.text.line import Line, hanging, sanitize_line

_OF_DATABASE = (
    EventKind.NODE_SILENT,
    EventKind.INSTANCE_SILENT,
    EventKind.INSTANCE_DOWN,
    EventKind.DATABASE_SILENT,
)
_ANSWERS = frozenset({ConditionKind.NODE, ConditionKind.STACK, ConditionKind.INSTANCE, ConditionKind.DATABASE})
_CHANGING = {"database": _ANSWERS, "activity": _ANSWERS | {ConditionKind.LOST_BLOCKS}}
"""By group of facts: the conditions whose change makes it old."""


@dataclass(frozen=True)
class SinceRun:
    """The report of the last run, and the situation of now."""

    report: Report
    situation: Situation
    clock: Clock

    def silent_lines(self, width: int) -> Iterator[Line]:
        """Yield a line for each node, instance or database that does not answer, as far as known."""
        for episode in self.situation.episodes:
            event = episode.event
            if event.kind not in _OF_DATABASE or episode.until is not None:
                continue
            letter = "~" if episode.step else "?" if episode.is_open else event.status.letter
            role = "accent" if episode.step else "unknown" if episode.is_open else role_of(event.status)
            stands = episode_text(episode, self.clock, self.situation.at)
            text = f"{headline(event)} since {self.clock(event.start)}: {stands}."
            yield from hanging([(" ", ""), (f"{letter} ", role)], sanitize_line(text), width)

    def as_of_lines(self, what: str, group: str, width: int, at: str = "") -> Iterator[Line]:
        """Yield as of when a group of facts was read, that is the start of the newest run that read it, with what has
        changed since. Facts with a time of their own, `at` in ISO 8601, have that in their heading: of these only what
        has changed is yielded."""
        read_at = seconds_of(at or _read_at(self.report, group))
        if read_at is None:
            return
        changed = self._changed(read_at, _CHANGING.get(group, ()))
        if changed:
            text = f"{what} as of {self.clock(read_at)}; {changed_text(changed)} {self.clock(changed.at)}."
            yield from hanging([(" ", ""), ("? ", "unknown")], sanitize_line(text), width)
        elif not at:
            yield from hanging([(" ", "")], f"{what} as of {self.clock(read_at)}.", width, "faint")

    def _changed(self, read_at: float, kinds: Collection[ConditionKind]) -> Outdated | None:
        """Return the newest start or end of an event after a reading that makes it old."""
        events = (episode.event for episode in self.situation.episodes)
        edges = (edge for event in events for edge in edges_of([event], event.clock_s, {}))
        later = [edge for edge in edges if edge.at > read_at and edge.condition.kind in kinds]
        newest = max(later, key=lambda edge: edge.at, default=None)
        return Outdated(newest.at, newest.condition, newest.is_end) if newest else None


def _read_at(report: Report, group: str) -> str:
    number = report.read_by().get(group, 0)
    return report.reruns[number - 1].started_at if number else report.started_at
