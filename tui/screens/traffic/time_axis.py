"""The time axis under the graphs, and the marks on it: what happened, and when."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from checks.model.cluster_event import ClusterEvent
from checks.model.finding import Status
from checks.model.situation import Episode
from checks.report.event_text import headline
from checks.traffic.samples import Event, Gap, Sample
from tui.screens.traffic.rate_history import GraphSpan, RateWindow
from tui.text.finding_lines import role_of
from tui.text.line import Line, Span, fitted, sanitize_line, width_of
from tui.widgets import units as units
from tui.widgets.event_line import standing_text
from tui.widgets.graph import Style, points

_LEAST_BETWEEN_TICKS = 10
_TICKS_S = (10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200)
GAP_LETTER = "?"
PLANNED_LETTER = "~"


@dataclass(frozen=True)
class Mark:
    """Something that happened, as a letter on the time axis."""

    at: float
    """Seconds since 1970."""
    letter: str
    text: str
    """What happened where, in a few words."""
    role: str = "unknown"
    since: float | None = None
    """The time in its text, where that is not `at`: an event starts between two samples."""
    silence: tuple[float, float] | None = None
    """Where a source did not answer: from when to when. The gaps of that time need no marks of their own."""


@dataclass(frozen=True)
class TimeAxis:
    """What the axis says: the time of the graphs, and the marks in the order of time."""

    stretch: GraphSpan
    marks: Sequence[Mark] = ()
    is_following: bool = True
    """Whether the right end is now: then the left end is a time span, which does not change every second."""
    zone: tzinfo | None = None

    def start_text(self, graph: int, style: Style) -> str:
        """Return the time of the left end of a graph with so many columns."""
        seconds = self.stretch.step_s * points(graph, style)
        return f"-{units.duration(seconds)}" if self.is_following else self._clock(self.stretch.end - seconds)

    @property
    def end_text(self) -> str:
        """The time of the right end."""
        return "now" if self.is_following else self._clock(self.stretch.end)

    def ruler(self, graph: int, style: Style) -> list[Span]:
        """Return a line of `graph` columns with a tick at each round time span from the right end, and the marks."""
        column_s = self.stretch.step_s * points(1, style)
        signs = ["─"] * graph
        between = next((s for s in _TICKS_S if s / column_s >= _LEAST_BETWEEN_TICKS and s % column_s == 0), 0)
        for place in range(graph - 1, -1, -int(between / column_s)) if between else ():
            signs[place] = "┴"
        roles = ["faint"] * graph
        for mark in sorted(self.marks, key=_is_trouble):  # what is no trouble hides none
            place = graph - 1 - round((self.stretch.end - mark.at) / column_s)
            if 0 <= place < graph:
                signs[place], roles[place] = mark.letter, mark.role
        return list(zip(signs, roles, strict=True))

    def newest(self, graph: int, style: Style) -> Mark | None:
        """Return the newest mark within a graph of that many columns."""
        begin = self.stretch.end - self.stretch.step_s * points(graph, style)
        seen = [mark for mark in self.marks if begin < mark.at <= self.stretch.end]
        return max(seen, key=lambda mark: (mark.at, _is_trouble(mark)), default=None)

    def text_of(self, mark: Mark) -> str:
        """Return a mark with its time."""
        at = mark.at if mark.since is None else mark.since
        return f"{mark.letter} {self._clock(at)} {sanitize_line(mark.text)}"

    def _clock(self, at: float) -> str:
        return units.clock(at, self.zone, has_zone=False)


def _is_trouble(mark: Mark) -> bool:
    return mark.role != role_of(Status.INFO)


def axis_line(axis: TimeAxis, graphs: Sequence[tuple[int, int]], style: Style, width: int) -> Line:
    """Return the axis under graphs side by side, each given by its first column and its columns; before them the newest
    mark."""
    line: list[Span] = []
    for number, (first, columns) in enumerate(graphs):
        start = axis.start_text(columns, style)
        room = first - 1 - width_of(line) - len(start) - 1
        mark = axis.newest(columns, style) if number == 0 else None
        if room >= 1:
            text = f" {axis.text_of(mark)}" if mark else ""
            line += [(fitted(text, room), mark.role if mark else ""), (f" {start} ", "faint")]
        else:
            line.append((" " * max(first - width_of(line), 0), ""))
        line += axis.ruler(columns, style)
        if number == len(graphs) - 1 and width_of(line) + 1 + len(axis.end_text) <= width:
            line.append((f" {axis.end_text}", "faint"))
    return line


def event_marks(events: Iterable[ClusterEvent], interval_s: float) -> list[Mark]:
    """Return a mark for each event, at its start: its first sample, or the first that is missing."""
    return [_mark_of_event(event, event.end, interval_s) for event in events]


def episode_marks(episodes: Iterable[Episode], interval_s: float, zone: tzinfo | None, now: float) -> list[Mark]:
    """Return the marks of events as the situation of a moment has them: until when each lasted, or that a plan explains
    it, or that it is not known whether it lasts."""
    return [_mark_of_episode(one, interval_s, zone, now) for one in episodes]


def _mark_of_episode(episode: Episode, interval_s: float, zone: tzinfo | None, now: float) -> Mark:
    mark = _mark_of_event(episode.event, episode.until, interval_s)
    standing = standing_text(episode, zone, now)
    mark = replace(mark, text=f"{mark.text}, {standing}" if standing else mark.text)
    if episode.step:
        return replace(mark, letter=PLANNED_LETTER, role="accent")
    return replace(mark, letter=GAP_LETTER, role="unknown") if episode.is_open else mark


def _mark_of_event(event: ClusterEvent, until: float | None, interval_s: float) -> Mark:
    silence = (event.start, math.inf if until is None else until) if event.is_silence else None
    role = role_of(event.status)
    return Mark(event.start + interval_s, event.status.letter, headline(event), role, event.start, silence)


def with_gaps(marks: Sequence[Mark], gaps: Iterable[Mark]) -> list[Mark]:
    """Return the marks of events and those of gaps that belong to no event, in the order of time."""
    own = [gap for gap in gaps if not any(m.silence and m.silence[0] <= gap.at <= m.silence[1] for m in marks)]
    return sorted((*marks, *own), key=lambda mark: mark.at)


def gap_marks(window: RateWindow) -> list[Mark]:
    """Return a mark for each time at which a source of the window stopped answering."""
    return [mark_of(gap) for events in window.events.values() for gap in _begins(events)]


def mark_of(gap: Gap) -> Mark:
    """Return the mark of a source that stopped answering."""
    return Mark(gap.at, GAP_LETTER, f"{gap.source.short}: {gap.reason}")


def _begins(events: Sequence[Event]) -> Iterator[Gap]:
    before: Event | None = None
    for event in events:
        if isinstance(event, Gap) and isinstance(before, Sample):
            yield event
        before = event
