"""The moment of a track that is displayed: the newest, which follows new samples, or an earlier one, which stays."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster
from checks.report.age import zone_of
from checks.traffic.recording import Header, Recording
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline, Track
from tui.console.app_state import AppState
from tui.screens.traffic.node_lines import KnownNodes
from tui.screens.traffic.rate_history import GraphSpan, Memo, RateWindow, read
from tui.screens.traffic.seek import EXAMPLES, moment_of
from tui.screens.traffic.time_axis import Mark, TimeAxis, gap_marks, mark_of, with_gaps
from tui.widgets.units import clock, duration


@dataclass(frozen=True)
class TrackView:
    """The part of a track for the displayed moment."""

    span: tuple[float, float]
    """The first and the last moment of the track."""
    window: RateWindow


class TrackCursor:
    """A position in a track. For a fixed moment of a track in memory it keeps a copy of the samples."""

    def __init__(self, track: Track) -> None:
        self._track = track
        self._held: Timeline | None = None
        self._memo = Memo()
        self.moment: float | None = None
        """The displayed time; None for the newest."""

    @property
    def is_live(self) -> bool:
        """Whether the track is the live one."""
        return isinstance(self._track, Timeline)

    @property
    def follows(self) -> bool:
        """Whether the display follows new samples."""
        return self.moment is None

    @property
    def track(self) -> Track:
        """The track of the displayed moment."""
        return self._held or self._track

    def hold(self, at: float) -> None:
        """Keep the display at that moment."""
        if self._held is None and isinstance(self._track, Timeline):
            self._held = self._track.copy()
        self.moment = at

    def follow(self) -> None:
        """Follow the newest samples."""
        self.moment, self._held = None, None

    def read(
        self,
        places: KnownNodes,
        cluster: Cluster | None,
        nodes: Sequence[str],
        step_s: float,
        count: int,
        interval_s: float,
        instances_interval_s: float = 0.0,
    ) -> TrackView | None:
        """Return the samples of these nodes at the displayed moment, or of all where none is named; None while there is
        no sample. Reads a file where the track is a recording. Raises RecordingError where it cannot be read."""
        span = self.track.span()
        places.learn(self.track, cluster)
        if span is None:
            return None
        end = span[1] if self.moment is None else self.moment
        stretch = GraphSpan(end, step_s, count, interval_s, instances_interval_s)
        window = read(self.track, stretch, _sources(places, nodes), self._memo)
        places.see(window)
        return TrackView(span, window)


def _sources(places: KnownNodes, nodes: Sequence[str]) -> Iterable[SourceId]:
    return places.sources([node for node in nodes if node in places.nodes] or places.nodes)


SPEEDS = (1, 2, 5, 10, 30, 60, 300)
"""Seconds of a recording that are played in a second."""
INTERVALS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)
STEPS = (*INTERVALS, 120.0, 300.0, 600.0)
"""Seconds between two points of a graph of a recording."""


class TimeCursor:
    """A position in the live samples or in a recording."""

    def __init__(self, state: AppState, track: Track | None = None) -> None:
        """Create the cursor, of the live samples where there is no `track`."""
        self.view: TrackView | None = None
        """The last view that was read."""
        self._state = state
        self._track_cursor = TrackCursor(state.timeline if track is None else track)
        self._header: Header | None = track.header if isinstance(track, Recording) else None
        self._zone = zone_of(self._header.started_at) if self._header else None
        self._zoom = self._header.interval_s if self._header else 0.0
        self._paused_at: float | None = None
        self._is_visit = False
        """Whether an event led to the displayed moment: new samples are followed again after it."""
        self._wanted_s: float | None = None
        """The last requested interval; the feed may not use it yet."""
        self.speed = 1
        """Seconds of the recording per second while it is played."""
        self.is_playing = False
        """Whether the recording is being played."""

    @property
    def is_live(self) -> bool:
        """Whether the samples are live."""
        return self._track_cursor.is_live

    @property
    def is_following(self) -> bool:
        """Whether the display follows the live samples."""
        return self.is_live and self._track_cursor.follows

    @property
    def moment(self) -> float | None:
        """The displayed moment, in seconds since 1970; None for the newest."""
        return self._track_cursor.moment

    @property
    def is_paused(self) -> bool:
        """Whether the operator paused the display."""
        return self._paused_at is not None

    @property
    def waiting(self) -> str:
        """The text while there are no samples."""
        if self.is_live:
            return "Waiting for the first samples."
        return "No samples were saved." if self._state.feed.is_saved else "There are no samples in this recording."

    @property
    def cluster(self) -> Cluster | None:
        """The facts of the sampled cluster."""
        return self._header.cluster if self._header else self._state.cluster

    @property
    def interval_s(self) -> float:
        """Seconds between two samples of a source."""
        return self._header.interval_s if self._header else self._state.feed.interval_s

    @property
    def step_s(self) -> float:
        """Seconds between two points of a graph."""
        return self._zoom or self.interval_s

    def read(self, places: KnownNodes, nodes: Sequence[str], points: int) -> TrackView | None:
        """Return the samples of these nodes, or of all where none is named. Reads a file where the track is a
        recording. Raises RecordingError where it cannot be read."""
        of_instances = 0.0 if self._header else self._state.feed.instances_interval_s
        return self._track_cursor.read(places, self.cluster, nodes, self.step_s, points, self.interval_s, of_instances)

    def axis(self, marks: Sequence[Mark] = ()) -> TimeAxis | None:
        """Return the time axis with these marks and those of the gaps; None while there is no sample."""
        if self.view is None:
            return None
        window = self.view.window
        return TimeAxis(window.stretch, with_gaps(marks, gap_marks(window)), self.is_following, self._zone)

    def marks(self) -> list[Mark]:
        """Return the marks of all gaps of the track. Reads a file where the track is a recording. Raises RecordingError
        where it cannot be read."""
        return [mark_of(gap) for gap in self._track_cursor.track.gap_begins()]

    # --- keys ---------------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play the recording from the displayed moment, or from its start where that is the end; or stop."""
        self.is_playing = not self.is_playing and self.view is not None
        if self.is_playing and self.view is not None and self._is_at_end(self.view):
            self.go_to_start()

    def faster(self, by: int) -> None:
        """Play at the next higher or lower speed."""
        place = SPEEDS.index(self.speed) + by
        self.speed = SPEEDS[min(max(place, 0), len(SPEEDS) - 1)]

    def advance(self, seconds: float) -> None:
        """Move on by that many seconds of playing; at the end, stop."""
        if self.view is None:
            return
        self._go_to(self.view.window.stretch.end + seconds * self.speed)
        self.is_playing = self._track_cursor.moment is not None and self._track_cursor.moment < self.view.span[1]

    def seek(self, text: str) -> str:
        """Go to the moment that the operator typed. Return what is wrong with the text; empty where nothing is."""
        if self.view is None:
            return "There are no samples to go to."
        first, last = self.view.span
        moment = moment_of(text, self.view.window.stretch.end, (first, last), self._zone)
        if moment is None:
            return f"'{text}' is no time: type {EXAMPLES}."
        self._go_to(moment)
        if first - self.step_s <= moment <= last + self.step_s:
            return ""
        return f"The samples are from {self._clock(first)} to {self._clock(last)}."

    def seek_mark(self, marks: Sequence[Mark], by: int) -> str:
        """Go to the next of these marks after the displayed moment, or before it. Return why there is none."""
        if self.view is None:
            return "There are no samples to go to."
        now = self.view.window.stretch.end
        there = [mark for mark in marks if (mark.at - now) * by > 0.5]
        if not there:
            return "There is no later mark." if by > 0 else "There is no earlier mark."
        mark = min(there, key=lambda mark: abs(mark.at - now))
        self._go_to(mark.at)
        return f"{mark.letter} {self._clock(mark.at if mark.since is None else mark.since)} {mark.text}"

    def _is_at_end(self, view: TrackView) -> bool:
        return view.window.stretch.end >= view.span[1] - 0.5

    def _clock(self, at: float) -> str:
        return clock(at, self._zone, has_zone=False)

    def pause(self) -> None:
        """Pause the display, or resume it."""
        if self.is_following and self.view is not None:
            self._paused_at = self.view.window.stretch.end
            self._track_cursor.hold(self._paused_at)
        else:
            self.follow()

    def follow(self) -> None:
        """Go to the newest sample and follow new ones."""
        self._paused_at, self._is_visit = None, False
        self._track_cursor.follow()

    def end_visit(self) -> None:
        """Follow new live samples again, where an event led to the displayed moment."""
        if self.is_live and self._is_visit:
            self.follow()

    def step(self, points: int) -> None:
        """Move by points of the graph; beyond the newest live sample, follow new ones."""
        if self.view is None:
            return
        to = self.view.window.stretch.end + points * self.step_s
        if self.is_live and (to > self.view.span[1] or (points > 0 and self.is_following)):
            self.follow()
        else:
            self._go_to(to)

    def go_to_start(self) -> None:
        """Go to the first moment of the track."""
        if self.view is not None:
            self._go_to(self.view.span[0])

    def stride(self, by: int) -> float | None:
        """Return the next longer or shorter time between two points, in seconds; None where there is none.

        A recording is then drawn with that time. For live samples the feed has to adopt it; several quick calls add
        up."""
        steps = INTERVALS if self._header is None else [self.interval_s, *(s for s in STEPS if s > self.interval_s)]
        before = self.step_s if self._wanted_s is None else self._wanted_s
        nearest = min(range(len(steps)), key=lambda i: abs(steps[i] - before))
        chosen = steps[min(max(nearest + by, 0), len(steps) - 1)]
        if chosen == before:
            return None
        if self._header is not None:
            self._zoom = chosen
        else:
            self._wanted_s = chosen
        return chosen

    def show_moment(self, at: float) -> str:
        """Go to a moment, also before anything was read. Return what is wrong; empty where nothing is."""
        self._paused_at, self._is_visit = None, True
        self._track_cursor.follow()  # what is held may be older
        track = self._track_cursor.track
        self._track_cursor.hold(at)
        if isinstance(track, Timeline) and not track.has(at - 3 * self.interval_s, at + self.interval_s):
            return f"The samples of {self._clock(at)} are no longer kept."
        return ""

    def _go_to(self, moment: float) -> None:
        """Go to a moment; not before every source has been sampled once."""
        if self.view is not None:
            self._paused_at = None
            first, last = self.view.span
            self._track_cursor.hold(min(max(moment, first + self.interval_s), last))

    # --- texts --------------------------------------------------------------------------------------------------------

    def about(self, name: str) -> str:
        """Return the text of the upper rule: the name of the view, and which time it covers."""
        if self._header is not None:
            state = f"playing {self.speed}x" if self.is_playing else "stopped"
            return f"{name}  {state}  {duration(self.step_s)}/point"
        if self._paused_at is not None:
            return f"{name}  paused{self._pause_length(self._paused_at)}"
        return f"{name}  every {duration(self.interval_s)}" if self.is_following else f"{name}  not live"

    def moments(self) -> Sequence[str]:
        """Return the displayed time after its name, the longest text first: `now` while new samples are followed, else
        `playhead`. That of a recording is in its own time zone, with the date and the zone where there is room."""
        if self.view is None:
            return [""]
        end, of_past = self.view.window.stretch.end, self._header is not None
        texts = [clock(end, self._zone, date=True), clock(end, self._zone)] if of_past else []
        name = "now" if self.is_following else "playhead"
        return [f"{name} {text}" for text in (*texts, clock(end, self._zone, has_zone=False))]

    def _pause_length(self, since: float) -> str:
        """Return how long the pause has lasted, in whole minutes, so that a paused screen does not change every
        second."""
        minutes = int(time.time() - since) // 60
        return f" for {minutes} min" if minutes else ""
